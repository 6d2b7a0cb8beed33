"""Associations as a typed multigraph: adjacency for walking, a networkx graph for looking.

An association's triple is its identity: repeating it is an update, and parallel associations of other relations
live side by side.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from memlab.errors import InvalidArgument, UnknownAssociation, shown
from memlab.records import ASSOCIATION_FIELDS, Association, Memory
from memlab.values import FrozenDict
from memlab.vocabulary import RELATIONS

if TYPE_CHECKING:
    import networkx as nx

Triple = tuple[str, str, str]
# What a memory says of itself in a networkx graph.
ATTRIBUTES = (
    *("content", "space", "type", "tags", "importance", "confidence", "role", "session_id"),
    *("happened_at", "archived"),
)
SUPERSEDING = frozenset(name for name, relation in RELATIONS.items() if relation.supersedes)


class Graph:
    """All associations of a store."""

    def __init__(self) -> None:
        self.edges: dict[Triple, Association] = {}
        self.version = 0
        self._superseding: dict[Triple, None] = {}
        # The values of these dicts are unused: a dict is a set that keeps its order.
        self._touching: dict[str, dict[Triple, None]] = {}

    def __len__(self) -> int:
        return len(self.edges)

    def __iter__(self) -> Iterator[Association]:
        return iter(list(self.edges.values()))

    def get(self, triple: Triple) -> Association:
        """Find an association.

        Parameters
        ----------
        triple : tuple of str
            Source, relation and target.

        Returns
        -------
        Association
            The association.

        Raises
        ------
        UnknownAssociation
            If there is none.
        """
        if triple not in self.edges:
            source, relation, target = triple
            raise UnknownAssociation(f"there is no association {shown(source)} -[{relation}]-> {shown(target)}")
        return self.edges[triple]

    def put(self, association: Association) -> None:
        """Add an association, or put it in the place of the one with its triple.

        Parameters
        ----------
        association : Association
            The association.
        """
        triple = association.triple
        self.edges[triple] = association
        if association.relation in SUPERSEDING:
            self._superseding[triple] = None
        for end in (association.source, association.target):
            self._touching.setdefault(end, {})[triple] = None
        self.version += 1

    def remove(self, triple: Triple) -> None:
        """Take an association out.

        Parameters
        ----------
        triple : tuple of str
            Source, relation and target.

        Raises
        ------
        UnknownAssociation
            If there is none.
        """
        association = self.get(triple)
        del self.edges[triple]
        self._superseding.pop(triple, None)
        for end in (association.source, association.target):
            self._touching[end].pop(triple, None)
            if not self._touching[end]:
                del self._touching[end]
        self.version += 1

    @property
    def superseding(self) -> list[Association]:
        """The associations that make one of their ends a thing of the past."""
        return [self.edges[triple] for triple in self._superseding]

    def touching(self, memory_id: str) -> list[Association]:
        """Find a memory's associations, in and out, in the order they came.

        Parameters
        ----------
        memory_id : str
            The memory.

        Returns
        -------
        list of Association
            Each once.
        """
        return [self.edges[triple] for triple in self._touching.get(memory_id, ())]

    def walk(
        self, start: str, relations: Iterable[str] | None, direction: str, hops: int
    ) -> list[tuple[Association, str, int]]:
        """Find what can be reached from a memory, breadth first; ends on any graph.

        Parameters
        ----------
        start : str
            The memory.
        relations : iterable of str, optional
            The relations to walk along; None for all.
        direction : {"out", "in", "both"}
            Along the associations, against them, or both.
        hops : int
            How far.

        Returns
        -------
        list of (Association, str, int)
            For each memory reached, but for the start: the association first walked to it, its id, and
            its distance; nearest first, then in the order the associations came.

        Raises
        ------
        InvalidArgument
            If the direction is another word.
        """
        if not isinstance(direction, str) or direction not in ("out", "in", "both"):
            raise InvalidArgument(f"direction is {shown(direction)}; it is 'out', 'in' or 'both'")
        wanted = None if relations is None else set(relations)
        seen, edge, found = {start}, [start], []
        for distance in range(1, hops + 1):
            if not edge:
                break
            reached = []
            for here in edge:
                for association in self.touching(here):
                    leaves = association.source == here
                    there = association.target if leaves else association.source
                    if there in seen or direction == ("in" if leaves else "out"):
                        continue
                    if wanted is None or association.relation in wanted:
                        seen.add(there)
                        reached.append(there)
                        found.append((association, there, distance))
            edge = reached
        return found

    def frame(self, associations: Iterable[Association] | None = None) -> pd.DataFrame:
        """Give associations as a frame of the reader's own.

        Parameters
        ----------
        associations : iterable of Association, optional
            Which; None for all.

        Returns
        -------
        DataFrame
            One row an association in the order they came.
        """
        chosen = list(self.edges.values() if associations is None else associations)
        columns: dict[str, Any] = {name: [getattr(a, name) for a in chosen] for name in ASSOCIATION_FIELDS}
        for name in ("source", "relation", "target", "origin"):
            columns[name] = pd.array(columns[name], dtype="str")
        for name in ("created_at", "updated_at"):
            columns[name] = pd.DatetimeIndex(columns[name], dtype="datetime64[us, UTC]")
        columns["strength"] = pd.array(columns["strength"], dtype="float64")
        columns["properties"] = pd.Series(columns["properties"], dtype=object)
        return pd.DataFrame(columns)

    def to_networkx(self, memories: Iterable[Memory]) -> "nx.MultiDiGraph":
        """Give the whole as a frozen networkx graph.

        Parameters
        ----------
        memories : iterable of Memory
            The nodes, with or without associations.

        Returns
        -------
        networkx.MultiDiGraph
            Nodes are memory ids with the memory's fields as attributes; an edge's key is its relation, its
            attributes are strength, origin and properties. Frozen, attributes too: ``graph.copy()`` can be changed.
        """
        import networkx as nx

        graph = nx.MultiDiGraph()
        graph.add_nodes_from((m.memory_id, {name: getattr(m, name) for name in ATTRIBUTES}) for m in memories)
        for a in self.edges.values():
            graph.add_edge(
                a.source, a.target, key=a.relation, strength=a.strength, origin=a.origin, properties=a.properties
            )
        _freeze(graph)
        return nx.freeze(graph)


class _Attributes(FrozenDict):
    """Attributes in a graph that its readers share."""

    __slots__ = ()
    _advice = "belongs to a store's graph and can't be changed; change a copy of it: graph.copy()"


def _freeze(graph: "nx.MultiDiGraph") -> None:
    """Seal the dicts that networkx's own freeze leaves open: attributes, and parallel edges by key."""
    graph.graph = _Attributes()
    for node, attributes in graph._node.items():
        graph._node[node] = _Attributes(attributes)
    for source, targets in graph._succ.items():
        for target, parallel in targets.items():
            sealed = _Attributes({key: _Attributes(attributes) for key, attributes in parallel.items()})
            # Both directions of an edge share one dict.
            targets[target] = graph._pred[target][source] = sealed
