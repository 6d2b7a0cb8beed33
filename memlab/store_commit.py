"""One lock and one commit path.

Every write goes the same way: the caller validates and encodes, then under the write lock of the file the rows
that other processes wrote are applied, the caller's plan is checked against what is there now, written and
committed, and only then applied to table, indexes and graph in order of sequence. Every read catches up first,
so that what another process's ``add`` returned for is seen.
"""

import os
import threading
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from memlab.changes import Change
from memlab.encoders import Encoder
from memlab.errors import InvalidArgument, ReadOnlyStore, StoreClosed
from memlab.journal import Journal
from memlab.journal_company import FileReplaced, SharedJournal, come_to_rest
from memlab.journal_telemetry import Telemetry
from memlab.records import memory_from
from memlab.store_embedder import Embedder
from memlab.store_forks import watch
from memlab.store_state import Fresh, State
from memlab.store_vectors import Embedding
from memlab.text import check_text
from memlab.times import now, to_micros, zone_of

Plan = Callable[[], list[Change]]
Subscriber = Callable[[tuple[Change, ...]], None]

# What a memory's text is made of: a change of anything else leaves its vectors as they are.
SAID = frozenset({"content", "role", "happened_at"})


class Committing(State):
    """The state of a store, and the way to read and write it."""

    def _start(self, journal: Journal, encoder: Encoder | None, zone: str | None) -> None:
        """Begin on an open journal; called in the place of a constructor."""
        if zone is not None:
            zone_of(zone)
        self._lock = journal.lock
        self._company = journal if isinstance(journal, SharedJournal) else None
        self._depth = 0
        self._closed = False
        self._zone = zone
        self._subscribers: list[tuple[Subscriber]] = []
        self._pending: deque[tuple[Change, ...]] = deque()
        self._delivery = threading.Lock()
        State.__init__(self, journal, Embedder(journal, encoder))
        self._announced = self._applied
        self._telemetry = Telemetry(journal)
        # A store that nobody closed: what waits is written when it is dropped, or when Python ends.
        self._farewell = weakref.finalize(self, _let_go, self._telemetry, journal, os.getpid())
        watch(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what waits and close the file; closing twice is fine, any other use raises StoreClosed.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> store.close()
        """
        with self._holding():
            if not self._closed:
                self._closed = True
                self._farewell()

    def subscribe(self, callback: Subscriber) -> Callable[[], None]:
        """Call a function after each commit, this process's and others'.

        Parameters
        ----------
        callback : callable
            Gets a tuple of :class:`~memlab.changes.Change`, in the order of the log and when the lock is free,
            so that it may read and write the store; another process's changes come with the next reading. An
            exception in it is shown as a warning and stops nothing.

        Returns
        -------
        callable
            Call it to end the subscription; calling it twice is fine.

        Raises
        ------
        InvalidArgument
            If it can't be called.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store, seen = MemoryStore(encoder=None), []
        >>> stop = store.subscribe(lambda changes: seen.extend(c.verb for c in changes))
        >>> _ = store.add("Tea is ready.")
        >>> seen
        ['add', 'add']
        """
        if not callable(callback):
            raise InvalidArgument(f"subscribe takes a function of a tuple of changes, not a {type(callback).__name__}")
        self._check_open()
        # One entry a call, so that a function subscribed twice can be ended once.
        entry = (callback,)
        self._subscribers.append(entry)

        def stop() -> None:
            self._subscribers = [other for other in self._subscribers if other is not entry]

        return stop

    @contextmanager
    def _holding(self) -> Iterator[None]:
        """Hold the lock over a block; afterwards subscribers hear what was committed in it."""
        try:
            with self._lock:
                self._depth += 1
                try:
                    yield
                finally:
                    self._depth -= 1
        finally:
            if self._pending:
                self._deliver()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Hold the lock over a block that sees all that any process committed before."""
        with self._holding():
            self._check_open()
            self._settle()
            self._catch_up()
            yield

    def _settle(self) -> None:
        """Follow the store's name to another file, and leave a connection that a fork made unusable."""
        if self._company is not None and self._company.settle():
            self._stale = True
            self._telemetry.restart(keep=False)  # what waits speaks of the file before
            self._announced = self._journal.head()
            self._rebuild()

    def _forked(self, rested: bool) -> None:
        """Begin anew in a forked child; rested says whether no other thread was at work in the parent."""
        if not rested:
            self._lock = self._journal.lock = threading.RLock()
            self._depth = 0
            self._stale = True
        self._delivery = threading.Lock()
        self._pending.clear()
        if self._company is None:
            come_to_rest(self._journal)
        else:
            self._company.forked()
        self._telemetry.restart(keep=self._company is None)
        self._farewell.detach()
        if not self._closed:
            self._farewell = weakref.finalize(self, _let_go, self._telemetry, self._journal, os.getpid())

    @property
    def _sharing(self) -> str:
        return "this process, in memory" if self._company is None else self._company.sharing

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed(f"{self._journal.name} was closed; open it again")

    def _check_writable(self) -> None:
        """Refuse a write before its texts are encoded."""
        self._check_open()
        if self._journal.read_only:
            raise ReadOnlyStore(
                f"{self._journal.name} is open for reading only; write to a store opened without read_only=True"
            )
        with self._lock:  # encoding looks into the file's cache
            self._settle()

    def _commit(
        self,
        plan: Plan,
        fresh: Fresh | None = None,
        actor: str = "user",
        finish: Plan | None = None,
    ) -> list[Change]:
        """Write what a plan says, all or nothing, and apply it.

        Parameters
        ----------
        plan : callable
            Called under the write lock, with the state up to date; gives the changes or raises.
        fresh : Fresh, optional
            Embeddings of the texts that the plan is expected to write (others are made under the lock), and
            the memories it writes, which it may fill in itself.
        actor : str, default "user"
            Who writes.
        finish : callable, optional
            Called after the changes are written, in the same transaction; gives more of them.

        Returns
        -------
        list of Change
            What was written, numbered; empty where there was nothing to do.
        """
        check_text(actor, "actor", error=InvalidArgument)
        known = fresh or Fresh()
        with self._holding():
            self._check_writable()
            try:
                return self._try(plan, known, actor, finish)
            except FileReplaced:
                self._settle()
                return self._try(plan, known, actor, finish)

    def _try(self, plan: Plan, known: Fresh, actor: str, finish: Plan | None) -> list[Change]:
        with self._journal.transaction():
            self._catch_up()
            changes = plan()
            made = self._embeddings(changes, known)
            written = self._write(self._name_encoder(made, self._active) + changes, actor)
            self._embedder.keep(made)
            written += self._write(finish() if finish else [], actor)
        self._announce(written)
        self._apply_all(written, Fresh(made, known.memories))
        return written

    def _write(self, changes: list[Change], actor: str) -> list[Change]:
        return self._journal.append(changes, to_micros(now()), actor)

    def _embeddings(self, changes: Iterable[Change], fresh: Fresh) -> dict[str, Embedding]:
        """Give the embeddings of all texts that changes bring, making those that weren't expected."""
        if self._embedder.encoder is None:
            return {}
        texts: dict[str, None] = {}
        for change in changes:
            if change.kind == "memory" and change.after and (change.before is None or SAID & change.after.keys()):
                # A row reads as a memory whose space is named by its id; its text is the same.
                memory = fresh.memories.get(change.key) or memory_from(self._row_after(change) or {})
                texts[memory.text] = None
        known = {text: fresh.embeddings[text] for text in texts if text in fresh.embeddings}
        return known | self._embedder.embed(text for text in texts if text not in known)

    def _name_encoder(self, made: Mapping[str, Embedding], active: Mapping[str, Any] | None) -> list[Change]:
        """Name the encoder in a file that names none yet, with the first vectors it gets."""
        if not made:
            return []
        if active is not None:
            self._embedder.check(active)
            return []
        row = self._embedder.row
        return [Change(verb="encode", kind="encoder", key=row["fingerprint"], after=row)]

    def _catch_up(self) -> None:
        """Apply what other processes wrote."""
        if self._journal.head() == self._applied and not self._stale:
            return
        begin = min(self._applied, self._announced)
        changes = self._journal.changes("seq>?", (begin,))
        self._announce([change for change in changes if change.seq > self._announced])
        news = [change for change in changes if change.seq > self._applied]
        # Rows of the log that are gone before they were applied: only the tables say what they did.
        whole = bool(news) and news[-1].seq == self._applied + len(news)
        if self._stale or not whole:
            self._rebuild()
        else:
            self._apply_all(news, Fresh())

    def _announce(self, changes: Sequence[Change]) -> None:
        """Have subscribers told, in order, when the lock is free."""
        if changes:
            self._announced = changes[-1].seq
            if self._subscribers:
                self._pending.append(tuple(changes))

    def _deliver(self) -> None:
        # Whoever holds the lock, or is telling subscribers now, goes on to tell them these as well.
        while self._pending and not self._depth and (delivery := self._delivery).acquire(blocking=False):
            try:
                batch = self._pending.popleft()
                for (callback,) in list(self._subscribers):
                    _call(callback, batch)
            finally:
                delivery.release()


def _call(callback: Subscriber, batch: tuple[Change, ...]) -> None:
    try:
        callback(batch)
    except Exception as error:  # noqa: BLE001 - the subscriber's fault must not undo a commit
        warnings.warn(f"a subscriber of the store failed: {error!r}", RuntimeWarning, stacklevel=2)


def _let_go(telemetry: Telemetry, journal: Journal, process: int) -> None:
    """Write what waits and close the file, but not in a forked child, whose connection is its parent's."""
    if os.getpid() == process:
        try:
            telemetry.close()
        finally:
            journal.close()


__all__ = ["Committing", "Plan", "Subscriber"]
