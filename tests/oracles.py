"""Slow, obvious twins of the nouns and the parts: written from the docs, one memory at a time."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from memlab.records import Association, Memory

FIELDS = (
    *("memory_id", "content", "space", "type", "tags", "importance", "confidence", "metadata", "role", "session_id"),
    *("sequence", "content_type", "source", "happened_at", "created_at", "updated_at", "valid_from", "valid_until"),
    *("archived", "protected", "access_count", "accessed_at", "aliases"),
)
TIMES = ("happened_at", "created_at", "updated_at", "valid_from", "valid_until", "accessed_at")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def same(a: Any, b: Any) -> bool:
    """Whether two JSON values are the same, types included: True isn't 1, and 1 isn't 1.0."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    kinds = [next(kind for kind in (bool, int, float, str, type(None), object) if isinstance(v, kind)) for v in (a, b)]
    return kinds[0] is kinds[1] and repr(a) == repr(b)


# ---- where ----


def fits(memory: Memory, where: Mapping[str, Any]) -> bool:
    """Whether a memory fits a `where` filter."""
    return all(_entry(memory, name, condition) for name, condition in where.items())


def _entry(memory: Memory, name: str, condition: Any) -> bool:
    if name == "and":
        return all(fits(memory, member) for member in condition)
    if name == "or":
        return any(fits(memory, member) for member in condition)
    if name == "not":
        return not fits(memory, condition)
    if not isinstance(condition, Mapping):
        condition = {"eq": condition}
    if name == "tags" and "contains" in condition:
        return tagged(memory.tags, [condition["contains"]], "any", "exact")
    found = _find(memory, name)
    return all(_condition(found, operator, operand) for operator, operand in condition.items())


def _find(memory: Memory, name: str) -> Any:
    """The value a name stands for; None where there is none, since None is as good as none."""
    keys = name.split(".")
    if keys[0] in FIELDS and keys[0] != "metadata":
        return getattr(memory, name)
    value: Any = memory.metadata
    for key in keys[1:] if keys[0] == "metadata" else keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _condition(found: Any, operator: str, operand: Any) -> bool:
    if operator == "exists":
        return (found is not None) == operand
    if operator in ("ne", "nin"):
        return not _condition(found, {"ne": "eq", "nin": "in"}[operator], operand)
    if found is None:
        return False
    if operator == "in":
        return any(equals(found, item) for item in operand)
    if operator == "contains":
        return _holds(found, operand)
    if operator == "eq":
        return equals(found, operand)
    if kind(found) != kind(operand) or kind(found) not in ("number", "text", "time"):
        return False
    return bool(
        {"lt": found < operand, "le": found <= operand, "gt": found > operand, "ge": found >= operand}[operator]
    )


def _holds(found: Any, operand: Any) -> bool:
    if kind(found) == "text":
        return kind(operand) == "text" and folded(operand) in folded(found)
    return kind(found) == "list" and any(equals(item, operand) for item in found)


def kind(value: Any) -> str:
    """What sort of value it is, in the words of the docs."""
    if value is None or isinstance(value, bool):
        return "none" if value is None else "flag"
    kinds = {int | float: "number", str: "text", datetime: "time", list | tuple: "list", Mapping: "object"}
    return next(name for classes, name in kinds.items() if isinstance(value, classes))


def equals(a: Any, b: Any) -> bool:
    """Whether two values are equal: 1 is 1.0, True isn't 1."""
    if kind(a) != kind(b):
        return False
    if kind(a) == "list":
        return len(a) == len(b) and all(equals(x, y) for x, y in zip(a, b, strict=True))
    if kind(a) == "object":
        return set(a) == set(b) and all(equals(a[key], b[key]) for key in a)
    return bool(a == b)


def folded(text: str) -> str:
    """A text without letter case and composition."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


# ---- tags ----


def tagged(tags: Iterable[str], wanted: Sequence[str], mode: str, match: str, unwanted: Sequence[str] = ()) -> bool:
    """Whether tags fit: `/` is `:`, letter case doesn't count, space around a tag neither."""

    def plain(tag: str) -> str:
        return folded(tag).strip().replace("/", ":")

    def has(want: str) -> bool:
        mine = [plain(tag) for tag in tags]
        return any(tag == plain(want) or (match == "prefix" and tag.startswith(plain(want))) for tag in mine)

    tags = list(tags)
    if any(has(tag) for tag in unwanted):
        return False
    return not wanted or (all if mode == "all" else any)(has(tag) for tag in wanted)


# ---- table ----


def micros(moment: datetime) -> int:
    """Whole microseconds since 1970."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def neighbours(memories: Iterable[Memory]) -> dict[str, tuple[str | None, str | None]]:
    """Each memory's turns before and after it; given in the order they came, the newest of a place stands for it."""
    places: dict[tuple[str, str, int], str] = {}
    memories = [m for m in memories if m.session_id is not None and m.sequence is not None]
    for m in memories:
        places[m.space, str(m.session_id), int(m.sequence or 0)] = m.memory_id
    found: dict[str, tuple[str | None, str | None]] = {}
    for (space, session, sequence), memory_id in places.items():
        before, after = places.get((space, session, sequence - 1)), places.get((space, session, sequence + 1))
        found[memory_id] = (before, after)
    return found


# ---- index ----


def cosines(query: np.ndarray, windows: Mapping[int, np.ndarray], size: int) -> np.ndarray:
    """The best cosine of each slot's windows with a query; NaN without evidence."""
    out = np.full(size, np.nan)
    for slot, rows in windows.items():
        found = [float(np.dot(row.astype(float), query.astype(float))) for row in rows if row.any()]
        if found and query.any():
            out[slot] = max(found)
    return out


# ---- graph ----


def reached(
    edges: Sequence[Association], start: str, relations: Sequence[str] | None, way: str, hops: int
) -> dict[str, int]:
    """The distance of everything that a walk of so many hops can reach, by looking at every edge at every hop."""
    far = {start: 0}
    for distance in range(1, hops + 1):
        for edge in edges:
            if relations is not None and edge.relation not in relations:
                continue
            if way in ("out", "both") and far.get(edge.source) == distance - 1:
                far.setdefault(edge.target, distance)
            if way in ("in", "both") and far.get(edge.target) == distance - 1:
                far.setdefault(edge.source, distance)
    return {memory_id: distance for memory_id, distance in far.items() if memory_id != start}
