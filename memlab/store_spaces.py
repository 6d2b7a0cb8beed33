"""``store.spaces``: the walls between memories."""

import uuid
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from memlab.changes import Change
from memlab.errors import InvalidArgument, shown
from memlab.markup import table
from memlab.records import Space
from memlab.store_items import switch
from memlab.store_state import space_row
from memlab.text import check_text
from memlab.times import now

if TYPE_CHECKING:
    from memlab.store_care import Caring

# Inside the class, `list` is its own verb.
Changes = list[Change]
Ids = list[str]
Made = list[Space]


class Spaces:
    """The spaces of a store.

    Parameters
    ----------
    store : MemoryStore
        The store.
    """

    def __init__(self, store: "Caring") -> None:
        self._store = store

    def list(self) -> pd.DataFrame:
        """Give all spaces, in the order they were made.

        Returns
        -------
        DataFrame
            ``name, space_id, description, created_at, memories``.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> _ = store.add_many(["Tea.", {"content": "Rain.", "space": "weather"}])
        >>> store.spaces.list()[["name", "memories"]].values.tolist()
        [['default', 1], ['weather', 1]]
        """
        with self._store._reading():
            counts = Counter(memory.space for memory in self._store._table)
            rows = [(s.name, s.space_id, s.description, s.created_at, counts[s.name]) for s in self._all()]
        frame = pd.DataFrame(rows, columns=["name", "space_id", "description", "created_at", "memories"])
        texts = dict.fromkeys(("name", "space_id", "description"), "str")
        return frame.astype({**texts, "created_at": "datetime64[us, UTC]", "memories": "int64"})

    def _all(self) -> tuple[Space, ...]:
        with self._store._reading():
            return tuple(sorted(self._store._spaces.values(), key=lambda s: (s.created_at or now(), s.name)))

    def create(self, name: str, description: str = "", *, actor: str = "user") -> Space:
        """Make a space.

        Parameters
        ----------
        name : str
            A new name; upper and lower case differ.
        description : str, default ""
            What it is for.
        actor : str, default "user"
            Who makes it, for the log.

        Returns
        -------
        Space
            The space.

        Raises
        ------
        InvalidArgument
            If the name is taken or blank, or is ``"*"``.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> store.spaces.create("lab", "What the lab knows.").name
        'lab'
        """
        moment = now()
        space = Space(str(uuid.uuid4()), _name(name), _text(description), moment)

        def plan() -> Changes:
            self._refuse_taken(name)
            return [Change(verb="add", kind="space", key=space.space_id, after=space_row(space))]

        self._store._commit(plan, actor=actor)
        return space

    def rename(self, space: str, name: str, *, actor: str = "user") -> Space:
        """Give a space another name; its memories, associations and id stay.

        Parameters
        ----------
        space : str
            Name or id.
        name : str
            The new name.
        actor : str, default "user"
            Who does it, for the log.

        Returns
        -------
        Space
            The space as it is now.

        Raises
        ------
        UnknownSpace, InvalidArgument
            If there is no such space, or the name is taken or blank, or is ``"*"``.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> tea = store.add("Tea.", space="kitchen")
        >>> store.spaces.rename("kitchen", "tearoom").name, store.get(tea).space
        ('tearoom', 'tearoom')
        """
        _name(name)
        return self._change(space, {"name": name}, actor)

    def describe(self, space: str, description: str | None = None, *, actor: str = "user") -> Space:
        """Give a space, or write its description.

        Parameters
        ----------
        space : str
            Name or id.
        description : str, optional
            The new description; left out, nothing is written.
        actor : str, default "user"
            Who does it, for the log.

        Returns
        -------
        Space
            The space as it is now.

        Raises
        ------
        UnknownSpace
            If there is no such space.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> _ = store.spaces.create("lab")
        >>> store.spaces.describe("lab", "What the lab knows.").description
        'What the lab knows.'
        """
        return self._change(space, {} if description is None else {"description": _text(description)}, actor)

    def delete(self, space: str, *, dry_run: bool = False, actor: str = "user") -> Ids:
        """Delete a space with all of its memories and associations; ``undo`` brings them back.

        Parameters
        ----------
        space : str
            Name or id.
        dry_run : bool, default False
            Only say which memories would go.
        actor : str, default "user"
            Who deletes, for the log.

        Returns
        -------
        list of str
            The ids of the memories.

        Raises
        ------
        UnknownSpace
            If there is no such space.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> _ = store.add("Tea.", space="kitchen")
        >>> len(store.spaces.delete("kitchen")), "kitchen" in store.spaces
        (1, False)
        """
        store = self._store
        switch("dry_run", dry_run)
        ids: Ids = []

        def plan() -> Changes:
            found = store._space(space)
            ids[:] = [m.memory_id for m in store._table if m.space == found.name]
            return [
                *store._removal("delete", ids),
                Change(verb="delete", kind="space", key=found.space_id, before=space_row(found)),
            ]

        if dry_run:
            with store._reading():
                plan()
        else:
            store._commit(plan, actor=actor)
        return ids

    def _change(self, space: str, fields: dict[str, str], actor: str) -> Space:
        made: Made = []

        def plan() -> Changes:
            found = self._store._space(space)
            name, description = fields.get("name", found.name), fields.get("description", found.description)
            made[:] = [replace(found, name=name, description=description)]
            if made[0] == found:
                return []
            if "name" in fields:
                self._refuse_taken(fields["name"])
            before = {name: getattr(found, name) for name in fields}
            return [Change(verb="update", kind="space", key=found.space_id, before=before, after=fields)]

        if fields:
            self._store._commit(plan, actor=actor)
        else:
            with self._store._reading():
                plan()
        return made[0]

    def _refuse_taken(self, name: str) -> None:
        if name in self._store._spaces or name in self._store._names:
            raise InvalidArgument(f"{shown(name)} is the name or id of a space; choose another name")

    def __len__(self) -> int:
        return len(self._all())

    def __contains__(self, space: object) -> bool:
        with self._store._reading():
            return isinstance(space, str) and (space in self._store._spaces or space in self._store._names)

    def __repr__(self) -> str:
        return f"Spaces({', '.join(repr(space.name) for space in self._all())})"

    def _repr_html_(self) -> str:
        frame = self.list()
        return table(tuple(frame.columns), frame.astype(str).to_numpy().tolist(), caption=f"{len(frame)} spaces")


def _name(name: str) -> str:
    checked = check_text(name, "a space's name", error=InvalidArgument)
    if checked == "*":
        raise InvalidArgument("'*' can't name a space: it stands for all of them; choose another name")
    return checked


def _text(description: str) -> str:
    return check_text(description, "a description", allow_blank=True, error=InvalidArgument)
