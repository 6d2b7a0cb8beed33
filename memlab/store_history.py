"""The past of a store: its log, earlier states, and taking changes back."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from memlab.changes import Change
from memlab.errors import InvalidArgument, UndoConflict, UnknownChange, UnknownMemory
from memlab.records import Association, Memory, association_from, association_row, memory_from
from memlab.snapshots import Diff
from memlab.store_recall import Recalling
from memlab.times import to_micros, utc
from memlab.values import dumps, freeze

LOG_FRAME = ("seq", "change", "time", "actor", "verb", "kind", "key", "relation", "other", "before", "after")
UNDOABLE = ("memory", "association", "space", "relation")


class Remembering(Recalling):
    """The verbs on the change log."""

    def log(self, *, actor: str | None = None, since: Any = None) -> pd.DataFrame:
        """Give the change log, oldest first.

        Parameters
        ----------
        actor : str, optional
            Only what this one did.
        since : datetime, str or int, optional
            Only what was written at this time or later; an int is a place in the log.

        Returns
        -------
        DataFrame
            One row for each thing changed: ``seq`` (its place), ``change`` (the number of the call it was part
            of, for :meth:`undo`), ``time``, ``actor``, ``verb``, ``kind``, ``key``, ``relation``, ``other``, and
            the fields that changed, ``before`` and ``after``.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> _ = store.add("Tea.")
        >>> store.log()[["verb", "kind"]].values.tolist()
        [['add', 'space'], ['add', 'memory']]
        """
        with self._reading():
            clauses, values = self._log_filter(actor, since)
            return _log_frame(self._journal.changes(clauses, values))

    def _log_filter(self, actor: str | None, since: Any) -> tuple[str, list[Any]]:
        clauses: list[str] = ["1"]
        values: list[Any] = []
        if actor is not None:
            clauses.append("actor=?")
            values.append(actor)
        if isinstance(since, int) and not isinstance(since, bool):
            clauses.append("seq>=?")
            values.append(since)
        elif since is not None:
            clauses.append("time>=?")
            values.append(to_micros(utc(since, self._zone, "since")))
        return " AND ".join(clauses), values

    def history(self, memory_id: str) -> pd.DataFrame:
        """Give all that happened to one memory and its associations, oldest first.

        Parameters
        ----------
        memory_id : str
            A memory of the store, or one that was deleted.

        Returns
        -------
        DataFrame
            Rows of :meth:`log`.

        Raises
        ------
        UnknownMemory
            If the id was never seen.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> tea = store.add("Tea.")
        >>> _ = store.update(tea, importance=0.9)
        >>> store.history(tea)["verb"].tolist()
        ['add', 'update']
        """
        with self._reading():
            changes = self._journal.changes("key=? OR other=?", (memory_id, memory_id))
        if not changes:
            raise UnknownMemory(f"no memory has or had the id {memory_id!r}")
        return _log_frame(changes)

    def _state_at(self, when: Any) -> tuple[dict[str, Memory], dict[tuple[str, str, str], Association]]:
        """Wind the memories and associations of now back to a time, or to a place in the log."""
        memories = {m.memory_id: self._row(m.memory_id) for m in self._table}
        edges = {a.triple: association_row(a) for a in self._graph}
        names = dict(self._names)
        clause, bound = "time>?", when
        if isinstance(when, int) and not isinstance(when, bool):
            clause = "seq>?"
        else:
            bound = to_micros(utc(when, self._zone, "when"))
        for change in self._journal.changes(clause, (bound,), newest_first=True):
            if change.kind == "space" and change.before is not None and "name" in change.before:
                names[change.key] = change.before["name"]
            if change.kind == "memory":
                _wind_back(memories, change.key, change)
            elif change.kind == "association":
                _wind_back(edges, (change.key, change.relation or "", change.other or ""), change)
        made = {k: memory_from({**row, "space": names[row["space"]]}) for k, row in memories.items()}
        return made, {k: association_from(row) for k, row in edges.items()}

    def diff(self, a: Any, b: Any = None) -> Diff:
        """Compare two states of the store.

        Parameters
        ----------
        a : datetime, str or int
            The earlier: a time, or a place in the log (``seq``).
        b : datetime, str or int, optional
            The later; by default now.

        Returns
        -------
        Diff
            What the later has and the earlier hasn't, and the other way round.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> _ = store.add("Tea.")
        >>> store.diff(0)
        Diff(1 added, 0 removed, 0 changed, 0 associated, 0 dissociated)
        """
        with self._reading():
            old, old_edges = self._state_at(a)
            new, new_edges = self._state_at(self._applied if b is None else b)
        both = [(old[key], new[key]) for key in new if key in old]
        return Diff(
            added=tuple(m for key, m in new.items() if key not in old),
            removed=tuple(m for key, m in old.items() if key not in new),
            changed=tuple(pair for pair in both if pair[0] != pair[1]),
            associated=tuple(a for key, a in new_edges.items() if old_edges.get(key) != a),
            dissociated=tuple(a for key, a in old_edges.items() if new_edges.get(key) != a),
        )

    def undo(
        self, change: int | None = None, *, actor: str | None = None, since: Any = None, by: str = "user"
    ) -> list[int]:
        """Take back what one call wrote, or what an actor wrote since a time.

        Undoing is itself a change, and can be undone. What was forgotten can't come back.

        Parameters
        ----------
        change : int, optional
            The number of the call, from :meth:`log`.
        actor, since : optional
            Instead of `change`: who, and from which time (or place in the log) on; by default everything of
            that actor.
        by : str, default "user"
            Who undoes, for the log.

        Returns
        -------
        list of int
            The numbers of the calls taken back, newest first.

        Raises
        ------
        InvalidArgument
            If neither `change` nor `actor` or `since` is given, or both are.
        UnknownChange
            If the log has no such call.
        UndoConflict
            If something else changed the same fields later; nothing is undone.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> _ = store.add("Wrong.", actor="agent")
        >>> len(store.undo(actor="agent")), len(store)
        (1, 0)
        """
        if (change is None) == (actor is None and since is None):
            raise InvalidArgument("say what to undo: a change's number, or actor= and since=")
        undone: list[int] = []

        def plan() -> list[Change]:
            clause, values = ("change=?", [change]) if change is not None else self._log_filter(actor, since)
            rows = self._journal.changes(f"{clause} AND verb NOT IN ('forget', 'encode')", values, newest_first=True)
            if not rows and change is not None:
                raise UnknownChange(f"the log has no change {change!r} that can be undone; see store.log()")
            undone[:] = dict.fromkeys(row.change for row in rows)
            return self._inverses([row for row in rows if row.kind in UNDOABLE])

        self._commit(plan, actor=by)
        return undone

    def _inverses(self, rows: Iterable[Change]) -> list[Change]:
        """Give the changes that take rows back, newest first, checked against the state as it will be by then."""
        state: dict[tuple[str, ...], dict[str, Any] | None] = {}
        inverses = []
        for row in rows:
            present = state[row.identity] if row.identity in state else self._present(row)
            expected = row.after
            if not _stands(present, expected):
                raise UndoConflict(
                    f"change {row.change} ({row.verb} {row.key!r}) can't be undone: it was changed again since. "
                    "Undo the later changes first (store.history shows them)"
                )
            if row.before is None:
                state[row.identity] = None
            else:
                state[row.identity] = {**(present or {}), **row.before}
            inverses.append(row.inverse)
        self._check_ends(inverses, state)
        return [change for change in inverses if not self._shared_space(change, inverses)]

    def _present(self, row: Change) -> dict[str, Any] | None:
        if row.kind == "memory":
            return self._row(row.key) if row.key in self._table.slots else None
        if row.kind == "association":
            edge = self._graph.edges.get((row.key, row.relation or "", row.other or ""))
            return association_row(edge) if edge else None
        table = {"space": "space", "relation": "relation"}[row.kind]
        key = {"space": "space_id", "relation": "name"}[row.kind]
        return next((dict(r) for r in self._journal.current(table) if r[key] == row.key), None)

    def _check_ends(self, inverses: list[Change], state: dict[tuple[str, ...], Any]) -> None:
        """Refuse to take away a memory that an association stands on, or a relation or space in use."""
        gone = {c.key for c in inverses if c.kind == "memory" and state[c.identity] is None}
        for memory_id in gone:
            for a in self._graph.touching(memory_id):
                if state.get(("association", *a.triple), a) is not None:
                    raise UndoConflict(
                        f"{memory_id!r} can't be taken back: it was associated since "
                        f"({' '.join(a.triple)}). Undo that first, or delete the memory"
                    )

    def _shared_space(self, change: Change, inverses: list[Change]) -> bool:
        """Say whether undoing would remove a space that still holds memories: such a space stays."""
        if change.kind != "space" or change.after is not None:
            return False
        name = self._names.get(change.key)
        gone = {c.key for c in inverses if c.kind == "memory" and c.after is None}
        return any(m.space == name and m.memory_id not in gone for m in self._table)


def _wind_back(rows: dict[Any, dict[str, Any]], key: Any, change: Change) -> None:
    if change.before is None and change.after is None:
        return  # forgotten: what it was is gone
    if change.before is None:
        rows.pop(key, None)
    elif change.after is None:
        rows[key] = dict(change.before)
    elif key in rows:
        rows[key] = {**rows[key], **change.before}


def _stands(present: dict[str, Any] | None, after: Any) -> bool:
    """Say whether what a change left is still there, but for the time of the last change."""
    if after is None or present is None:
        return after is None and present is None
    return all(dumps(present.get(name)) == dumps(value) for name, value in after.items() if name != "updated_at")


def _log_frame(changes: Iterable[Change]) -> pd.DataFrame:
    rows = [
        {name: freeze(value) if name in ("before", "after") and value else value for name, value in _fields(c)}
        for c in changes
    ]
    frame = pd.DataFrame(rows, columns=list(LOG_FRAME))
    frame["time"] = pd.DatetimeIndex(frame["time"].to_numpy(dtype="int64").view("M8[us]")).tz_localize("UTC")
    return frame


def _fields(change: Change) -> list[tuple[str, Any]]:
    return [(name, getattr(change, name)) for name in LOG_FRAME]


__all__ = ["LOG_FRAME", "Remembering"]
