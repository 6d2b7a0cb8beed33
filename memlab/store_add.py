"""Adding memories."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from memlab.changes import Change
from memlab.errors import DuplicateMemory, InvalidMemory, MemlabError, UnknownMemory
from memlab.records import DEFAULT_SPACE, FIELDS, Association, Memory, association_row, memory_row
from memlab.store_items import as_items, choice, switch
from memlab.store_parts import Parting
from memlab.store_state import ContentKey, Fresh, content_key
from memlab.text import check_text
from memlab.times import now, to_micros, utc, zone_of

# What the store itself keeps of a memory; all else is for add to take.
KEPT = ("updated_at", "access_count", "accessed_at")
GIVEN = tuple(name for name in FIELDS if name not in KEPT)
TIMED = ("happened_at", "created_at", "valid_from", "valid_until")


@dataclass(slots=True)
class _Addition:
    """One call that adds: what it was given, and what comes of it."""

    drafts: Sequence[Memory | MemlabError]
    skip: bool  # contents that are there already
    report: bool  # errors in the place of ids
    fresh: Fresh
    ids: list[str | MemlabError] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    contents: dict[ContentKey, str] = field(default_factory=dict)  # of this call


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
        self._check_writable()
        choice("on_duplicate", on_duplicate, ("keep", "skip"))
        item = {**fields, "content": content, "zone": self._known_zone(zone)}
        drafts = [self._draft(item, space)]
        fresh = Fresh(self._embedder.embed(m.text for m in drafts))
        work = _Addition(drafts, on_duplicate == "skip", False, fresh)
        self._commit(lambda: self._plan_add(work, supersedes), fresh, actor)
        return str(work.ids[0])

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
            contents. A frame's missing values count as not given. Of a frame such as :attr:`memories`, and of
            Memory objects, what the store itself keeps (``updated_at`` and the access counts) begins anew.
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
        self._check_writable()
        choice("on_error", on_error, ("raise", "report"))
        choice("on_duplicate", on_duplicate, ("keep", "skip"))
        switch("progress", progress)
        self._known_zone(zone)
        if isinstance(items, pd.DataFrame):
            items = items.drop(columns=list(KEPT), errors="ignore")
        drafts = [self._try_draft(i, item, space, zone, on_error) for i, item in enumerate(as_items(items))]
        fresh = Fresh(self._embedder.embed((m.text for m in drafts if isinstance(m, Memory)), progress))
        work = _Addition(drafts, on_duplicate == "skip", on_error == "report", fresh)
        self._commit(lambda: self._plan_add(work, None), fresh, actor)
        return work.ids

    def _known_zone(self, zone: str | None) -> str | None:
        if zone is not None:
            zone_of(zone)
        return zone

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
        zone = self._known_zone(fields.pop("zone", None)) or self._zone
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
        fields["space"] = self._space_given(fields.get("space", space if space is not None else DEFAULT_SPACE))
        return Memory(**{**fields, "updated_at": max(moment, fields["created_at"])})

    def _space_given(self, space: Any) -> str:
        """Give the name of the space that a writer names, by name or id; it may be new."""
        name = check_text(space, "space")
        if name == "*":
            raise InvalidMemory("'*' can't name a space: it stands for all of them; choose another name")
        return self._names.get(name, name)

    def _plan_add(self, work: _Addition, supersedes: str | None) -> list[Change]:
        good = [draft for draft in work.drafts if isinstance(draft, Memory)]
        work.taken = self._journal.knows(m.memory_id for m in good)
        new = self._new_spaces(m.space for m in good)
        spaces = {c.after["name"]: c.key for c in new if c.after}
        for place, draft in enumerate(work.drafts):
            work.ids.append(draft if isinstance(draft, MemlabError) else self._admit(work, place, draft, spaces))
        if supersedes is not None:
            self._supersede(work, supersedes, good[0])
        used = {c.after["space"] for c in work.changes if c.after and c.kind == "memory"}
        return [*(c for c in new if c.key in used), *work.changes]

    def _admit(self, work: _Addition, place: int, draft: Memory, spaces: Mapping[str, str]) -> str | MemlabError:
        """Take in one draft as a change; give its id, or what is wrong with it."""
        key = content_key(draft) if work.skip else ("", "")
        found = (self._same_content(key) or work.contents.get(key)) if work.skip else None
        if found is not None:
            return found
        try:
            self._refuse_taken(draft, work.taken)
        except MemlabError as error:
            named = type(error)(f"item {place}: {error}") if len(work.drafts) > 1 else error
            if not work.report:
                raise named from error
            return named
        space_id = spaces.get(draft.space) or self._space(draft.space).space_id
        row = {**memory_row(draft), "space": space_id}
        work.changes.append(Change(verb="add", kind="memory", key=draft.memory_id, after=row))
        work.taken.update((draft.memory_id, *draft.aliases))
        work.contents[key] = draft.memory_id
        if draft.space in spaces or draft.space in self._spaces:  # else it was called by an id just now given
            work.fresh.memories[draft.memory_id] = draft
        return draft.memory_id

    def _refuse_taken(self, draft: Memory, taken: set[str]) -> None:
        if draft.memory_id in taken or draft.memory_id in self._table.aliases:
            raise DuplicateMemory(
                f"the id {draft.memory_id!r} names a memory, or did before; an id is never used again. "
                "Leave it out, or use store.update"
            )
        self._refuse_aliases(draft, taken)

    def _refuse_aliases(self, memory: Memory, taken: Iterable[str] = ()) -> None:
        """Refuse aliases that name another memory."""
        for alias in memory.aliases:
            owner = self._table.aliases.get(alias, memory.memory_id)
            if alias in self._table.slots or alias in taken or owner != memory.memory_id:
                raise DuplicateMemory(
                    f"the alias {alias!r} names another memory; an alias is the id of one that was merged and deleted"
                )

    def _new_spaces(self, names: Iterable[str]) -> list[Change]:
        rows = [
            {"space_id": str(uuid.uuid4()), "name": name, "description": "", "created_at": to_micros(now())}
            for name in dict.fromkeys(names)
            if name not in self._spaces
        ]
        return [Change(verb="add", kind="space", key=str(row["space_id"]), after=row) for row in rows]

    def _supersede(self, work: _Addition, old_id: str, memory: Memory) -> None:
        """Make an older memory a thing of the past, if the new one is written."""
        old = self._found(old_id)
        if old.space != memory.space:
            raise UnknownMemory(
                f"no memory of the space {memory.space!r} has the id {old_id!r}, so it can't be superseded"
            )
        if memory.event_time < old.event_time:
            raise InvalidMemory(
                f"it happened at {memory.event_time.isoformat()}, before {old_id!r} ({old.event_time.isoformat()}), "
                "so it can't supersede that: give happened_at, or associate the two without supersedes="
            )
        if not work.changes:
            return
        moment = now()
        triple = (old.memory_id, "INVALIDATED_BY", memory.memory_id)
        source, relation, target = triple
        association = Association(
            source=source, relation=relation, target=target, strength=1.0, created_at=moment, updated_at=moment
        )
        row = association_row(association)
        change = Change(verb="associate", kind="association", key=source, relation=relation, other=target, after=row)
        work.changes.append(change)
