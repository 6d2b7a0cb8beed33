"""Kind Q: the structure of the graph.

Law: a typed, directed multigraph. Both ends of an association live, in one space, and aren't the same; relation and
direction are part of its identity; every walk ends, on any shape of graph, and comes by each memory once.
"""

import numpy as np
import pytest
from worlds import METHODS, diary, found, state

from memlab.encoders import HashEncoder
from memlab.errors import InvalidArgument, InvalidAssociation, MemlabError, UnknownMemory
from memlab.store import MemoryStore


def linked(count: int, *pairs: tuple[int, int], relation: str = "LEADS_TO") -> MemoryStore:
    """A store of m0, m1, … with associations between them."""
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    store.add_many([{"content": f"fact {i}", "memory_id": f"m{i}"} for i in range(count)], progress=False)
    store.associate_many([(f"m{a}", relation, f"m{b}") for a, b in pairs])
    return store


SHAPES = {
    "no association": (),
    "Q14 cycle": ((0, 1), (1, 2), (2, 0)),
    "both ways": ((0, 1), (1, 0)),
    "figure of eight": ((0, 1), (1, 0), (0, 2), (2, 3), (3, 0)),
    "diamond": ((0, 1), (0, 2), (1, 3), (2, 3)),
    "all to all": tuple((a, b) for a in range(5) for b in range(5) if a != b),
}


@pytest.mark.parametrize("pairs", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("direction", ["out", "in", "both"])
@pytest.mark.parametrize("hops", [1, 10, 10**9, 2**70])
def test_every_walk_ends_and_comes_by_each_once(pairs: tuple[tuple[int, int], ...], direction: str, hops: int) -> None:
    walk = linked(5, *pairs).neighbours("m0", direction=direction, hops=hops)["memory_id"].tolist()
    assert len(walk) == len(set(walk)) and "m0" not in walk
    if hops > 1 and pairs:
        assert set(walk) <= {f"m{i}" for pair in pairs for i in pair} - {"m0"}


@pytest.mark.parametrize("relation", ["LEADS_TO", "INVALIDATED_BY", "EVOLVED_INTO"])
@pytest.mark.parametrize("pairs", SHAPES.values(), ids=SHAPES)
def test_recall_ends_on_any_shape_and_loses_nobody_in_history(pairs: object, relation: str) -> None:
    store = linked(5, *pairs, relation=relation)  # type: ignore[misc]
    for method in METHODS:
        assert len(found(store, "fact", k=9, method=method, state="history")) == 5
        assert found(store, "fact", k=9, method=method)  # of a cycle of supersessions somebody is left


@pytest.mark.parametrize("method", METHODS)
def test_q11_q12_a_hit_without_associations_is_given_as_it_is(method: str) -> None:
    store = linked(3, (0, 1))
    assert found(store, "fact 2", k=1, method=method) == ["m2"]
    alone = MemoryStore(encoder=HashEncoder(dimension=16))
    tea = alone.add("tea")
    assert found(alone, "tea", method=method) == [tea]


def test_q06_parallel_relations_live_side_by_side() -> None:
    store = linked(2, (0, 1))
    for relation in ("OCCURRED_BEFORE", "RELATES_TO", "CONTRADICTS"):
        store.associate("m0", relation, "m1")
    assert len(store.associations) == store.graph.number_of_edges("m0", "m1") == 4
    store.dissociate("m0", "RELATES_TO", "m1")
    assert set(store.associations["relation"]) == {"LEADS_TO", "OCCURRED_BEFORE", "CONTRADICTS"}
    assert store.neighbours("m0")["memory_id"].tolist() == ["m1"]


def test_q08_direction_is_kept_everywhere() -> None:
    store = linked(2, (0, 1))
    assert list(store.graph.edges(keys=True)) == [("m0", "m1", "LEADS_TO")]
    assert store.neighbours("m0", direction="in").empty and store.neighbours("m1", direction="out").empty
    store.associate("m1", "LEADS_TO", "m0")
    assert len(store.associations) == 2
    store.dissociate("m0", "LEADS_TO", "m1")
    assert store.associations[["source", "target"]].to_numpy().tolist() == [["m1", "m0"]]


def test_repeating_a_triple_updates_it() -> None:
    store = linked(2, (0, 1))
    for strength in (0.1, 0.9):
        store.associate("m0", "LEADS_TO", "m1", strength=strength)
    assert store.associations["strength"].tolist() == [0.9]


@pytest.mark.parametrize("verb", ["delete", "forget"])
def test_q02_every_end_resolves_after_deletes(verb: str) -> None:
    store = linked(6, *((i, j) for i in range(6) for j in range(6) if i != j))
    for gone in ("m3", "m0"):
        getattr(store, verb)(gone)
        frame = store.associations
        assert set(frame["source"]) | set(frame["target"]) == {m.memory_id for m in store}
        assert set(store.graph.nodes) == {m.memory_id for m in store}
    assert len(store.associations) == 12 and store.check().ok
    with pytest.raises(UnknownMemory):
        store.associate("m1", "LEADS_TO", "m3")


BAD = {
    "itself": lambda s: s.associate("move", "LEADS_TO", "move"),
    "Q10 int id": lambda s: s.associate(1, "LEADS_TO", "move"),
    "unknown relation": lambda s: s.associate("move", "CAUSES", "garden"),
    "relation in small letters": lambda s: s.associate("move", "leads_to", "garden"),
    "derived relation": lambda s: s.associate("move", "SIMILAR_TO", "garden"),
    "no relation": lambda s: s.associate("move", None, "garden"),
    "foreign property": lambda s: s.associate("move", "LEADS_TO", "garden", reason="x"),
    "property of a wrong kind": lambda s: s.associate("move", "PART_OF", "garden", role=5),
    "strength above 1": lambda s: s.associate("move", "LEADS_TO", "garden", strength=1.5),
    "negative strength": lambda s: s.associate("move", "LEADS_TO", "garden", strength=-0.1),
    "NaN strength": lambda s: s.associate("move", "LEADS_TO", "garden", strength=np.nan),
    "text strength": lambda s: s.associate("move", "LEADS_TO", "garden", strength="strong"),
    "derived origin": lambda s: s.associate_many(
        [{"source": "move", "relation": "LEADS_TO", "target": "garden", "origin": "derived"}]
    ),
    "Q15 one bad end of many": lambda s: s.associate_many([("garden", "LEADS_TO", "move"), ("move", "LEADS_TO", "9")]),
    "a text for many": lambda s: s.associate_many("move"),
    "too long a tuple": lambda s: s.associate_many([("move", "LEADS_TO", "garden", 0.5, {})]),
    "unknown direction": lambda s: s.neighbours("move", direction="sideways"),
    "unknown relation of a walk": lambda s: s.neighbours("move", "CAUSES"),
    "no relation of a walk": lambda s: s.neighbours("move", 5),
    "Q17 superseding a ghost": lambda s: s.add("x", supersedes="ghost"),
    "superseding what came later": lambda s: s.add("x", supersedes="move", happened_at="1990-01-01T00:00Z"),
}


@pytest.mark.parametrize("call", BAD.values(), ids=BAD)
def test_what_would_bend_the_graph_is_refused(call: object) -> None:
    store = diary(encoder=None)
    before = state(store)
    with pytest.raises(MemlabError):
        call(store)  # type: ignore[operator]
    assert state(store) == before


def test_q15_a_bad_end_is_reported_and_the_others_kept() -> None:
    store = linked(3)
    good, bad, worse = store.associate_many(
        [("m0", "LEADS_TO", "m1"), ("m1", "LEADS_TO", "m9"), ("m2", "LEADS_TO", "m2")], on_error="report"
    )
    assert good.triple == ("m0", "LEADS_TO", "m1") and len(store.associations) == 1
    assert isinstance(bad, UnknownMemory) and "item 1" in str(bad) and isinstance(worse, InvalidAssociation)


def test_a_hub_of_ten_thousand_is_walked_recalled_and_deleted() -> None:
    count = 10_000
    store = linked(count + 1, *((0, i) for i in range(1, count + 1)))
    assert len(store.neighbours("m0")) == count == len(store.neighbours("m7", hops=2))
    for method in ("lexical", "default"):
        assert found(store, "fact 7", k=1, method=method) == ["m7"]
    store.delete("m0")
    assert len(store.associations) == 0 and len(store) == count


def test_a_chain_of_a_thousand_supersessions_has_one_head() -> None:
    store = linked(1_000, *((i, i + 1) for i in range(999)), relation="INVALIDATED_BY")
    assert found(store, "fact", k=2_000) == ["m999"]
    assert len(store.select(state="current")) == 1
    assert len(store.neighbours("m0", hops=5_000)) == 999


def test_the_graph_handed_out_cannot_be_changed() -> None:
    store = linked(2, (0, 1))
    for change in (
        lambda: store.graph.add_node("x"),
        lambda: store.graph.remove_edge("m0", "m1"),
        lambda: store.graph.nodes["m0"].update(content="x"),
    ):
        with pytest.raises(Exception, match=r"(?i)frozen|can't be changed"):
            change()
    with pytest.raises(InvalidArgument):
        store.neighbours("m0", hops=0)
