"""The log of a store: what was done, by whom, and to what."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from memlab.changes import Change
from memlab.errors import InvalidArgument, UnknownChange, UnknownMemory, shown
from memlab.store_items import as_number
from memlab.store_recall import Recalling
from memlab.text import check_text
from memlab.times import to_micros, utc

LOG_FRAME = ("seq", "change", "time", "actor", "verb", "kind", "key", "relation", "other", "before", "after")


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
            the fields that changed, ``before`` and ``after``. A frame of the reader's own.

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
            values.append(check_text(actor, "actor", error=InvalidArgument))
        number = as_number(since)
        if number is not None:
            clauses.append("seq>=?")
            values.append(min(number, self._applied + 1))  # beyond 64 bits SQLite wouldn't take it
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
        check_text(memory_id, "memory_id", error=UnknownMemory)
        with self._reading():
            # Spaces, relations and encoders have keys too.
            clause = "kind IN ('memory', 'association') AND (key=? OR other=?)"
            changes = self._journal.changes(clause, (memory_id, memory_id))
        if not changes:
            raise UnknownMemory(f"no memory has or had the id {memory_id!r}; store.log() shows all that happened")
        return _log_frame(changes)

    def _place(self, when: Any, what: str) -> int:
        """Give the place in the log that a caller means by a time or a number: the last row that counts."""
        number = as_number(when)
        if number is None:
            sql = "SELECT coalesce(max(seq), 0) FROM log WHERE time<=? AND seq<=?"
            return int(self._journal.rows(sql, (to_micros(utc(when, self._zone, what)), self._applied))[0][0])
        if not 0 <= number <= self._applied:
            raise UnknownChange(f"{what} is {shown(number)}; the log goes from 0 to {self._applied}: see store.log()")
        return number


def _log_frame(changes: Iterable[Change]) -> pd.DataFrame:
    rows = [[getattr(change, name) for name in LOG_FRAME] for change in changes]
    frame = pd.DataFrame(rows, columns=list(LOG_FRAME), dtype=object)
    micros = frame["time"].to_numpy(dtype="int64")
    frame["time"] = pd.DatetimeIndex(micros.view("M8[us]")).tz_localize("UTC")
    texts = dict.fromkeys(("actor", "verb", "kind", "key", "relation", "other"), "str")
    return frame.astype({"seq": "int64", "change": "int64", **texts})
