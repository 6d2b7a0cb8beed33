"""Adding memories."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memlab.changes import Change
from memlab.errors import DuplicateMemory, InvalidMemory, MemlabError, UnknownMemory
from memlab.records import DEFAULT_SPACE, FIELDS, Association, Memory, association_row, memory_row
from memlab.store_items import as_items, choice
from memlab.store_parts import Parting
from memlab.text import check_text, match_key
from memlab.times import now, to_micros, utc

# What add and add_many take; the rest of a memory is the store's business.
GIVEN = tuple(name for name in FIELDS if name not in ("updated_at", "access_count", "accessed_at"))
TIMED = ("happened_at", "created_at", "valid_from", "valid_until")


class Adding(Parting):
    """The verbs that add memories."""

    def add(
        self,
        content: str,
        *,
        space: str | None = None,
        supersedes: str | None = None,
        on_duplicate: str = "keep",
        zone: str | None = None,
        actor: str = "user",
        **fields: Any,
    ) -> str:
        """Store a memory.

        Parameters
        ----------
        content : str
            What is remembered; not blank, of any length.
        space : str, optional
            Name or id of the space; one that isn't there is made. By default ``"default"``.
        supersedes : str, optional
            The id of a memory of the same space that this one makes a thing of the past: the two are
            associated by INVALIDATED_BY in the same step.
        on_duplicate : {"keep", "skip"}, default "keep"
            Whether a memory with the same content in the same space (letter case, composition and blanks at
            the ends aside) is stored again, or its id is returned and nothing is written.
        zone : str, optional
            The zone of times that name none, such as ``"Europe/Oslo"``; by default the store's.
        actor : str, default "user"
            Who writes, for the log.
        **fields : object
            Any other field of :class:`~memlab.records.Memory` that isn't counted by the store: ``memory_id``
            (by default a new UUID), ``type``, ``tags``, ``importance``, ``confidence``, ``metadata``, ``role``,
            ``session_id``, ``sequence``, ``content_type``, ``source``, ``happened_at``, ``created_at``,
            ``valid_from``, ``valid_until``, ``archived``, ``protected``, ``aliases``.

        Returns
        -------
        str
            The memory's id.

        Raises
        ------
        InvalidMemory
            If a field can't be stored; nothing is written.
        DuplicateMemory
            If the id names a memory, or named one before.
        UnknownMemory
            If `supersedes` names none.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> store.add("Ana moved to Oslo.", memory_id="move", tags=["home"])
        'move'
        """
        item = {**fields, "content": content, "zone": zone}
        memories = [self._draft(item, space)]
        embeddings = self._embedder.embed(m.text for m in memories)
        ids: list[str | MemlabError] = []
        self._commit(lambda: self._plan_add(memories, ids, on_duplicate, "raise", supersedes), embeddings, actor)
        return str(ids[0])

    def add_many(
        self,
        items: Any,
        *,
        space: str | None = None,
        on_error: str = "raise",
        on_duplicate: str = "keep",
        zone: str | None = None,
        actor: str = "user",
        progress: bool = True,
    ) -> list[Any]:
        """Store many memories in one transaction.

        Parameters
        ----------
        items : DataFrame or iterable
            Rows, mappings with the arguments of :meth:`add`, :class:`~memlab.records.Memory` objects, or plain
            contents. A frame's missing values count as not given.
        space : str, optional
            The space of items that name none.
        on_error : {"raise", "report"}, default "raise"
            Whether one bad item refuses all, or the valid ones are written and the bad ones reported.
        on_duplicate : {"keep", "skip"}, default "keep"
            As for :meth:`add`; of items with the same content within the call the first counts.
        zone, actor : str, optional
            As for :meth:`add`.
        progress : bool, default True
            Show a bar when encoding takes long.

        Returns
        -------
        list
            The id of each item, in order; with ``"report"`` an error in the place of each bad item.

        Raises
        ------
        InvalidMemory, DuplicateMemory
            With ``"raise"``; the message says which item, and nothing is written.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> len(store.add_many(["Tea at four.", {"content": "Rain.", "importance": 0.1}]))
        2
        """
        choice("on_error", on_error, ("raise", "report"))
        drafts = [self._try_draft(i, item, space, zone, on_error) for i, item in enumerate(as_items(items))]
        good = [draft for draft in drafts if isinstance(draft, Memory)]
        embeddings = self._embedder.embed((m.text for m in good), progress)
        ids: list[str | MemlabError] = []
        self._commit(lambda: self._plan_add(drafts, ids, on_duplicate, on_error, None), embeddings, actor)
        return list(ids)

    def _try_draft(
        self, place: int, item: Any, space: str | None, zone: str | None, on_error: str
    ) -> Memory | MemlabError:
        try:
            if isinstance(item, Memory):
                item = {name: getattr(item, name) for name in GIVEN}
            given = {"content": item} if isinstance(item, str) else item
            if not isinstance(given, Mapping):
                raise InvalidMemory(f"it is a {type(item).__name__}; give a text, a mapping or a Memory")
            given = {**given, "zone": given.get("zone", zone)}
            return self._draft(given, space)
        except MemlabError as error:
            named = type(error)(f"item {place}: {error}")
            if on_error == "raise":
                raise named from error
            return named

    def _draft(self, item: Mapping[str, Any], space: str | None) -> Memory:
        """Check one item and make a memory of it."""
        fields = {name: value for name, value in item.items() if value is not None}
        zone = fields.pop("zone", None) or self._zone
        unknown = sorted(map(str, set(fields) - set(GIVEN)))
        if unknown:
            raise InvalidMemory(f"a memory has no {', '.join(unknown)}; it has {', '.join(GIVEN)}")
        if "content" not in fields:
            raise InvalidMemory("the content is missing; give it as content=")
        for name in TIMED:
            if name in fields:
                fields[name] = utc(fields[name], zone, name)
        moment = now()
        fields.setdefault("memory_id", str(uuid.uuid4()))
        fields.setdefault("created_at", moment)
        name = check_text(fields.get("space", space if space is not None else DEFAULT_SPACE), "space")
        fields["space"] = self._names.get(name, name)
        return Memory(**{**fields, "updated_at": max(moment, fields["created_at"])})

    def _plan_add(
        self,
        drafts: Sequence[Memory | MemlabError],
        ids: list[str | MemlabError],
        on_duplicate: str,
        on_error: str,
        supersedes: str | None,
    ) -> list[Change]:
        choice("on_duplicate", on_duplicate, ("keep", "skip"))
        ids.clear()
        good = [draft for draft in drafts if isinstance(draft, Memory)]
        taken = self._journal.knows(m.memory_id for m in good) | self._table.aliases.keys()
        contents = self._contents() if on_duplicate == "skip" else {}
        changes = self._new_spaces(m.space for m in good)
        made = {c.after["name"]: c.key for c in changes if c.after}
        for place, draft in enumerate(drafts):
            if isinstance(draft, MemlabError):
                ids.append(draft)
                continue
            key = (draft.space, match_key(draft.content.strip()))
            if on_duplicate == "skip" and key in contents:
                ids.append(contents[key])
            elif draft.memory_id in taken:
                which = f"item {place}: " if len(drafts) > 1 else ""
                error = DuplicateMemory(
                    f"{which}the id {draft.memory_id!r} names a memory, or did before; an id is never used again. "
                    "Leave it out, or use store.update"
                )
                if on_error == "raise":
                    raise error
                ids.append(error)
            else:
                row = {**memory_row(draft), "space": made.get(draft.space) or self._space(draft.space).space_id}
                changes.append(Change(verb="add", kind="memory", key=draft.memory_id, after=row))
                ids.append(draft.memory_id)
                taken.add(draft.memory_id)
                contents[key] = draft.memory_id
        if supersedes is not None and changes and isinstance(drafts[0], Memory):
            changes.append(self._supersede(supersedes, drafts[0]))
        return changes if any(c.kind == "memory" for c in changes) else []

    def _contents(self) -> dict[tuple[str, str], str]:
        found: dict[tuple[str, str], str] = {}
        for memory in self._table:
            found.setdefault((memory.space, match_key(memory.content.strip())), memory.memory_id)
        return found

    def _new_spaces(self, names: Iterable[str]) -> list[Change]:
        rows = [
            {"space_id": str(uuid.uuid4()), "name": name, "description": "", "created_at": to_micros(now())}
            for name in dict.fromkeys(names)
            if name not in self._spaces
        ]
        return [Change(verb="add", kind="space", key=str(row["space_id"]), after=row) for row in rows]

    def _supersede(self, old_id: str, memory: Memory) -> Change:
        old = self._table.get(old_id)
        if old.space != memory.space:
            raise UnknownMemory(
                f"no memory of the space {memory.space!r} has the id {old_id!r}, so it can't be superseded"
            )
        moment = now()
        row = association_row(
            Association(
                source=old.memory_id,
                relation="INVALIDATED_BY",
                target=memory.memory_id,
                strength=1.0,
                created_at=moment,
                updated_at=moment,
            )
        )
        return Change(
            verb="associate",
            kind="association",
            key=old.memory_id,
            relation="INVALIDATED_BY",
            other=memory.memory_id,
            after=row,
        )
