"""Associating memories."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pandas as pd

from memlab.changes import Change, difference
from memlab.errors import InvalidArgument, InvalidAssociation, MemlabError, UnknownAssociation, shown
from memlab.records import Association, association_row
from memlab.store_delete import Deleting
from memlab.store_items import as_items, choice, counting
from memlab.text import check_text
from memlab.times import now, utc
from memlab.values import dumps
from memlab.vocabulary import Relation, check_properties, custom_relation

if TYPE_CHECKING:
    import networkx as nx

_PLAIN = ("source", "relation", "target", "strength", "properties", "origin", "created_at", "updated_at")


class Associating(Deleting):
    """The verbs on associations."""

    def associate(
        self,
        source: str,
        relation: str,
        target: str,
        *,
        strength: float = 0.5,
        actor: str = "user",
        **properties: Any,
    ) -> Association:
        """Associate two memories of one space; repeating a triple updates its strength and properties.

        Parameters
        ----------
        source, target : str
            The ids of two memories.
        relation : str
            One that may be authored (see :data:`memlab.vocabulary.RELATIONS`) or one of the store's own. Of
            INVALIDATED_BY and EVOLVED_INTO the older end by event time becomes a thing of the past, on a
            tie the source.
        strength : float, default 0.5
            From 0 to 1.
        actor : str, default "user"
            Who writes, for the log.
        **properties : object
            Those that the relation lists, such as ``reason=``; None counts as not given.

        Returns
        -------
        Association
            As it is now.

        Raises
        ------
        UnknownMemory
            If an end names no memory.
        InvalidAssociation
            If the relation, a property or the strength is wrong, both ends are the same, or they live in
            different spaces.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> rain, tea = store.add_many(["It rained.", "We had tea inside."])
        >>> store.associate(rain, "LEADS_TO", tea, strength=0.9).relation
        'LEADS_TO'
        """
        item = {"source": source, "relation": relation, "target": target, "strength": strength, **properties}
        association: Association = self._associate([item], "raise", actor)[0]
        return association

    def associate_many(self, items: Any, *, on_error: str = "raise", actor: str = "user") -> list[Any]:
        """Associate many pairs in one transaction.

        Parameters
        ----------
        items : DataFrame or iterable
            Mappings with the arguments of :meth:`associate` (properties as keys of their own or together under
            ``properties``), ``(source, relation, target)`` or ``(source, relation, target, strength)``, or
            :class:`~memlab.records.Association`.
        on_error : {"raise", "report"}, default "raise"
            Whether one bad item refuses all, or the valid ones are written and the bad ones reported.
        actor : str, default "user"
            Who writes, for the log.

        Returns
        -------
        list
            Each item's association, in order; with ``"report"`` an error in the place of each bad item.

        Raises
        ------
        UnknownMemory, InvalidAssociation
            With ``"raise"``; the message says which item, and nothing is written.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> a, b, c = store.add_many(["Rain.", "Tea.", "Cake."])
        >>> len(store.associate_many([(a, "LEADS_TO", b), (b, "RELATES_TO", c, 0.8)]))
        2
        """
        choice("on_error", on_error, ("raise", "report"))
        return self._associate(list(as_items(items)), on_error, actor)

    def _associate(self, items: Sequence[Any], on_error: str, actor: str) -> list[Any]:
        results: list[Any] = []

        def plan() -> list[Change]:
            results.clear()
            written: dict[tuple[str, str, str], Association] = {}
            for place, item in enumerate(items):
                try:
                    association = self._association(item)
                    written[association.triple] = association
                    results.append(association)
                except MemlabError as error:
                    named = type(error)(f"item {place}: {error}") if len(items) > 1 else error
                    if on_error == "raise":
                        raise named from error
                    results.append(named)
            return [self._association_change(a) for a in written.values() if self._graph.edges.get(a.triple) is not a]

        self._commit(plan, actor=actor)
        return results

    def _association(self, item: Any) -> Association:
        """Check one item against the store as it is."""
        given = _as_mapping(item)
        source, target = self._found(given["source"]), self._found(given["target"])
        if source.space != target.space:
            raise InvalidAssociation(
                f"{source.memory_id!r} lives in the space {source.space!r} and {target.memory_id!r} in "
                f"{target.space!r}; associations never cross a space"
            )
        relation = self._relation(given["relation"])
        if given.get("origin", "authored") != "authored":
            raise InvalidAssociation(f"its origin is {shown(given['origin'])}; only authored ones can be written")
        old = self._graph.edges.get((source.memory_id, relation.name, target.memory_id))
        moment = now()
        new = Association(
            source=source.memory_id,
            relation=relation.name,
            target=target.memory_id,
            strength=given.get("strength", 0.5),
            properties=check_properties(relation, given.get("properties") or {}),
            created_at=old.created_at if old else utc(given.get("created_at", moment), self._zone, "created_at"),
            updated_at=moment if old is None else max(moment, old.updated_at),
        )
        # Where nothing new is said, it stays as it is and nothing is written.
        return old if old is not None and _says(old) == _says(new) else new

    def _association_change(self, association: Association) -> Change:
        old = self._graph.edges.get(association.triple)
        row = association_row(association)
        before, after = (None, row) if old is None else difference(association_row(old), row)
        source, relation, target = association.triple
        return Change(
            verb="associate",
            kind="association",
            key=source,
            relation=relation,
            other=target,
            before=before,
            after=after,
        )

    def dissociate(self, source: str, relation: str, target: str, *, actor: str = "user") -> Association:
        """Remove an association; ``undo`` brings it back.

        Parameters
        ----------
        source, relation, target : str
            Its triple.
        actor : str, default "user"
            Who writes, for the log.

        Returns
        -------
        Association
            As it was.

        Raises
        ------
        UnknownAssociation
            If there is none.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> a, b = store.add_many(["Rain.", "Tea."])
        >>> _ = store.associate(a, "LEADS_TO", b)
        >>> store.dissociate(a, "LEADS_TO", b).strength, len(store.associations)
        (0.5, 0)
        """
        triple = (source, relation, target)
        if not all(isinstance(part, str) for part in triple):
            raise UnknownAssociation(f"there is no association {' '.join(map(shown, triple))}; the three are texts")
        gone: list[Association] = []

        def plan() -> list[Change]:
            ends = (self._table.aliases.get(end, end) for end in triple[::2])
            gone[:] = [self._graph.get((next(ends), relation, next(ends)))]
            key, _, other = gone[0].triple
            row = association_row(gone[0])
            return [Change(verb="dissociate", kind="association", key=key, relation=relation, other=other, before=row)]

        self._commit(plan, actor=actor)
        return gone[0]

    def neighbours(
        self,
        memory_id: str,
        relations: str | Iterable[str] | None = None,
        *,
        direction: str = "both",
        hops: int = 1,
    ) -> pd.DataFrame:
        """Find the memories that can be reached over associations.

        Parameters
        ----------
        memory_id : str
            Where to start.
        relations : str or iterable of str, optional
            The relations to walk along; by default all.
        direction : {"both", "out", "in"}, default "both"
            Along the associations, against them, or either way.
        hops : int, default 1
            How far.

        Returns
        -------
        DataFrame
            One row a memory, nearest first: ``memory_id, hops, source, relation, target, strength, content``,
            where the triple is the association first walked to it. A memory comes once, the start never.

        Raises
        ------
        UnknownMemory
            If there is none.
        InvalidAssociation
            If a relation isn't known.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> a, b = store.add_many([{"content": "Rain.", "memory_id": "rain"}, {"content": "Tea."}])
        >>> _ = store.associate(a, "LEADS_TO", b)
        >>> store.neighbours(b)["memory_id"].tolist()
        ['rain']
        """
        hops = counting("hops", hops)
        wanted = None if relations is None else _relation_names(relations)
        with self._reading():
            unknown = sorted(set(wanted or ()) - set(self._relations))
            if unknown:
                known = ", ".join(self._relations)
                raise InvalidAssociation(f"{shown(unknown[0])} isn't a relation; there are {known}")
            start = self._found(memory_id).memory_id
            found = self._graph.walk(start, wanted, direction, hops)
            rows = [(there, far, *a.triple, a.strength, self._table.get(there).content) for a, there, far in found]
        return pd.DataFrame(rows, columns=["memory_id", "hops", "source", "relation", "target", "strength", "content"])

    def register_relation(
        self, name: str, label: str | None = None, *, actor: str = "user", **options: Any
    ) -> Relation:
        """Add a relation of your own, kept in the file.

        Parameters
        ----------
        name : str
            Upper case words joined by ``_``, none of memlab's own.
        label : str, optional
            How it reads between source and target; by default the name in lower case.
        actor : str, default "user"
            Who writes, for the log.
        **options : object
            ``colour`` (``#RRGGBB``), ``dash``, ``properties`` and ``weight`` (0 to 1, for spreading in recall).

        Returns
        -------
        Relation
            The relation; registering the same again is fine.

        Raises
        ------
        InvalidAssociation
            If the name is malformed or taken by a relation that differs.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> store.register_relation("CITES", properties=("page",)).name
        'CITES'
        """
        relation = custom_relation(name, label, **options)

        def plan() -> list[Change]:
            old = self._relations.get(name)
            if old == relation:
                return []
            if old is not None:
                raise InvalidAssociation(f"{name} is registered as {old}; a relation's meaning can't change")
            return [Change(verb="register", kind="relation", key=name, after=_relation_row(relation))]

        self._commit(plan, actor=actor)
        return relation

    @property
    def relations(self) -> Mapping[str, Relation]:
        """memlab's relations and the store's own, by name; it can't be written."""
        with self._reading():
            return MappingProxyType(dict(self._relations))

    @property
    def associations(self) -> pd.DataFrame:
        """All associations, as a frame of the reader's own: changing it changes nothing else."""
        with self._reading():
            return self._graph.frame()

    @property
    def graph(self) -> "nx.MultiDiGraph":
        """The memories and associations as a frozen networkx MultiDiGraph, made when asked for.

        Nodes are memory ids with the memory's fields; an edge's key is its relation, its attributes are
        strength, origin and properties. ``store.graph.copy()`` can be changed.
        """
        with self._reading():
            version = (self._table.version, self._graph.version)
            if self._graph_made is None or self._graph_made[0] != version:
                self._graph_made = (version, self._graph.to_networkx(self._table))
            return self._graph_made[1]


def _says(association: Association) -> tuple[float, str]:
    # As JSON, so that True and 1 differ.
    return association.strength, dumps(association.properties)


def _relation_names(relations: Any) -> list[str]:
    if not isinstance(relations, str | Iterable) or isinstance(relations, bytes | Mapping):
        raise InvalidArgument(f"relations is a {type(relations).__name__}; give a relation's name, or a list of names")
    names = [relations] if isinstance(relations, str) else relations
    return [check_text(name, "a relation's name", error=InvalidArgument) for name in names]


def _as_mapping(item: Any) -> dict[str, Any]:
    if isinstance(item, Association):
        return {name: getattr(item, name) for name in _PLAIN}
    if isinstance(item, tuple | list) and len(item) in (3, 4):
        return dict(zip(_PLAIN, item, strict=False))
    if not isinstance(item, Mapping):
        raise InvalidAssociation(
            f"{shown(item)} isn't an association; give (source, relation, target), a mapping or an Association"
        )
    given = {key: value for key, value in item.items() if value is not None}
    missing = [name for name in _PLAIN[:3] if name not in given]
    if missing:
        raise InvalidAssociation(f"{', '.join(missing)} is missing; an association needs source, relation and target")
    extra = {key: given.pop(key) for key in list(given) if key not in _PLAIN}
    properties = given.get("properties", {})
    if not isinstance(properties, Mapping):
        raise InvalidAssociation(f"properties is a {type(properties).__name__}; give a mapping")
    return {**given, "properties": {**properties, **extra}}


def _relation_row(relation: Relation) -> dict[str, Any]:
    definition = {
        "label": relation.label,
        "colour": relation.colour,
        "dash": list(relation.dash),
        "properties": list(relation.properties),
        "weight": relation.weight,
    }
    return {"name": relation.name, "definition": definition}
