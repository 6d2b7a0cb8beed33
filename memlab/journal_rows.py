"""How changes and plain values stand in SQLite's columns."""

import zlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from memlab.changes import Change
from memlab.errors import CorruptStore
from memlab.journal_schema import FLAG_COLUMNS, JSON_COLUMNS, REAL_COLUMNS
from memlab.values import dumps, loads

# Most rows have no tags, aliases or metadata: these needn't be read as JSON.
_EMPTY: dict[Any, type] = {"[]": list, "{}": dict}


@cache
def _form(count: int) -> str:
    return "\x1f".join(["%s"] * count)


def checksum(values: tuple[Any, ...]) -> int:
    """Give the crc32 of a row's values, as SQLite holds them."""
    return zlib.crc32((_form(len(values)) % values).encode())


def _json_text(value: Any) -> str:
    if not value and isinstance(value, dict | list):
        return "{}" if isinstance(value, dict) else "[]"
    return dumps(value)


def _real(value: Any) -> float:
    return float(value) + 0.0  # SQLite has no negative zero


# By column, what makes a plain value exactly what SQLite holds and gives back; others are so by themselves.
TO_SQL: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(JSON_COLUMNS, _json_text),
    **dict.fromkeys(REAL_COLUMNS, _real),
    **dict.fromkeys(FLAG_COLUMNS, int),
}


def to_sql(column: str, value: Any) -> Any:
    """Give a plain value as SQLite holds it: containers are JSON, flags 0 and 1."""
    return TO_SQL[column](value) if column in TO_SQL else value


def plain(row: dict[str, Any], path: str, table: str) -> dict[str, Any]:
    """Give a row of SQLite's as plain values, in place; path and table are for the message."""
    try:
        for name in JSON_COLUMNS & row.keys():
            empty = _EMPTY.get(row[name])
            row[name] = empty() if empty else loads(row[name])
        for name in FLAG_COLUMNS & row.keys():
            row[name] = {0: False, 1: True}[row[name]]
    except (ValueError, TypeError, KeyError) as error:
        raise CorruptStore(
            f"{path}: the row {next(iter(row.values()))!r} of {table} is damaged ({error}); nothing was changed, "
            "the others are readable. Restore it from a backup"
        ) from error
    return row


def where_clause(kind: str, column: str) -> str:
    """Say in SQL how a row of its table is found, with a question mark for each part of its key."""
    return "source=? AND relation=? AND target=?" if kind == "association" else f"{column}=?"


def key_of(change: Change) -> tuple[str | None, ...]:
    """Give the values for the question marks of :func:`where_clause`."""
    return (change.key, change.relation, change.other) if change.kind == "association" else (change.key,)


def _json(row: Mapping[str, Any] | None) -> str | None:
    return None if row is None else dumps(row)


def log_values(change: Change, totals: str | None = None) -> tuple[Any, ...]:
    """Give a change as the values of a row of the log, with its checksum and the totals after it, if known."""
    head = (change.seq, change.change, change.time, change.actor, change.verb, change.kind)
    values = (*head, change.key, change.relation, change.other, _json(change.before), _json(change.after))
    return (*values, checksum(values), totals)


def from_log(row: tuple[Any, ...], path: str) -> Change:
    """Make a change of a row of the log: the inverse of :func:`log_values`; path is for the message."""
    *values, kept = row
    seq, number, time, actor, verb, kind, key, relation, other, before, after = values
    if checksum(tuple(values)) != kept:
        raise CorruptStore(
            f"{path}: row {seq} of the log is damaged, not as it was written; nothing was changed, and the memories "
            "of now don't depend on it. Keep the file, and open a backup for the past"
        )
    return Change(
        verb=verb,
        kind=kind,
        key=key,
        relation=relation,
        other=other,
        before=None if before is None else loads(before),
        after=None if after is None else loads(after),
        actor=actor,
        seq=seq,
        change=number,
        time=time,
    )
