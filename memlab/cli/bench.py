"""``memlab bench``: measuring recall on data sets, and speed."""

import argparse
from typing import Any

from memlab.cli.stores import add_encoder, encoder_option
from memlab.store import DEFAULT_ENCODER

# The names in memlab.bench.speed_rows.ROWS, written here too so that a help text needn't load it.
SPEED_ROWS = ("dense", "hybrid", "filter", "batch", "open", "memory", "add", "memories", "add_many", "encode")


def add_commands(commands: Any) -> None:
    """Add the commands of this file.

    Parameters
    ----------
    commands : argparse subparsers
        Where to.
    """
    bench = commands.add_parser("bench", help="measure recall or speed", description="Measure recall or speed.")
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

    speed = sets.add_parser(
        "speed",
        help="memlab's speed, as ratios to raw work of the libraries below it",
        description="Measure speed, each figure as a ratio to a reference in the same run.",
    )
    speed.add_argument("-n", type=int, default=100_000, help="how many memories (default 100000)")
    speed.add_argument("--rows", nargs="+", metavar="NAME", help="only these: " + ", ".join(SPEED_ROWS))
    speed.add_argument("--picture", metavar="FILE", help="also draw the growth of each figure from 1,000 memories on")
    speed.add_argument("--json", metavar="FILE", help="also write the figures as JSON")
    speed.set_defaults(run=run_speed)


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


def run_speed(options: argparse.Namespace) -> int:
    """Measure speed.

    Parameters
    ----------
    options : argparse.Namespace
        The command line.

    Returns
    -------
    int
        0, also where a figure is above its limit; 1 where an answer was wrong.
    """
    from memlab.bench.speed import bench_speed

    found = bench_speed(options.n, json_path=options.json, picture=options.picture, rows=options.rows)
    return 1 if any(row["ratio"] is None for row in found["rows"]) else 0
