"""memlab's own sets: small folders of plain files that come with the package and load by name.

=================  =====================================================================================
file               holds
=================  =====================================================================================
memories.jsonl     one memory a line: the arguments of ``store.add``, ``memory_id`` and ``content`` at least
associations.jsonl one association a line: source, relation, target, strength, properties
queries.jsonl      one query a line: query_id, text, kind, and where needed now, space, note, answerable
qrels.tsv          tab-separated, with the header query_id, memory_id, grade, note
=================  =====================================================================================

Times are ISO 8601 with a zone. ``kind`` becomes a slice; queries of the kind ``unanswerable`` have no answer,
others have to have one, and an ``answerable`` of true or false says so for any kind.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from memlab.benchmarks.files import of_kind, read_jsonl, read_text, read_tsv, take
from memlab.errors import DatasetError
from memlab.trials import Benchmark, Qrels, Query

PACKAGE = Path(__file__).resolve().parents[1]
QRELS = ("query_id", "memory_id", "grade", "note")
QUERY_KEYS = {"query_id", "text", "kind", "now", "space", "note", "answerable"}
UNANSWERABLE = "unanswerable"


def own_folder() -> Path:
    """Return the folder that holds memlab's own sets, one folder each.

    Returns
    -------
    Path
        Inside the installed package or, in a checkout, beside it.
    """
    inside = PACKAGE / "datasets"
    return inside if inside.is_dir() else PACKAGE.parent / "datasets"


def own_names() -> list[str]:
    """List memlab's own sets.

    Returns
    -------
    list of str
        Their names, sorted.
    """
    return sorted(path.parent.name for path in own_folder().glob("*/memories.jsonl"))


def load_own(name: str, path: str | Path | None = None) -> Benchmark:
    """Read a set in memlab's own form.

    Parameters
    ----------
    name : str
        What the benchmark is called, and the folder's name among memlab's own sets.
    path : str or Path, optional
        Another folder with the same files.

    Returns
    -------
    Benchmark
        Level ``"memory"``. A memory that no line of the qrels names isn't relevant.

    Raises
    ------
    DatasetError
        If there is no such set, or a file isn't as described; the message says where.
    """
    folder = own_folder() / name if path is None else Path(path)
    if path is None and name not in own_names():
        raise DatasetError(f"memlab has no set called {name!r}; it has {', '.join(own_names()) or 'none'}")
    queries = [_query(item, place) for place, item in read_jsonl(folder / "queries.jsonl")]
    qrels = _read_qrels(folder / "qrels.tsv")
    for query in queries:
        judged = any(grade > 0 for grade in qrels.get(query.query_id, {}).values())
        if judged != query.answerable:
            raise DatasetError(
                f"query {query.query_id!r} is {'' if query.answerable else 'not '}answerable, but qrels.tsv has "
                f"{'a' if judged else 'no'} relevant memory for it; mend the one or the other"
            )
    description, licence = _about(folder / "README.md")
    return Benchmark(
        name=name,
        level="memory",
        memories=[item for _, item in read_jsonl(folder / "memories.jsonl")],
        associations=[item for _, item in read_jsonl(folder / "associations.jsonl")],
        queries=queries,
        qrels=Qrels(qrels),
        licence=licence,
        description=description,
    )


def _query(item: Mapping[str, Any], place: str) -> Query:
    if odd := sorted(set(item) - QUERY_KEYS):
        raise DatasetError(f"{place} has {odd[0]!r}; a query has {', '.join(sorted(QUERY_KEYS))}")
    kind = take(item, "kind", str, place)
    answerable = of_kind(item.get("answerable", kind != UNANSWERABLE), bool, f"{place}.answerable")
    return Query(
        query_id=take(item, "query_id", str, place),
        text=take(item, "text", str, place),
        space=None if item.get("space") is None else take(item, "space", str, place),
        slices={"kind": kind},
        now=None if item.get("now") is None else _time(take(item, "now", str, place), f"{place}.now"),
        answerable=answerable,
        note=of_kind(item.get("note", ""), str, f"{place}.note"),
    )


def _time(text: str, place: str) -> datetime:
    try:
        when = datetime.fromisoformat(text)
    except ValueError as error:
        raise DatasetError(f"{place} is {text!r}; expected a time such as 2024-05-20T09:00+02:00") from error
    if when.tzinfo is None:
        raise DatasetError(f"{place} is {text!r}, without a zone; add one, such as +00:00")
    return when


def _read_qrels(path: Path) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    for place, (query_id, memory_id, grade, _) in read_tsv(path, QRELS):
        # Not isdecimal alone: digits of other scripts are decimal too.
        if not (grade.isascii() and grade.isdecimal()):
            raise DatasetError(f"{place} has the grade {grade!r}; expected a whole number from 0 up")
        judged = grades.setdefault(query_id, {})
        if memory_id in judged:
            raise DatasetError(f"{place} grades {memory_id!r} for {query_id!r} a second time; keep one line")
        judged[memory_id] = int(grade)
    return grades


def _about(readme: Path) -> tuple[str, str]:
    """The first line of a set's README, and what its line "Licence: …" says: a link's text, or all of it."""
    lines = read_text(readme).splitlines() if readme.is_file() else []
    stated = next((line.partition(":")[2].strip() for line in lines if line.startswith("Licence:")), "")
    link = re.match(r"\[(.+?)\]\(", stated)
    title = next((line.lstrip("# ") for line in lines if line.strip()), "")
    return title, link[1] if link else stated
