"""Deleting memories, and forgetting them."""

from collections.abc import Iterable, Sequence
from typing import Any

from memlab.changes import Change
from memlab.errors import FilterError, InvalidArgument, UnknownMemory, shown
from memlab.filters import parse_filter
from memlab.journal_forget import purge, scrub
from memlab.recall.candidates import fitting
from memlab.records import DEFAULT_SPACE, Memory, association_row, memory_from
from memlab.store_items import as_ids, switch
from memlab.store_update import Updating
from memlab.store_vectors import text_key


class Deleting(Updating):
    """The verbs that take memories out."""

    def delete(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        where: Any = None,
        tags: Any = None,
        space: str | None = None,
        dry_run: bool = False,
        actor: str = "user",
    ) -> list[str]:
        """Delete memories and their associations; ``undo`` brings them back.

        Parameters
        ----------
        ids : str or iterable of str, optional
            Which memories; an empty list deletes nothing.
        where, tags : optional
            Instead of ids: filters as :meth:`select` takes them.
        space : str, optional
            Where to delete: with filters by default the space ``"default"``, alone all of that space. A
            memory named by id must live there.
        dry_run : bool, default False
            Only say what would be deleted.
        actor : str, default "user"
            Who deletes, for the log.

        Returns
        -------
        list of str
            The ids of what was deleted (or would be).

        Raises
        ------
        InvalidArgument
            If nothing says what to delete, or both ids and filters do.
        FilterError
            If a filter can't be read or is empty, which would be everything.
        UnknownMemory
            If an id names none; then nothing is deleted.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> _ = store.add_many([{"content": "Tea.", "memory_id": "tea"}, {"content": "Rain."}])
        >>> store.delete("tea"), len(store)
        (['tea'], 1)
        """
        if ids is not None and (where is not None or tags is not None):
            raise InvalidArgument("give ids or filters to delete, not both")
        if ids is None and where is None and tags is None and space is None:
            raise InvalidArgument("nothing says what to delete: give ids, where=, tags= or space=")
        switch("dry_run", dry_run)
        chosen: list[str] = []
        names = list(as_ids(ids)) if ids is not None else None
        wanted = parse_filter(where=where, tags=tags)
        if tags is not None and not wanted.tags:
            raise FilterError("tags is empty, which would delete everything; name a tag, or give space= alone")

        def plan() -> list[Change]:
            if names is None:
                inside = self._space(space if space is not None else DEFAULT_SPACE).name
                slots = fitting(self._table, (inside,), wanted).nonzero()[0].tolist()
                chosen[:] = [self._table.at(slot).memory_id for slot in slots]
            else:
                chosen[:] = dict.fromkeys(self._in_space(name, space).memory_id for name in names)
            return self._removal("delete", chosen)

        if dry_run:
            with self._reading():
                plan()
        else:
            self._commit(plan, actor=actor)
        return chosen

    def _in_space(self, memory_id: str, space: str | None) -> Memory:
        memory = self._found(memory_id)
        if space is not None and memory.space != self._space(space).name:
            raise UnknownMemory(f"no memory of the space {shown(space)} has the id {memory_id!r}")
        return memory

    def _removal(self, verb: str, ids: Sequence[str]) -> list[Change]:
        edges = {a.triple: a for memory_id in ids for a in self._graph.touching(memory_id)}
        return [
            *(
                Change(
                    verb=verb,
                    kind="association",
                    key=a.source,
                    relation=a.relation,
                    other=a.target,
                    before=association_row(a),
                )
                for a in edges.values()
            ),
            *(Change(verb=verb, kind="memory", key=memory_id, before=self._row(memory_id)) for memory_id in ids),
        ]

    def forget(self, ids: str | Iterable[str], *, actor: str = "user") -> list[str]:
        """Delete memories for good: their text leaves the table, the log, telemetry and the vectors.

        This can't be undone. Older versions go too, memories that were merged into them, associations with their
        properties, and every recall and tool call that found or quotes one of them. What other memories, backups
        and exports say stays.

        Parameters
        ----------
        ids : str or iterable of str
            Memories of the store, or deleted ones that the log still holds.
        actor : str, default "user"
            Who forgets, for the log, where only the id stays.

        Returns
        -------
        list of str
            The ids of what was forgotten.

        Raises
        ------
        UnknownMemory
            If an id was never seen; then nothing is forgotten.
        StoreBusy, StorageError
            If another process is using the file beyond the timeout, or the disk is full, so that it can't be
            written anew; the memories are gone for every reader, and calling again finishes the work.

        Notes
        -----
        The file is written anew from what is left, since SQLite leaves copies of rows in unused space: forget
        many in one call rather than one by one. It takes seconds for a hundred thousand memories, and the free
        space of another copy.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> secret = store.add("The code is 4711.")
        >>> store.forget(secret) == [secret], len(store.history(secret))
        (True, 1)
        """
        names = as_ids(ids)
        with self._holding():
            self._check_writable()
            forgotten = self._commit_forget(names, actor)
            scrub(self._journal)
        return forgotten

    def _commit_forget(self, names: Sequence[str], actor: str) -> list[str]:
        known: list[str] = []
        gone: list[str] = []  # these, and what was merged into them

        def plan() -> list[Change]:
            known[:] = dict.fromkeys(self._table.aliases.get(name, name) for name in names)
            unknown = sorted(set(known) - self._journal.knows(known))
            if unknown:
                raise UnknownMemory(f"no memory has or had the id {shown(unknown[0])}; nothing was forgotten")
            living = [name for name in known if name in self._table.slots]
            merged = (alias for name in living for alias in self._table.get(name).aliases)
            gone[:] = dict.fromkeys([*known, *merged])
            return self._removal("forget", living)

        def purge_all() -> list[Change]:
            for name in gone:
                texts = self._texts_of(name)
                self._telemetry.forget(name, texts)
                purge(self._journal, name, texts, map(text_key, texts))
            return [Change(verb="forget", kind="memory", key=name) for name in gone]

        self._commit(plan, actor=actor, finish=purge_all)
        return known

    def _texts_of(self, memory_id: str) -> list[str]:
        """Give all that a memory ever said, as content and as encoders read it."""
        row: dict[str, Any] = {}
        texts: dict[str, None] = {}
        for change in self._journal.changes("key=? AND kind='memory'", (memory_id,)):
            for side in (change.before, change.after):
                row |= side or {}
                if side:
                    memory = memory_from({**row, "space": DEFAULT_SPACE})
                    texts |= {memory.content: None, memory.text: None}
        return list(texts)
