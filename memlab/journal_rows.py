"""How changes and plain values stand in SQLite's columns."""

from collections.abc import Mapping
from typing import Any

from memlab.changes import Change
from memlab.errors import CorruptStore
from memlab.journal_schema import FLAG_COLUMNS, JSON_COLUMNS
from memlab.values import dumps, loads


def to_sql(column: str, value: Any) -> Any:
    """Give a plain value as SQLite holds it: containers as JSON; flags are 0 and 1 by themselves."""
    return dumps(value) if column in JSON_COLUMNS else value


def plain(row: dict[str, Any], path: str, table: str) -> dict[str, Any]:
    """Give a row of SQLite's as plain values, in place; path and table are for the message."""
    try:
        for name in JSON_COLUMNS & row.keys():
            row[name] = loads(row[name])
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


def log_values(change: Change) -> tuple[Any, ...]:
    """Give a change as the values of a row of the log."""
    head = (change.seq, change.change, change.time, change.actor, change.verb, change.kind)
    return (*head, change.key, change.relation, change.other, _json(change.before), _json(change.after))


def from_log(row: tuple[Any, ...]) -> Change:
    """Make a change of a row of the log: the inverse of :func:`log_values`."""
    seq, number, time, actor, verb, kind, key, relation, other, before, after = row
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
