"""``memlab bench``: measuring recall on data sets."""

import argparse
from typing import Any

from memlab.cli.stores import add_encoder, encoder_option
from memlab.store import DEFAULT_ENCODER


def add_commands(commands: Any) -> None:
    """Add the commands of this file.

    Parameters
    ----------
    commands : argparse subparsers
        Where to.
    """
    bench = commands.add_parser("bench", help="measure recall on a data set", description="Measure recall.")
    sets = bench.add_subparsers(dest="benchmark", required=True, metavar="BENCHMARK")

    locomo = sets.add_parser("locomo", help="conversations of LoCoMo", description="Measure recall on LoCoMo.")
    locomo.add_argument("--path", required=True, help="its native file, such as locomo10.json")
    locomo.add_argument("--level", choices=("turn", "session"), default="turn", help="what is judged (default turn)")
    locomo.add_argument("--audit", help="a file of audited corrections of its answer key")
    _add_common(locomo)

    diary = sets.add_parser("diary", help="memlab's own diary", description="Measure recall on memlab's diary.")
    _add_common(diary)

    synthetic = sets.add_parser("synthetic", help="a made store", description="Measure recall on a synthetic store.")
    synthetic.add_argument("-n", type=int, default=1000, help="how many memories (default 1000)")
    synthetic.add_argument("--seed", type=int, default=0, help="which one (default 0)")
    _add_common(synthetic)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--methods", nargs="+", default=None, help="lexical, dense, hybrid, default (default: all four)"
    )
    parser.add_argument("--json", metavar="FILE", help="also write the figures as JSON")
    add_encoder(parser)
    parser.set_defaults(run=run_bench)


def run_bench(options: argparse.Namespace) -> int:
    """Measure methods on one benchmark.

    Parameters
    ----------
    options : argparse.Namespace
        The command line.

    Returns
    -------
    int
        0.
    """
    from memlab.bench.recall import METHODS, bench_recall
    from memlab.benchmarks.load import load_benchmark

    chosen = {
        "locomo": ("path", "level", "audit"),
        "synthetic": ("n", "seed"),
    }.get(options.benchmark, ())
    given = {name: getattr(options, name) for name in chosen if getattr(options, name) is not None}
    benchmark = load_benchmark(options.benchmark, **given)
    encoder = encoder_option(options.encoder)
    bench_recall(
        benchmark,
        options.methods or METHODS,
        encoder=None if encoder == DEFAULT_ENCODER else encoder,
        json_path=options.json,
    )
    return 0
