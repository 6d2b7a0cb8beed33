"""What a view reads: two frames, one of memories and one of associations, whatever it was given.

A view only looks. The frames are filtered copies, and each value that goes on is turned into plain Python, as
text or a number, so that no numpy scalar, NaN, enum or path reaches a page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import pandas as pd

from memlab.records import ASSOCIATION_FIELDS, DEFAULT_SPACE, FIELDS
from memlab.vocabulary import RELATIONS, Relation


@runtime_checkable
class StoreLike(Protocol):
    """Anything with a frame of memories and a frame of associations."""

    @property
    def memories(self) -> pd.DataFrame:
        """One row a memory, the columns being those of `memlab.records.Memory`."""

    @property
    def associations(self) -> pd.DataFrame:
        """One row an association: source, relation, target, strength and more."""


@runtime_checkable
class RecallLike(Protocol):
    """Anything with ranked hits."""

    @property
    def hits(self) -> Sequence[Any]:
        """Hits with a rank, a memory and the path that led to it."""


Source: TypeAlias = StoreLike | RecallLike | pd.DataFrame | tuple[pd.DataFrame, pd.DataFrame]


@dataclass(frozen=True, slots=True)
class Tables:
    """The two frames to draw from, and what the reader should know of them.

    Parameters
    ----------
    memories : DataFrame
        At least ``memory_id`` and ``content``, both text, ids unique; most important first, ties by id.
    associations : DataFrame
        ``source``, ``relation``, ``target`` as text, ``strength`` as a number or NaN.
    ranks : mapping of str to int
        The rank of each memory in a recall; empty for other sources.
    title : str
        What the source is, in a few words.
    notes : tuple of str
        Sentences, such as where else there are memories.
    relations : mapping of str to Relation
        How each relation is drawn: the vocabulary's, and those that a store's users registered.
    """

    memories: pd.DataFrame
    associations: pd.DataFrame
    ranks: Mapping[str, int]
    title: str
    notes: tuple[str, ...] = ()
    relations: Mapping[str, Relation] = field(default_factory=lambda: RELATIONS)


def tables(source: Source, space: str | Sequence[str] | None) -> Tables:
    """Read a source.

    Parameters
    ----------
    source : MemoryStore, Recall, DataFrame of memories, or pair of DataFrames
        What to draw.
    space : str, sequence of str or None
        The spaces to look in, ``"*"`` for all. None means the default space for a store, and whatever is there
        for a recall or frames, which somebody chose already.

    Returns
    -------
    Tables
        Copies; the source isn't touched.

    Raises
    ------
    TypeError
        If the source is none of these.
    ValueError
        If a frame lacks a column that is needed, or two memories have one id.
    """
    if isinstance(source, pd.DataFrame):
        return _of_frames(source, pd.DataFrame(columns=["source", "relation", "target"]), space, "Memories")
    if isinstance(source, RecallLike):
        return _of_recall(source, space)
    if isinstance(source, StoreLike):
        wanted = DEFAULT_SPACE if space is None else space
        found = _of_frames(source.memories, source.associations, wanted, "Memory graph")
        return replace(found, relations=getattr(source, "relations", RELATIONS))
    if isinstance(source, tuple) and [isinstance(part, pd.DataFrame) for part in source] == [True, True]:
        return _of_frames(*source, space, "Memory graph")
    raise TypeError(
        f"can't draw a {type(source).__name__}: give a MemoryStore, a Recall, a DataFrame of memories, "
        "or a pair (memories, associations) of DataFrames"
    )


def _of_recall(recall: RecallLike, space: str | Sequence[str] | None) -> Tables:
    """The hits of a recall, most relevant first, with the associations on their paths."""
    hits = sorted(recall.hits, key=lambda hit: hit.rank)
    memories = pd.DataFrame([[getattr(hit.memory, name) for name in FIELDS] for hit in hits], columns=list(FIELDS))
    steps = {(s.source, s.relation, s.target): None for hit in hits for s in hit.path}
    associations = pd.DataFrame(list(steps), columns=["source", "relation", "target"])
    found = _of_frames(memories, associations, space, f"Recall: {getattr(recall, 'query', '')}")
    ranks = {hit.memory.memory_id: int(hit.rank) for hit in hits}
    order = found.memories["memory_id"].map(ranks).argsort(kind="stable")
    return Tables(found.memories.iloc[order], found.associations, ranks, found.title, found.notes)


def _of_frames(
    memories: pd.DataFrame, associations: pd.DataFrame, space: str | Sequence[str] | None, title: str
) -> Tables:
    """Frames with the columns a view needs, cut to the spaces, sorted by importance."""
    memories = _with_texts(memories, ("memory_id", "content"), "memories")
    associations = _with_texts(associations, ASSOCIATION_FIELDS[:3], "associations")
    twice = memories["memory_id"][memories["memory_id"].duplicated()]
    if len(twice):
        raise ValueError(f"the frame of memories has the id {twice.iloc[0]!r} twice; ids name one memory each")
    memories, notes = _within(memories, space)
    memories = memories.assign(importance=_numbers(memories, "importance"))
    associations = associations.assign(strength=_numbers(associations, "strength"))
    if "space" in memories.columns:
        homes = memories.set_index("memory_id")["space"]
        ends = [associations[end].map(homes).fillna("").astype(str) for end in ("source", "target")]
        # A space is a wall: an association that crosses one isn't drawn.
        associations = associations[(ends[0] == ends[1]) | (ends[0] == "") | (ends[1] == "")]
    ordered = memories.sort_values(["importance", "memory_id"], ascending=[False, True], kind="stable")
    return Tables(ordered.reset_index(drop=True), associations.reset_index(drop=True), {}, title, notes)


def _with_texts(frame: pd.DataFrame, columns: Sequence[str], what: str) -> pd.DataFrame:
    """A copy of the frame whose named columns are text."""
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise ValueError(
            f"the frame of {what} has the columns {', '.join(map(str, frame.columns)) or 'of nothing'}; "
            f"a view needs {', '.join(columns)}"
        )
    return frame.assign(**{name: [plain_text(value) for value in frame[name]] for name in columns})


def _within(memories: pd.DataFrame, space: str | Sequence[str] | None) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The memories of the wanted spaces, and a sentence if they hold none while others do."""
    if space is None or space == "*":
        return memories, ()
    if "space" not in memories.columns:
        raise ValueError(f"space is {space!r}, yet the frame of memories has no column 'space'; leave it out")
    wanted = [space] if isinstance(space, str) else list(space)
    found = memories[memories["space"].isin(wanted)]
    if len(found) or not len(memories):
        return found, ()
    held = memories["space"].value_counts()
    others = ", ".join(f"{name} ({count:,})" for name, count in held.items())
    return found, (f"No memories in the space {', '.join(wanted)}; other spaces hold some: {others}.",)


def _numbers(frame: pd.DataFrame, column: str) -> pd.Series:
    """A column as floats, NaN where there is no finite number."""
    if column not in frame.columns:
        return pd.Series(np.nan, index=frame.index, dtype="float64")
    values = pd.to_numeric(frame[column], errors="coerce").astype("float64")
    return values.where(np.isfinite(values))


def missing(value: object) -> bool:
    """Tell whether a frame's cell holds nothing.

    Parameters
    ----------
    value : object
        A cell.

    Returns
    -------
    bool
        True for None, NaN, NaT, NA and empty containers.
    """
    if value is None or value is pd.NaT or value is pd.NA:
        return True
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return not isinstance(value, str) and hasattr(value, "__len__") and len(value) == 0


def plain_text(value: object) -> str:
    """Turn a frame's cell into text.

    Parameters
    ----------
    value : object
        A cell of any type.

    Returns
    -------
    str
        Text as it is, times to the minute with their zone, lists joined by commas, nothing as "".

    Examples
    --------
    >>> plain_text(pd.Timestamp("2024-05-20 08:00", tz="UTC")), plain_text(["a", 1]), plain_text(np.float64("nan"))
    ('2024-05-20 08:00 UTC', 'a, 1', '')
    """
    if missing(value):
        return ""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M} {value.tzname() or ''}".rstrip()
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {plain_text(item)}" for key, item in value.items())
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        items = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return ", ".join(map(plain_text, items))
    return str(value)
