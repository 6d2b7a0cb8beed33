"""Telemetry: what was recalled, by whom, what it found, and how often each memory came up.

It never touches a memory or the change log, so that reading stays reading. Events wait in a buffer that a
background thread empties in batches; whoever reads them sees those that wait as well.
"""

import threading
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from memlab.errors import CorruptStore, InvalidArgument, StorageError, StoreBusy, StoreError
from memlab.journal import Journal
from memlab.journal_forget import quotes
from memlab.text import check_text
from memlab.values import dumps, loads

RECALL_COLUMNS = (
    "recall_id",
    "time",
    "actor",
    "query",
    "spaces",
    "method",
    "k",
    "store_seq",
    "seconds",
    "candidates",
    "hits",
)
CALL_COLUMNS = ("time", "client", "tool", "space", "arguments", "seconds", "ok", "hits", "error")
_JSON = frozenset({"spaces", "hits", "arguments"})
BATCH = 256  # events that wait at the most
DELAY = 0.5  # seconds that an event waits at the most, where the file can be written
PARTING = 5.0  # seconds that closing waits for another process's write
PATIENCE = 0.1  # seconds that the background waits for another process's write, holding the store's lock


class Telemetry:
    """The telemetry of one journal.

    Parameters
    ----------
    journal : Journal
        Where it is kept. A read-only journal keeps nothing: events stay in memory until closing.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = journal.lock
        self._recalls: list[tuple[Any, ...]] = []
        self._calls: list[tuple[Any, ...]] = []
        self._access: Counter[str] = Counter()
        self._last: dict[str, int] = {}
        self._timer: threading.Timer | None = None
        # What the file holds of accesses, and the state of the file in which it was read.
        self._kept: tuple[int, dict[str, tuple[int, int]]] | None = None

    def recalled(self, event: Mapping[str, Any]) -> None:
        """Note one recall.

        Parameters
        ----------
        event : mapping
            :data:`RECALL_COLUMNS` to values; ``hits`` is a list of ``[memory_id, score, relevance]``.
        """
        check_text(event["actor"], "actor", error=InvalidArgument)
        with self._lock:
            self._recalls.append(_row(RECALL_COLUMNS, event))
            for memory_id, *_ in event["hits"]:
                self._access[memory_id] += 1
                self._last[memory_id] = event["time"]
            self._schedule()

    def called(self, event: Mapping[str, Any]) -> None:
        """Note one tool call of an agent.

        Parameters
        ----------
        event : mapping
            :data:`CALL_COLUMNS` to values.
        """
        with self._lock:
            self._calls.append(_row(CALL_COLUMNS, event))
            self._schedule()

    def recalls(self) -> list[dict[str, Any]]:
        """Read all recalls, oldest first, those that wait included.

        Returns
        -------
        list of dict
            :data:`RECALL_COLUMNS` to values.
        """
        return self._read("recalls", RECALL_COLUMNS, self._recalls)

    def calls(self) -> list[dict[str, Any]]:
        """Read all tool calls, oldest first, those that wait included.

        Returns
        -------
        list of dict
            :data:`CALL_COLUMNS` to values.
        """
        return self._read("calls", CALL_COLUMNS, self._calls)

    def access(self) -> dict[str, tuple[int, int]]:
        """Read how often each memory was recalled, and when last.

        Returns
        -------
        dict
            Memory id to count and microseconds.
        """
        with self._lock:
            found = dict(self._access_kept())
            for memory_id, count in self._access.items():
                kept = found.get(memory_id, (0, 0))[0]
                found[memory_id] = (kept + count, self._last[memory_id])
            return found

    def _access_kept(self) -> dict[str, tuple[int, int]]:
        """Give what the file holds, read anew only where another process wrote to it."""
        version = self._journal.rows("PRAGMA data_version")[0][0]
        if self._kept is None or self._kept[0] != version:
            rows = self._counts("SELECT memory_id, count, last FROM access")
            self._kept = (version, {memory_id: (count, last) for memory_id, count, last in rows})
        return self._kept[1]

    def _counts(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Read access counts; telemetry has no checksums, so what is no count is damage."""
        rows = self._journal.rows(sql, values)
        if any((type(key), type(count), type(last)) != (str, int, int) for key, count, last in rows):
            raise CorruptStore(
                f"{self._journal.name}: the access counts are damaged; nothing was changed. Keep the file, and open "
                "a backup"
            )
        return rows

    def access_of(self, memory_id: str) -> tuple[int, int]:
        """Read how often one memory was recalled, and when last.

        Parameters
        ----------
        memory_id : str
            The memory.

        Returns
        -------
        tuple of int
            Count and microseconds; zeros where it never was.
        """
        with self._lock:
            rows = self._counts("SELECT memory_id, count, last FROM access WHERE memory_id=?", (memory_id,))
            _, count, last = rows[0] if rows else (memory_id, 0, 0)
            return count + self._access[memory_id], max(last, self._last.get(memory_id, 0))

    def forget(self, memory_id: str, texts: Sequence[str]) -> None:
        """Drop what waits and speaks of a memory.

        Parameters
        ----------
        memory_id : str
            The memory.
        texts : sequence of str
            What it ever said.
        """
        marks = quotes(memory_id, texts)
        for events in (self._recalls, self._calls):
            events[:] = [e for e in events if not any(m in str(v) for m in marks for v in e)]
        self._access.pop(memory_id, None)
        self._last.pop(memory_id, None)
        self._kept = None

    def flush(self, patience: float | None = None) -> None:
        """Write what waits.

        Parameters
        ----------
        patience : float, optional
            Seconds to wait for another process's write; by default the journal's timeout.

        Raises
        ------
        StoreBusy, StorageError
            If it can't be written now; the events go on waiting.
        """
        with self._lock:
            if self._journal.read_only or not (self._recalls or self._calls or self._access):
                return
            wait = self._journal.timeout if patience is None else patience
            with self._journal.patience(wait), self._journal.transaction():
                self._write()
            self._kept = None
            self._clear()

    def _clear(self) -> None:
        self._recalls.clear()
        self._calls.clear()
        self._access.clear()
        self._last.clear()

    def restart(self, keep: bool) -> None:
        """Go on with another file, or in a forked child, where the parent's thread isn't.

        Parameters
        ----------
        keep : bool
            Whether what waits stays; a parent writes its own.
        """
        self._lock, self._timer, self._kept = self._journal.lock, None, None
        if not keep:
            self._clear()

    def _in_background(self) -> None:
        with self._lock:
            self._timer = None
            try:
                self.flush(PATIENCE)
            except StoreError:
                self._schedule()  # nothing is lost yet: what waits is tried again, and close() says if it never could

    def close(self) -> None:
        """Write what waits and stop; what can't be written is lost, with a warning."""
        with self._lock:
            if self._timer:
                self._timer.cancel()
                self._timer = None
            try:
                self.flush(min(PARTING, self._journal.timeout))
            except (StoreBusy, StorageError, CorruptStore) as error:
                waiting = f"{len(self._recalls)} recalls and {len(self._calls)} calls"
                self._clear()
                warnings.warn(f"the telemetry of {waiting} is lost: {error}", RuntimeWarning, stacklevel=2)

    def _write(self) -> None:
        for table, columns, events in (
            ("recalls", RECALL_COLUMNS, self._recalls),
            ("calls", CALL_COLUMNS, self._calls),
        ):
            marks = ",".join("?" * len(columns))
            self._journal.execute_many(f"INSERT INTO {table} ({','.join(columns)}) VALUES ({marks})", events)
        self._journal.execute_many(
            "INSERT INTO access VALUES (?,?,?) ON CONFLICT (memory_id) DO UPDATE SET "
            "count=count+excluded.count, last=max(last, excluded.last)",
            [(key, count, self._last[key]) for key, count in self._access.items()],
        )

    def _schedule(self) -> None:
        waiting = len(self._recalls) + len(self._calls)
        if self._journal.read_only or self._timer is not None:
            return
        delay = 0.0 if waiting >= BATCH else DELAY
        self._timer = threading.Timer(delay, self._in_background)
        self._timer.daemon = True
        self._timer.start()

    def _read(self, table: str, columns: tuple[str, ...], waiting: list[Any]) -> list[dict[str, Any]]:
        with self._lock:
            kept = self._journal.rows(f"SELECT {','.join(columns)} FROM {table} ORDER BY number")
            return [_event(columns, row) for row in (*kept, *waiting)]


def _row(columns: tuple[str, ...], event: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(dumps(event[name]) if name in _JSON else event[name] for name in columns)


def _event(columns: tuple[str, ...], row: tuple[Any, ...]) -> dict[str, Any]:
    pairs = zip(columns, row, strict=True)
    return {name: loads(value) if name in _JSON else value for name, value in pairs}
