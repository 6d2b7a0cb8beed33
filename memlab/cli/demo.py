"""``memlab demo``: the main job from end to end, on the diary that comes with memlab."""

import argparse
from pathlib import Path
from typing import Any

from memlab.cli.stores import add_encoder, encoder_option
from memlab.store import MemoryStore

QUESTIONS = (
    "Why did the pH readings drift, and what did we do about it?",
    "Who manages the lab now?",
    "What happened at the rock pools in March 2024?",
)


def add_commands(commands: Any) -> None:
    """Add the command of this file.

    Parameters
    ----------
    commands : argparse subparsers
        Where to.
    """
    demo = commands.add_parser(
        "demo",
        help="build, associate, recall, measure and draw a small store",
        description="Build a store from memlab's diary, recall with reasons, measure, and draw its graph.",
    )
    demo.add_argument("--folder", default="memlab-demo", help="where its files go (default memlab-demo)")
    add_encoder(demo)
    demo.set_defaults(run=run_demo)


def run_demo(options: argparse.Namespace) -> int:
    """Run the demo.

    Parameters
    ----------
    options : argparse.Namespace
        The command line.

    Returns
    -------
    int
        0.
    """
    from memlab.bench.recall import bench_recall
    from memlab.benchmarks.load import load_benchmark
    from memlab.views.graph import view

    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    path, page, figures = folder / "diary.memlab", folder / "graph.html", folder / "recall.json"
    encoder = encoder_option(options.encoder)
    diary = load_benchmark("diary")

    print("1. A store from memlab's diary of a small research team")
    for part in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        part.unlink(missing_ok=True)  # the demo's own file of an earlier run
    with MemoryStore.open(path, encoder=encoder) as store:
        store.add_many(diary.memories)
        store.associate_many(diary.associations)
        print(f"   {store!r}\n")

        print("2. Recall, with the reasons of the first hit")
        for question in QUESTIONS:
            found = store.recall(question, k=3)
            print(f"{found}\n\nwhy {found.explain(1)}\n")

        print("3. Three methods, measured on the diary's own questions")
        bench_recall(diary, ("lexical", "dense", "hybrid"), store=store, json_path=figures)
        view(store, title="The diary of a small research team").to_html(page)

    print("\n4. The files")
    print(f"   {path}: the store; ask it: memlab recall {path} 'where is the spare logger?'")
    print(f"   {page}: the graph; open it in a browser")
    print(f"   {figures}: the figures of the table above")
    return 0
