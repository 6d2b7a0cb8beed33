"""``memlab recall`` and ``memlab check``: a store's file from the shell."""

import argparse
import json
from typing import Any

from memlab.encoders import Encoder
from memlab.recalls import Recall
from memlab.store import DEFAULT_ENCODER, MemoryStore


def add_commands(commands: Any) -> None:
    """Add the commands of this file.

    Parameters
    ----------
    commands : argparse subparsers
        Where to.
    """
    recall = commands.add_parser(
        "recall", help="ask a store's file", description="Recall memories from a store's file."
    )
    recall.add_argument("path", metavar="PATH", help="the store's file")
    recall.add_argument("query", metavar="QUERY", help="what to ask, in plain words")
    recall.add_argument("-k", type=int, default=10, help="how many hits at the most (default 10)")
    recall.add_argument("--method", default="default", help="lexical, dense, hybrid or default (default: default)")
    recall.add_argument("--space", action="append", help="a space to look in, '*' for all; may be given again")
    recall.add_argument("--tag", action="append", dest="tags", help="a tag that hits must have; may be given again")
    recall.add_argument("--where", help='conditions as JSON, such as \'{"type": "Decision"}\'')
    recall.add_argument("--time", help="a date phrase that bounds the event time, such as 'last 2 weeks'")
    recall.add_argument("--history", action="store_true", help="show superseded, expired and archived memories too")
    recall.add_argument("--explain", action="store_true", help="say why each hit is there")
    recall.add_argument("--json", action="store_true", help="print JSON")
    add_encoder(recall)
    recall.set_defaults(run=run_recall)

    check = commands.add_parser("check", help="prove that a store's file is sound", description="Check a store's file.")
    check.add_argument("path", metavar="PATH", help="the store's file")
    check.set_defaults(run=run_check)


def add_encoder(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses an encoder.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Where to.
    """
    parser.add_argument(
        "--encoder",
        default=DEFAULT_ENCODER,
        help="a sentence-transformers model's name or folder, 'hash', or 'none' for no dense recall "
        "(default: the one the file names, else all-MiniLM-L6-v2)",
    )


def encoder_option(value: str) -> Encoder | str | None:
    """Read the option of :func:`add_encoder`.

    Parameters
    ----------
    value : str
        As given.

    Returns
    -------
    Encoder, str or None
        As :class:`~memlab.store.MemoryStore` takes it.
    """
    if value == "none":
        return None
    if value == DEFAULT_ENCODER:
        return DEFAULT_ENCODER
    from memlab.encoder_choice import resolve_encoder

    return resolve_encoder(value)


def run_recall(options: argparse.Namespace) -> int:
    """Answer one query.

    Parameters
    ----------
    options : argparse.Namespace
        The command line.

    Returns
    -------
    int
        0, also where nothing was found.
    """
    from memlab.errors import FilterError

    try:
        where = json.loads(options.where) if options.where else None
    except ValueError as error:
        raise FilterError(f'--where isn\'t JSON ({error}); write it as \'{{"type": "Decision"}}\'') from error
    space = options.space[0] if options.space and len(options.space) == 1 else options.space
    with MemoryStore.open(options.path, encoder=encoder_option(options.encoder), read_only=True) as store:
        found = store.recall(
            options.query,
            k=options.k,
            method=options.method,
            space=space,
            tags=options.tags,
            where=where,
            time=options.time,
            state="history" if options.history else "current",
            actor="shell",
        )
    print(json.dumps(as_json(found), ensure_ascii=False, indent=2) if options.json else found)
    if options.explain and not options.json:
        for hit in found:
            print(f"\n{found.explain(hit.rank)}")
    return 0


def as_json(found: Recall) -> dict[str, Any]:
    """Give a recall as JSON.

    Parameters
    ----------
    found : Recall
        The recall.

    Returns
    -------
    dict
        The query, the method and the hits with their scores and evidence.
    """
    hits = [
        {
            "rank": hit.rank,
            "memory_id": hit.memory_id,
            "score": hit.score,
            "relevance": hit.relevance,
            "space": hit.memory.space,
            "content": hit.memory.content,
            "parts": {name: {"score": part.score, "share": part.share} for name, part in hit.parts.items()},
            "path": [str(step) for step in hit.path],
        }
        for hit in found
    ]
    return {"query": found.query, "method": found.method, "candidates": found.candidates, "hits": hits}


def run_check(options: argparse.Namespace) -> int:
    """Check one file, without loading a model.

    Parameters
    ----------
    options : argparse.Namespace
        The command line.

    Returns
    -------
    int
        0 for a sound store, 1 for another.
    """
    with MemoryStore.open(options.path, encoder=None, read_only=True) as store:
        found = store.check()
    print(found)
    return 0 if found.ok else 1
