"""Taking changes back.

To undo is to write the inverse of each row of the log, newest first. It is refused where what a change left was
changed again since, and where the store would no longer be whole afterwards: an association without an end, a
memory without its space, two spaces of one name.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from memlab.changes import Change
from memlab.errors import InvalidArgument, UndoConflict, UnknownChange, shown
from memlab.records import association_row
from memlab.store_items import as_number
from memlab.store_past import Identity, Past
from memlab.store_state import space_row
from memlab.values import dumps
from memlab.vocabulary import RELATIONS

Row = dict[str, Any]
UNDOABLE = "kind IN ('memory', 'association', 'space', 'relation') AND NOT (before IS NULL AND after IS NULL)"


class Undoing(Past):
    """The verb that takes back."""

    def undo(
        self, change: int | None = None, *, actor: str | None = None, since: Any = None, by: str = "user"
    ) -> list[int]:
        """Take back what one call wrote, or what an actor wrote since a time.

        Undoing is itself a change, and can be undone. What was forgotten can't come back, and which encoder a
        store uses isn't undone. Where a memory was changed again since, but in other fields, those stay, and
        ``updated_at`` stays that of the last change. A space that was made along with the first memory in it
        stays while others live there.

        Parameters
        ----------
        change : int, optional
            The number of the call, from :meth:`log`.
        actor, since : optional
            Instead of `change`: who, and from which time (or place in the log) on; by default everything of
            that actor, or everything since then.
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
            If the log has no such call, or it can't be undone.
        UndoConflict
            If something else changed the same fields later, or stands on what would go; nothing is undone.

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
        number = as_number(change)
        if change is not None and number is None:
            raise InvalidArgument(f"change is {shown(change)}; give a number from the column change of store.log()")
        undone: list[int] = []

        def plan() -> list[Change]:
            clause, values = self._log_filter(actor, since)
            if number is not None:
                clause, values = "change=?", [min(number, self._applied + 1)]
            rows = self._journal.changes(f"{clause} AND {UNDOABLE}", values, newest_first=True)
            if not rows and number is not None:
                raise UnknownChange(f"the log has no change {shown(number)} that can be undone; see store.log()")
            undone[:] = dict.fromkeys(row.change for row in rows)
            return self._inverses(rows)

        self._commit(plan, actor=by)
        return undone

    def _inverses(self, rows: Sequence[Change]) -> list[Change]:
        """Give the changes that take rows back, newest first, checked against the state as it will be by then."""
        state: dict[Identity, Row | None] = {}
        inverses = []
        for row in rows:
            present = state[row.identity] if row.identity in state else self._present(row.identity)
            if not _stands(present, row.after):
                raise UndoConflict(
                    f"change {row.change} ({row.verb} {row.key!r}) can't be undone: it was changed again since. "
                    "Undo the later changes first (store.history shows them)"
                )
            inverse = _inverse(row, present)
            state[row.identity] = None if inverse.after is None else {**(present or {}), **inverse.after}
            inverses.append(inverse)
        kept = self._spaces_in_use(rows, state)
        self._check_whole(state)
        return [c for c in inverses if not (c.kind == "space" and c.after is None and c.key in kept)]

    def _present(self, identity: Identity) -> Row | None:
        kind, key, relation, other = identity
        if kind == "memory":
            return self._row(key) if key in self._table.slots else None
        if kind == "association":
            edge = self._graph.edges.get((key, relation, other))
            return association_row(edge) if edge else None
        if kind == "space":
            return space_row(self._spaces[self._names[key]]) if key in self._names else None
        return next((row for row in self._journal.current("relation") if row["name"] == key), None)

    def _spaces_in_use(self, rows: Sequence[Change], state: dict[Identity, Row | None]) -> set[str]:
        """Give the ids of spaces that would go and still hold memories; they stay."""
        leaving = {key[1] for key, row in state.items() if key[0] == "space" and row is None}
        if not leaving:
            return set()
        living: dict[Identity, Any] = {
            ("memory", m.memory_id, "", ""): self._space(m.space).space_id for m in self._table
        }
        living |= {key: row["space"] for key, row in state.items() if key[0] == "memory" and row is not None}
        used = {space for key, space in living.items() if state.get(key, living) is not None} & leaving
        for space_id in used:
            identity = ("space", space_id, "", "")
            calls = {row.change for row in rows if row.identity == identity and row.before is None}
            if all(row.kind == "space" for row in rows if row.change in calls):
                raise UndoConflict(
                    f"the space {self._names.get(space_id, space_id)!r} can't be taken back: it holds memories; "
                    "delete or undo these first"
                )
            state[identity] = self._present(identity)
        return used

    def _check_whole(self, state: dict[Identity, Row | None]) -> None:
        """Refuse an outcome in which something would stand on what is gone."""
        for identity, row in state.items():
            kind = identity[0]
            if kind == "memory":
                self._check_memory(identity, row, state)
            elif kind == "association" and row is not None:
                self._check_ends(row, state)
            elif kind == "space" and row is not None:
                self._check_name(row, state)
            elif kind == "relation" and row is None:
                for a in self._graph:
                    if a.relation == identity[1] and self._then(("association", *a.triple), state) is not None:
                        raise UndoConflict(
                            f"the relation {a.relation} can't be taken back: {' '.join(a.triple)} uses it; "
                            "dissociate that first"
                        )

    def _then(self, identity: Identity, state: dict[Identity, Row | None]) -> Row | None:
        """Give a row as it would be."""
        return state[identity] if identity in state else self._present(identity)

    def _check_memory(self, identity: Identity, row: Row | None, state: dict[Identity, Row | None]) -> None:
        memory_id = identity[1]
        if row is not None and self._then(("space", row["space"], "", ""), state) is None:
            raise UndoConflict(f"{memory_id!r} can't come back: its space was deleted since; undo that first")
        if row is not None and memory_id in self._table.aliases and memory_id not in self._table.slots:
            owner = self._table.aliases[memory_id]
            if memory_id in (self._then(("memory", owner, "", ""), state) or {"aliases": ()})["aliases"]:
                raise UndoConflict(f"{memory_id!r} can't come back: it is an alias of {owner!r} now; undo that first")
        for a in self._graph.touching(memory_id):
            edge = self._then(("association", *a.triple), state)
            if edge is None:
                continue
            if row is None:
                raise UndoConflict(
                    f"{memory_id!r} can't be taken back: it was associated since ({' '.join(a.triple)}). "
                    "Undo that first, or delete the memory"
                )
            self._check_ends(edge, state)

    def _check_ends(self, edge: Row, state: dict[Identity, Row | None]) -> None:
        ends = [self._then(("memory", edge[end], "", ""), state) for end in ("source", "target")]
        triple = f"{edge['source']} {edge['relation']} {edge['target']}"
        if None in ends:
            raise UndoConflict(f"the association {triple} can't come back: a memory of it is gone; undo that first")
        if len({end["space"] for end in ends if end}) > 1:
            raise UndoConflict(f"the association {triple} would cross two spaces; undo the move or dissociate first")
        if edge["relation"] not in RELATIONS and self._then(("relation", edge["relation"], "", ""), state) is None:
            raise UndoConflict(f"the association {triple} can't come back: its relation is gone; undo that first")

    def _check_name(self, space: Row, state: dict[Identity, Row | None]) -> None:
        for other in self._names.keys() - {space["space_id"]}:
            there = self._then(("space", other, "", ""), state)
            if there is not None and there["name"] == space["name"]:
                raise UndoConflict(f"the name {space['name']!r} is another space's now; rename that one first")


def _stands(present: Row | None, after: Any) -> bool:
    """Say whether what a change left is still there, but for the time of the last change."""
    if after is None or present is None:
        return after is None and present is None
    return all(dumps(present.get(name)) == dumps(value) for name, value in after.items() if name != "updated_at")


def _inverse(row: Change, present: Row | None) -> Change:
    """Give the change that takes a row back; the time of a later change in other fields stays."""
    inverse = row.inverse
    if row.before is None or row.after is None or present is None:
        return inverse if row.before is not None or present is None else replace(inverse, before=present)
    if present.get("updated_at") == row.after.get("updated_at"):
        return inverse
    before = {name: value for name, value in row.after.items() if name != "updated_at"}
    after = {name: value for name, value in row.before.items() if name != "updated_at"}
    return replace(inverse, before=before, after=after)
