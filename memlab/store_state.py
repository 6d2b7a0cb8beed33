"""The state of a store: its parts in memory, one lock, and the one commit path.

Every write goes the same way: the caller validates and encodes, then under the write lock of the file the rows
that other processes wrote are applied, the caller's plan is checked against what is there now, written and
committed, and only then applied to table, indexes and graph in order of sequence. If applying fails after the
commit, the state is stale and is rebuilt from the journal before the next answer. Every read catches up first,
so that what another process's ``add`` returned for is seen.
"""

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Self

from memlab.changes import Change
from memlab.errors import CorruptStore, InvalidAssociation, MemlabError, StoreClosed, UnknownSpace
from memlab.graph import Graph
from memlab.journal import Journal
from memlab.journal_telemetry import Telemetry
from memlab.lexical import LexicalIndex
from memlab.records import Memory, Space, association_from, association_row, memory_from, memory_row
from memlab.store_embedder import Embedder, Embedding
from memlab.table import Table
from memlab.times import from_micros, now, to_micros
from memlab.values import loads
from memlab.vocabulary import RELATIONS, Relation

Plan = Callable[[], list[Change]]
Subscriber = Callable[[tuple[Change, ...]], None]


class State:
    """Everything a store holds in memory, kept in step with its journal.

    Parameters
    ----------
    journal : Journal
        The open journal.
    embedder : Embedder
        With the store's encoder.
    zone : str, optional
        The zone in which times without one are read.
    """

    def __init__(self, journal: Journal, embedder: Embedder, zone: str | None) -> None:
        self._lock = threading.RLock()
        self._journal = journal
        self._embedder = embedder
        self._zone = zone
        self._telemetry = Telemetry(journal, self._lock)
        self._subscribers: list[Subscriber] = []
        self._closed = False
        self._rebuild()

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
        with self._lock:
            if not self._closed:
                self._telemetry.close()
                self._closed = True
                self._journal.close()

    def subscribe(self, callback: Subscriber) -> Callable[[], None]:
        """Call a function after each commit, this process's and others'.

        Parameters
        ----------
        callback : callable
            Gets a tuple of :class:`~memlab.changes.Change`, after the lock is free. An exception in it
            is shown as a warning and stops nothing.

        Returns
        -------
        callable
            Call it to end the subscription; calling it twice is fine.

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
            raise TypeError(f"subscribe takes a function of a tuple of changes, not a {type(callback).__name__}")
        self._subscribers.append(callback)

        def stop() -> None:
            if callback in self._subscribers:
                self._subscribers.remove(callback)

        return stop

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Hold the lock over a block that sees all that any process committed before."""
        with self._lock:
            self._check_open()
            fresh = self._catch_up()
            yield
        self._notify(fresh)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed("the store was closed; open it again")

    def _commit(
        self,
        plan: Plan,
        embeddings: Mapping[str, Embedding] | None = None,
        actor: str = "user",
        finish: Plan | None = None,
    ) -> list[Change]:
        """Write what a plan says, all or nothing, and apply it.

        Parameters
        ----------
        plan : callable
            Called under the write lock, with the state up to date; gives the changes or raises.
        embeddings : mapping of str to Embedding, optional
            Of the texts that the plan is expected to write; others are made under the lock.
        actor : str, default "user"
            Who writes.
        finish : callable, optional
            Called after the changes are written, in the same transaction; gives more of them.

        Returns
        -------
        list of Change
            What was written, numbered; empty where there was nothing to do.
        """
        with self._lock:
            self._check_open()
            with self._journal.transaction():
                others = self._catch_up()
                changes = plan()
                made = self._embeddings(changes, embeddings or {})
                written = self._write(self._name_encoder(made) + changes, actor)
                self._embedder.keep(made)
                written += self._write(finish() if finish else [], actor)
            self._apply_all(written, made)
        self._notify([*others, *written])
        return written

    def _write(self, changes: list[Change], actor: str) -> list[Change]:
        return self._journal.append([replace(change, actor=actor) for change in changes], to_micros(now()))

    def _embeddings(self, changes: Iterable[Change], given: Mapping[str, Embedding]) -> dict[str, Embedding]:
        """Give the embeddings of all texts that changes bring, making those that weren't expected."""
        if self._embedder.encoder is None:
            return {}
        # A row reads as a memory whose space is named by its id; its text is the same.
        texts = {memory_from(row).text for change in changes if (row := self._row_after(change)) is not None}
        known = {text: given[text] for text in texts if text in given}
        return known | self._embedder.embed(text for text in texts if text not in known)

    def _row_after(self, change: Change) -> dict[str, Any] | None:
        """Give the row of the memory that a change leaves, None where it leaves none."""
        if change.kind != "memory" or change.after is None:
            return None
        return dict(change.after) if change.before is None else self._row(change.key) | dict(change.after)

    def _name_encoder(self, made: Mapping[str, Embedding]) -> list[Change]:
        """Name the encoder in a file that names none yet, with the first vectors it gets."""
        if not made or self._active is not None:
            self._embedder.check(self._active if made else None)
            return []
        row = self._embedder.row
        return [Change(verb="encode", kind="encoder", key=row["fingerprint"], after=row)]

    def _catch_up(self) -> list[Change]:
        """Apply what other processes wrote; give what was applied."""
        if self._stale:
            self._rebuild()
        if self._journal.head() == self._applied:
            return []
        changes = self._journal.changes("seq>?", (self._applied,))
        self._apply_all(changes, {})
        return changes

    def _apply_all(self, changes: Iterable[Change], embeddings: Mapping[str, Embedding]) -> None:
        try:
            for change in changes:
                _APPLY[change.kind](self, change, embeddings)
                self._applied = change.seq
        except BaseException:
            # The file has it and memory only half of it: rebuild before the next answer.
            self._stale = True
            raise

    def _notify(self, changes: Iterable[Change]) -> None:
        batch = tuple(changes)
        for callback in list(self._subscribers) if batch else ():
            try:
                callback(batch)
            except Exception as error:  # noqa: BLE001 - the subscriber's fault must not undo a commit
                warnings.warn(f"a subscriber of the store failed: {error!r}", RuntimeWarning, stacklevel=3)

    def _rebuild(self) -> None:
        """Read everything from the journal anew."""
        self._table, self._graph = Table(), Graph()
        self._lexical: dict[str, LexicalIndex] | None = None
        self._embedder.drop()
        self._spaces: dict[str, Space] = {}
        self._names: dict[str, str] = {}  # of spaces, by id
        self._relations: dict[str, Relation] = dict(RELATIONS)
        self._active: dict[str, Any] | None = None
        self._applied = self._journal.head()
        for row in self._journal.current("space"):
            self._apply_space(Change(verb="read", kind="space", key=row["space_id"], after=row), {})
        for row in self._journal.current("relation"):
            self._apply_relation(Change(verb="read", kind="relation", key=row["name"], after=row), {})
        for row in self._journal.current("encoder"):
            self._apply_encoder(Change(verb="read", kind="encoder", key=row["fingerprint"], after=row), {})
        for row in self._journal.current("memory"):
            self._read_row(row["memory_id"], partial(self._put_row, row))
        for row in self._journal.current("association"):
            self._read_row(row["source"], partial(self._put_association, row))
        self._stale = False

    def _put_row(self, row: Mapping[str, Any]) -> None:
        self._table.put(self._memory(row))

    def _put_association(self, row: Mapping[str, Any]) -> None:
        self._graph.put(association_from(row))

    def _read_row(self, name: str, read: Callable[[], Any]) -> None:
        try:
            read()
        except MemlabError as error:
            raise CorruptStore(
                f"{self._journal.name}: the row of {name!r} is damaged ({error}); the others are readable. "
                "Restore it from a backup"
            ) from error

    def _apply_memory(self, change: Change, embeddings: Mapping[str, Embedding]) -> None:
        old = self._table.rows[self._table.slots[change.key]] if change.key in self._table.slots else None
        if old is None and change.before is not None:
            return  # an update or removal of what another process has made forgotten since
        row = self._row_after(change)
        memory = None if row is None else self._memory(row)
        moved = old is None or memory is None or old.text != memory.text or old.space != memory.space
        if old is not None and moved:
            slot = self._table.slots[change.key]
            self._embedder.remove(old, slot)
            if self._lexical is not None:
                self._lexical[old.space].remove([slot])
        if memory is None:
            self._remove(change.key)
            return
        slot = self._table.put(memory)
        if moved:
            self._embedder.put(memory, slot, embeddings)
            if self._lexical is not None:
                self._lexical.setdefault(memory.space, LexicalIndex()).add([slot], [memory.text])

    def _remove(self, memory_id: str) -> None:
        """Take a memory out, and any association that would be left with one end."""
        for association in self._graph.touching(memory_id):
            self._graph.remove(association.triple)
        if memory_id in self._table.slots:
            self._table.remove(memory_id)

    def _apply_association(self, change: Change, embeddings: Mapping[str, Embedding]) -> None:
        triple = (change.key, change.relation or "", change.other or "")
        if change.after is None:
            if triple in self._graph.edges:
                self._graph.remove(triple)
        elif change.before is None:
            self._graph.put(association_from(change.after))
        else:
            self._graph.put(association_from(association_row(self._graph.get(triple)) | dict(change.after)))

    def _apply_space(self, change: Change, embeddings: Mapping[str, Embedding]) -> None:
        old = next((s for s in self._spaces.values() if s.space_id == change.key), None)
        if old is not None:
            del self._spaces[old.name]
        if change.after is None:
            self._names.pop(change.key, None)
            return
        row = dict(change.after)
        name = row.get("name", old.name if old else "")
        description = row.get("description", old.description if old else "")
        made = from_micros(row["created_at"]) if "created_at" in row else old.created_at if old else None
        self._names[change.key] = name
        self._spaces[name] = Space(change.key, name, description, made)
        if old is not None and old.name != name:
            self._stale = True  # every memory of it carries the name

    def _apply_relation(self, change: Change, embeddings: Mapping[str, Embedding]) -> None:
        if change.after is None:
            self._relations.pop(change.key, None)
            return
        options = change.after["definition"]
        options = loads(options) if isinstance(options, str) else options
        self._relations[change.key] = Relation(
            change.key, **{**options, "dash": tuple(options["dash"]), "properties": tuple(options["properties"])}
        )

    def _apply_encoder(self, change: Change, embeddings: Mapping[str, Embedding]) -> None:
        if change.after is not None and change.after.get("active"):
            known = {row["fingerprint"]: row for row in self._journal.current("encoder")}
            self._active = known.get(change.key, dict(change.after))
            if self._embedder.encoder is not None and self._embedder.loaded:
                self._embedder.drop()

    def _memory(self, row: Mapping[str, Any]) -> Memory:
        """Make a memory of a row of the file, where spaces stand by id."""
        name = self._names.get(row["space"])
        if name is None:
            raise CorruptStore(f"{self._journal.name}: {row['memory_id']!r} lives in a space that isn't in the file")
        return memory_from({**row, "space": name})

    def _row(self, memory_id: str) -> dict[str, Any]:
        """Give a memory of the store as a row of the file."""
        return self._to_row(self._table.get(memory_id))

    def _to_row(self, memory: Memory) -> dict[str, Any]:
        return {**memory_row(memory), "space": self._space(memory.space).space_id}

    def _space(self, name: str) -> Space:
        """Find a space by name or id."""
        found = self._spaces.get(name) or self._spaces.get(self._names.get(name, ""))
        if found is None:
            known = ", ".join(map(repr, sorted(self._spaces))) or "none yet"
            raise UnknownSpace(f"no space is called {name!r}; there are: {known}")
        return found

    def _relation(self, name: str) -> Relation:
        """Find a relation that may be authored."""
        relation = self._relations.get(name)
        if relation is None or not relation.authorable:
            allowed = ", ".join(r.name for r in self._relations.values() if r.authorable)
            why = "is derived by memlab and can't be written" if relation else "isn't a relation"
            raise InvalidAssociation(f"{name!r} {why}; use one of {allowed}, or store.register_relation")
        return relation


_APPLY: dict[str, Callable[[State, Change, Mapping[str, Embedding]], None]] = {
    "memory": State._apply_memory,
    "association": State._apply_association,
    "space": State._apply_space,
    "relation": State._apply_relation,
    "encoder": State._apply_encoder,
}
