"""Earlier states of a store, wound back from the present by the log."""

from collections.abc import Iterator, Mapping
from typing import Any, Self

from memlab.changes import Change
from memlab.journal import LOGGED, Journal
from memlab.journal_rows import log_values
from memlab.records import association_from, association_row, memory_from
from memlab.snapshots import Diff
from memlab.store_history import Remembering
from memlab.store_state import space_row
from memlab.store_vectors import text_key

Identity = tuple[str, ...]
Rows = dict[str, dict[Identity, dict[str, Any]]]  # by kind


class Past(Remembering):
    """The verbs that look at earlier states."""

    def as_of(self, when: Any) -> Self:
        """Give the store as it was: memories, associations, spaces, relations and log of then.

        Parameters
        ----------
        when : datetime, str or int
            A time, at which all counts that was written by then, or a place in the log (``seq``; 0 is before
            anything).

        Returns
        -------
        MemoryStore
            A store in memory with the same encoder, open for reading only; close it when done. Vectors are
            taken over where a text is in the cache. What was forgotten is in no past, and telemetry starts
            empty: access counts of then aren't known.

        Raises
        ------
        TimeError
            If a time can't be read or names no zone.
        UnknownChange
            If the log has no such place.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> tea = store.add("Tea at four.")
        >>> before = int(store.log()["seq"].max())
        >>> _ = store.update(tea, content="Tea at five.")
        >>> store.as_of(before).get(tea).content
        'Tea at four.'
        """
        with self._reading(), self._journal.snapshot():
            place = self._place(when, "when")
            journal = self._past_journal(place)
        past = object.__new__(type(self))
        try:
            past._start(journal, self._embedder.encoder, self._zone)
        except BaseException:
            journal.close()
            raise
        return past

    def _past_journal(self, place: int) -> Journal:
        """Fill a journal in memory with what the store's held at a place in its log."""
        journal = Journal()
        rows = self._rows_at(place)
        with journal.transaction():
            for kind, found in rows.items():
                journal.insert(kind, found.values())
            journal.execute_many(LOGGED, map(log_values, self._journal.changes("seq<=?", (place,))))
            if self._embedder.encoder is not None and self._active is not None:
                self._embedder.check(self._active)
                journal.insert("encoder", [self._active])
                self._copy_vectors(journal, rows["memory"])
        journal.read_only = True
        journal.name = f"the past of {self._journal.name} (seq {place})"
        return journal

    def _copy_vectors(self, journal: Journal, memories: Mapping[Identity, Mapping[str, Any]]) -> None:
        keys = [text_key(memory_from(row).text) for row in memories.values()]
        embedder = self._embedder
        embedder.cache.copy(embedder.fingerprint, list(dict.fromkeys(keys)), journal)

    def _rows_at(self, place: int) -> Rows:
        """Wind all rows of now back to a place in the log, each kind in the order of then."""
        rows: Rows = {
            "space": {("space", s.space_id, "", ""): space_row(s) for s in self._spaces.values()},
            "relation": {("relation", r["name"], "", ""): r for r in self._journal.current("relation")},
            "memory": {("memory", m.memory_id, "", ""): self._to_row(m) for m in self._table},
            "association": {("association", *a.triple): association_row(a) for a in self._graph},
        }
        for change in self._journal.changes("seq>? AND seq<=?", (place, self._applied), newest_first=True):
            if change.kind in rows:
                _wind_back(rows[change.kind], change)
        return {kind: dict(self._in_order(kind, found, place)) for kind, found in rows.items()}

    def _in_order(
        self, kind: str, rows: dict[Identity, dict[str, Any]], place: int
    ) -> Iterator[tuple[Identity, dict[str, Any]]]:
        """Put rows in the order in which they came: what was deleted and brought back came late."""
        made = self._journal.rows(
            "SELECT key, coalesce(relation, ''), coalesce(other, ''), max(seq) AS last FROM log "
            "WHERE kind=? AND seq<=? AND before IS NULL AND after IS NOT NULL GROUP BY 1, 2, 3 ORDER BY last",
            (kind, place),
        )
        identities = ((kind, *row[:3]) for row in made)
        return ((identity, rows[identity]) for identity in identities if identity in rows)

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
            What the later has and the earlier hasn't, and the other way round. A memory whose space was
            renamed counts as changed.

        Raises
        ------
        TimeError
            If a time can't be read or names no zone.
        UnknownChange
            If the log has no such place.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> _ = store.add("Tea.")
        >>> store.diff(0)
        Diff(1 added, 0 removed, 0 changed, 0 associated, 0 dissociated)
        """
        with self._reading(), self._journal.snapshot():
            old, old_edges = self._state_at(self._place(a, "a"))
            new, new_edges = self._state_at(self._applied if b is None else self._place(b, "b"))
        both = [(old[key], new[key]) for key in new if key in old]
        return Diff(
            added=tuple(m for key, m in new.items() if key not in old),
            removed=tuple(m for key, m in old.items() if key not in new),
            changed=tuple(pair for pair in both if pair[0] != pair[1]),
            associated=tuple(a for key, a in new_edges.items() if old_edges.get(key) != a),
            dissociated=tuple(a for key, a in old_edges.items() if new_edges.get(key) != a),
        )

    def _state_at(self, place: int) -> tuple[dict[Identity, Any], dict[Identity, Any]]:
        """Give the memories and associations of a place in the log."""
        rows = self._rows_at(place)
        names = {row["space_id"]: row["name"] for row in rows["space"].values()}
        memories = {key: memory_from({**row, "space": names[row["space"]]}) for key, row in rows["memory"].items()}
        return memories, {key: association_from(row) for key, row in rows["association"].items()}


def _wind_back(rows: dict[Identity, dict[str, Any]], change: Change) -> None:
    if change.before is None and change.after is None:
        return  # forgotten: what it was is gone
    if change.before is None:
        rows.pop(change.identity, None)
    elif change.after is None:
        rows[change.identity] = dict(change.before)
    elif change.identity in rows:
        rows[change.identity] = {**rows[change.identity], **change.before}
