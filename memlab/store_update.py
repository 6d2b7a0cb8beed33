"""Changing memories."""

from collections.abc import Mapping, Sequence
from typing import Any

from memlab.changes import Change, difference
from memlab.errors import InvalidMemory, MemlabError, shown
from memlab.records import STORED, Memory, memory_row
from memlab.store_add import TIMED, Adding
from memlab.store_items import as_items, changed, choice, merge, switch
from memlab.store_state import Fresh
from memlab.times import now, utc
from memlab.values import dumps

CHANGEABLE = tuple(name for name in STORED if name not in ("memory_id", "created_at", "updated_at"))


class Updating(Adding):
    """The verbs that change memories."""

    def update(self, memory_id: str, *, zone: str | None = None, actor: str = "user", **fields: Any) -> Memory:
        """Change what is named of a memory, and nothing else.

        Parameters
        ----------
        memory_id : str
            Which memory.
        zone : str, optional
            The zone of times that name none; by default the store's.
        actor : str, default "user"
            Who writes, for the log.
        **fields : object
            Fields of :class:`~memlab.records.Memory` with their new values. None empties an optional field, tags
            and aliases too.
            ``metadata`` is merged into what is there (RFC 7386: None deletes a key, nested objects are merged,
            lists are replaced); all other fields, tags too, are replaced.

        Returns
        -------
        Memory
            As it is now; ``updated_at`` moves only if something changed.

        Raises
        ------
        UnknownMemory
            If there is none.
        InvalidMemory
            If a field can't be stored or isn't for changing (``memory_id``, ``created_at``, ``updated_at`` and
            the access counts).

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> tea = store.add("Tea at four.", metadata={"kind": "green"})
        >>> store.update(tea, metadata={"cups": 2}).metadata
        {'kind': 'green', 'cups': 2}
        """
        self.update_many([{**fields, "memory_id": memory_id, "zone": zone}], actor=actor, progress=False)
        with self._reading():
            return self._counted(self._table.get(memory_id))

    def update_many(
        self, items: Any, *, on_error: str = "raise", actor: str = "user", progress: bool = True
    ) -> list[Any]:
        """Change many memories in one transaction.

        Parameters
        ----------
        items : DataFrame or iterable of mapping
            Each with ``memory_id`` and the fields to change, as :meth:`update` takes them. A frame's missing
            values count as not named.
        on_error : {"raise", "report"}, default "raise"
            Whether one bad item refuses all, or the valid ones are written and the bad ones reported.
        actor : str, default "user"
            Who writes, for the log.
        progress : bool, default True
            Show a bar when encoding takes long.

        Returns
        -------
        list
            The id of each item, in order; with ``"report"`` an error in the place of each bad item.

        Raises
        ------
        UnknownMemory, InvalidMemory
            With ``"raise"``; nothing is written.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> a, b = store.add_many(["Tea.", "Rain."])
        >>> len(store.update_many([{"memory_id": a, "importance": 1}, {"memory_id": b, "tags": ["sky"]}]))
        2
        """
        self._check_writable()
        choice("on_error", on_error, ("raise", "report"))
        switch("progress", progress)
        patches = list(as_items(items))
        with self._reading():
            _, expected = self._patched(patches, "report")
        fresh = Fresh(self._embedder.embed((m.text for m in expected.values()), progress))
        ids: list[Any] = []

        def plan() -> list[Change]:
            found, memories = self._patched(patches, on_error)
            ids[:] = found
            fresh.memories.update(memories)
            new = self._new_spaces(m.space for m in memories.values())
            made = {c.after["name"]: c.key for c in new if c.after}
            return [*new, *(self._update_change(m, made) for m in memories.values())]

        self._commit(plan, fresh, actor)
        return ids

    def _update_change(self, memory: Memory, made: Mapping[str, str]) -> Change:
        space_id = made.get(memory.space) or self._space(memory.space).space_id
        before, after = difference(self._row(memory.memory_id), {**memory_row(memory), "space": space_id})
        return Change(verb="update", kind="memory", key=memory.memory_id, before=before, after=after)

    def _patched(self, patches: Sequence[Any], on_error: str) -> tuple[list[Any], dict[str, Memory]]:
        """Apply patches to the memories as they are now; leave out those that change nothing."""
        ids: list[Any] = []
        new: dict[str, Memory] = {}
        for place, patch in enumerate(patches):
            try:
                memory = self._patch(patch, new)
            except MemlabError as error:
                named = type(error)(f"item {place}: {error}") if len(patches) > 1 else error
                if on_error == "raise":
                    raise named from error
                ids.append(named)
                continue
            ids.append(memory.memory_id)
            # An earlier patch of the same memory may be taken back by this one.
            new.pop(memory.memory_id, None)
            old = self._table.get(memory.memory_id)
            # Compared as JSON too, where True and 1 differ.
            if memory != old or dumps(memory.metadata) != dumps(old.metadata):
                new[memory.memory_id] = memory
        moment = now()
        return ids, {key: changed(m, updated_at=max(moment, m.created_at, m.updated_at)) for key, m in new.items()}

    def _patch(self, patch: Any, others: Mapping[str, Memory]) -> Memory:
        if not isinstance(patch, Mapping) or "memory_id" not in patch:
            raise InvalidMemory(f"an update needs memory_id and the fields to change; found {shown(patch)}")
        fields = dict(patch)
        zone = self._known_zone(fields.pop("zone", None)) or self._zone
        memory = self._found(fields.pop("memory_id"))
        memory = others.get(memory.memory_id, memory)
        fixed = sorted(map(str, set(fields) - set(CHANGEABLE)))
        if fixed:
            raise InvalidMemory(f"{', '.join(fixed)} can't be changed; these can: {', '.join(CHANGEABLE)}")
        for name in TIMED:
            if fields.get(name) is not None:
                fields[name] = utc(fields[name], zone, name)
        if "metadata" in fields:
            fields["metadata"] = merge(memory.metadata, fields["metadata"])
        for name in ("tags", "aliases"):
            if name in fields and fields[name] is None:
                fields[name] = ()
        if fields.get("space") is not None:
            fields["space"] = self._space_given(fields["space"])
        if fields.get("space", memory.space) != memory.space and self._graph.touching(memory.memory_id):
            raise InvalidMemory(
                f"{memory.memory_id!r} has associations, which can't cross into another space; dissociate it first"
            )
        patched = changed(memory, **fields)
        if "aliases" in fields:
            self._refuse_aliases(
                patched, {a for o in others.values() if o.memory_id != patched.memory_id for a in o.aliases}
            )
        return patched
