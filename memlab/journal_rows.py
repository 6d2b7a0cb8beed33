"""How changes and plain values stand in SQLite's columns."""

from collections.abc import Mapping
from typing import Any

from memlab.changes import Change
from memlab.values import dumps, loads


def to_sql(value: Any) -> Any:
    """Give a plain value as SQLite holds it: flags as 0 and 1, containers as JSON."""
    if isinstance(value, bool):
        return int(value)
    return dumps(value) if isinstance(value, dict | list) else value


def where_clause(change: Change, column: str) -> tuple[str, tuple[str | None, ...]]:
    """Say in SQL which row of its table a change is about."""
    if change.kind == "association":
        return "source=? AND relation=? AND target=?", (change.key, change.relation, change.other)
    return f"{column}=?", (change.key,)


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
