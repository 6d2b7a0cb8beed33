"""The graph: parallel associations by triple, walks that end, and copies that lead nowhere back."""

from datetime import UTC, datetime
from typing import Any

import networkx as nx
import oracles
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
from strategies import associations

from memlab.errors import InvalidArgument, UnknownAssociation
from memlab.graph import Graph
from memlab.records import ASSOCIATION_FIELDS, Association, Memory

T0 = datetime(2024, 5, 8, 12, tzinfo=UTC)
RELATIONS = ["RELATES_TO", "LEADS_TO", "INVALIDATED_BY", "PART_OF"]
# An association to put, or the place of one to remove.
OPERATIONS = st.lists(st.one_of(associations(), associations(), st.integers(0, 9)), max_size=15)


def edge(source: str, target: str, relation: str = "LEADS_TO", **fields: Any) -> Association:
    return Association(source=source, relation=relation, target=target, created_at=T0, updated_at=T0, **fields)


def memory(memory_id: str, **fields: Any) -> Memory:
    return Memory(memory_id=memory_id, content=f"About {memory_id}.", created_at=T0, updated_at=T0, **fields)


def graph_of(*edges: Association) -> Graph:
    graph = Graph()
    for one in edges:
        graph.put(one)
    return graph


def play(operations: list[Association | int]) -> tuple[Graph, dict[tuple[str, str, str], Association]]:
    """Do the operations to a graph and to a dict."""
    graph: Graph = Graph()
    twin: dict[tuple[str, str, str], Association] = {}
    for one in operations:
        if isinstance(one, Association):
            graph.put(one)
            twin[one.triple] = one
        elif twin:
            gone = list(twin)[one % len(twin)]
            graph.remove(gone)
            del twin[gone]
    return graph, twin


@given(OPERATIONS)
def test_the_graph_is_a_dict_by_triple_after_any_edits(operations: list[Association | int]) -> None:
    graph, twin = play(operations)
    assert list(graph) == list(twin.values())
    assert len(graph) == len(twin)
    assert {a.triple for a in graph.superseding} == {t for t in twin if t[1] == "INVALIDATED_BY"}
    for end in "abcde":
        assert {a.triple for a in graph.touching(end)} == {t for t in twin if end in (t[0], t[2])}
    for triple, one in twin.items():
        assert graph.get(triple) == one


@given(
    OPERATIONS,
    st.sampled_from("abcdef"),
    st.one_of(st.none(), st.lists(st.sampled_from(RELATIONS), max_size=2)),
    st.sampled_from(["out", "in", "both"]),
    st.integers(0, 4),
)
def test_a_walk_reaches_what_the_slow_twin_reaches_each_once_and_nearest_first(
    operations: list[Association | int], start: str, relations: list[str] | None, way: str, hops: int
) -> None:
    graph, twin = play(operations)
    found = graph.walk(start, relations, way, hops)
    expected = oracles.reached(list(twin.values()), start, relations, way, hops)
    assert {there: far for _, there, far in found} == expected
    assert len(found) == len(expected)
    assert [far for _, _, far in found] == sorted(far for _, _, far in found)
    for one, there, far in found:
        here = one.source if there == one.target else one.target
        assert there in (one.source, one.target)
        assert expected.get(here, 0) == far - 1


def test_a_walk_round_a_cycle_ends() -> None:
    graph = graph_of(edge("a", "b"), edge("b", "c"), edge("c", "a"), edge("b", "a", "RELATES_TO"))
    assert [(there, far) for _, there, far in graph.walk("a", None, "out", 1000)] == [("b", 1), ("c", 2)]
    assert [there for _, there, _ in graph.walk("a", None, "in", 1000)] == ["c", "b"]


def test_a_long_chain_is_walked_without_recursion() -> None:
    graph = graph_of(*(edge(str(n), str(n + 1)) for n in range(5000)))
    assert len(graph.walk("0", None, "out", 5000)) == 5000


def test_a_walk_of_a_memory_without_associations_is_empty() -> None:
    assert Graph().walk("ghost", None, "both", 3) == []
    assert Graph().touching("ghost") == []


@pytest.mark.parametrize("direction", ["forward", "", None, "OUT"])
def test_an_unknown_direction_is_refused(direction: Any) -> None:
    with pytest.raises(InvalidArgument, match="it is 'out', 'in' or 'both'"):
        Graph().walk("a", None, direction, 1)


def test_parallel_associations_live_side_by_side_and_repeating_one_updates_it() -> None:
    graph = graph_of(edge("a", "b"), edge("a", "b", "PART_OF"), edge("b", "a"), edge("a", "b", strength=0.9))
    assert len(graph) == 3
    assert graph.get(("a", "LEADS_TO", "b")).strength == 0.9
    graph.remove(("a", "LEADS_TO", "b"))
    assert [a.triple for a in graph.touching("a")] == [("a", "PART_OF", "b"), ("b", "LEADS_TO", "a")]


def test_an_unknown_association_is_refused_by_its_triple() -> None:
    graph = graph_of(edge("a", "b"))
    for look in (graph.get, graph.remove):
        with pytest.raises(UnknownAssociation, match=r"no association 'b' -\[LEADS_TO\]-> 'a'"):
            look(("b", "LEADS_TO", "a"))
    assert (len(graph), graph.version) == (1, 1)


def test_the_version_moves_with_every_edit() -> None:
    graph = graph_of(edge("a", "b"), edge("a", "b"))
    graph.remove(("a", "LEADS_TO", "b"))
    assert graph.version == 3


def test_the_frame_has_the_same_columns_and_types_empty_or_full() -> None:
    one = edge("a", "猫", "PART_OF", properties={"role": "lead"})
    full, empty = graph_of(one).frame(), Graph().frame()
    assert tuple(full.columns) == tuple(empty.columns) == ASSOCIATION_FIELDS
    assert {name: str(dtype) for name, dtype in empty.dtypes.items()} == {
        **dict.fromkeys(["source", "relation", "target", "origin"], "str"),
        "strength": "float64",
        "properties": "object",
        **dict.fromkeys(["created_at", "updated_at"], "datetime64[us, UTC]"),
    }
    assert full.dtypes.equals(empty.dtypes)
    assert full.iloc[0].to_dict() == {name: getattr(one, name) for name in ASSOCIATION_FIELDS}
    assert_frame_equal(graph_of(one, edge("a", "b")).frame([one]), full)


def test_nothing_done_to_a_frame_reaches_the_graph() -> None:
    graph = graph_of(edge("a", "b", "PART_OF", properties={"role": "lead"}), edge("b", "c"))
    expected, mine = graph.frame(), graph.frame()
    mine.loc[0, "source"] = "x"
    mine["strength"] = 0.0
    with pytest.raises(TypeError):
        mine["properties"][0]["role"] = "x"
    assert_frame_equal(graph.frame(), expected)


# ---- networkx ----

MEMORIES = (memory("a", type="Context", tags=["x"], happened_at=T0, metadata={"k": 1}), memory("b"), memory("alone"))


def drawn() -> Any:
    properties = {"role": "lead"}
    graph = graph_of(edge("a", "b"), edge("a", "b", "PART_OF", strength=0.9, properties=properties), edge("b", "a"))
    return graph.to_networkx(MEMORIES)


def test_the_networkx_graph_has_memories_as_nodes_and_associations_as_keyed_edges() -> None:
    graph = drawn()
    assert type(graph) is nx.MultiDiGraph
    assert list(graph) == ["a", "b", "alone"]
    assert graph.nodes["a"] == {
        "content": "About a.",
        "space": "default",
        "type": "Context",
        "tags": ("x",),
        "importance": 0.5,
        "confidence": 1.0,
        "role": None,
        "session_id": None,
        "happened_at": T0,
        "archived": False,
    }
    assert set(graph.edges(keys=True)) == {("a", "b", "LEADS_TO"), ("a", "b", "PART_OF"), ("b", "a", "LEADS_TO")}
    assert graph.edges["a", "b", "PART_OF"] == {"strength": 0.9, "origin": "authored", "properties": {"role": "lead"}}
    assert sorted(graph.pred["b"]["a"]) == ["LEADS_TO", "PART_OF"]
    assert graph.degree("alone") == 0
    assert len(Graph().to_networkx([])) == 0


@pytest.mark.parametrize(
    "write",
    [
        lambda g: g.add_node("x"),
        lambda g: g.add_edge("a", "alone"),
        lambda g: g.remove_node("a"),
        lambda g: g.remove_edge("a", "b", "LEADS_TO"),
        lambda g: g.clear(),
        lambda g: g.nodes["a"].update(content="x"),
        lambda g: g.nodes["a"].__setitem__("colour", "red"),
        lambda g: g.edges["a", "b", "PART_OF"].__setitem__("strength", 0),
        lambda g: g["a"]["b"]["PART_OF"].clear(),
        lambda g: g.get_edge_data("a", "b").pop("PART_OF"),
        lambda g: g.pred["b"]["a"]["PART_OF"].update(strength=0),
        lambda g: g.edges["a", "b", "PART_OF"]["properties"].update(role="x"),
        lambda g: g.graph.update(name="x"),
        lambda g: nx.set_node_attributes(g, 1, "x"),
        lambda g: nx.set_edge_attributes(g, 1, "x"),
    ],
)
def test_a_graph_that_is_handed_out_cannot_be_changed(write: Any) -> None:
    graph = drawn()
    with pytest.raises((TypeError, nx.NetworkXError)):
        write(graph)
    assert nx.utils.graphs_equal(graph, drawn())


def test_a_copy_of_the_graph_can_be_changed() -> None:
    graph = drawn()
    for copy in (graph.copy(), graph.to_undirected(), nx.MultiDiGraph(graph), graph.reverse(copy=True)):
        copy.add_node("x")
        copy.nodes["a"]["colour"] = "red"
        first = next(iter(copy.edges(keys=True)))
        copy.edges[first]["strength"] = 0
        copy.graph["name"] = "mine"
        copy.remove_edge(*first)
    assert nx.utils.graphs_equal(graph, drawn())


def test_networkx_reads_the_graph_as_any_other() -> None:
    graph = drawn()
    assert nx.is_weakly_connected(graph.subgraph(["a", "b"]))
    assert nx.shortest_path(graph, "a", "b") == ["a", "b"]
    assert nx.pagerank(graph, weight="strength").keys() == {"a", "b", "alone"}
    assert list(nx.ego_graph(graph, "a")) == ["a", "b"]
    assert isinstance(nx.to_pandas_edgelist(graph), pd.DataFrame)
    with pytest.raises(TypeError, match=r"graph\.copy\(\)"):
        graph.nodes["a"]["x"] = 1
