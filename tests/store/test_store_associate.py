"""Associations: typed, directed, both ends alive and in one space."""

from datetime import UTC, datetime
from typing import Any

import networkx as nx
import pandas as pd
import pytest

from memlab.errors import InvalidArgument, InvalidAssociation, TimeError, UnknownAssociation, UnknownMemory
from memlab.records import Association
from memlab.store import MemoryStore
from memlab.vocabulary import RELATIONS


@pytest.fixture
def store() -> MemoryStore:
    """Five memories a to e in one space, x in another."""
    store = MemoryStore(encoder=None)
    store.add_many([{"content": f"Memory {name}.", "memory_id": name} for name in "abcde"])
    store.add("Elsewhere.", memory_id="x", space="other")
    return store


def triples(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    """The triples of a frame, in its order."""
    return [tuple(row) for row in frame[["source", "relation", "target"]].to_numpy()]


def test_an_association_comes_back_as_it_was_given(store: MemoryStore) -> None:
    made = store.associate("a", "PREFERS_OVER", "b", strength=1, reason="warm", context=None)
    row = store.associations.iloc[0]
    assert (row["source"], row["relation"], row["target"], row["strength"]) == ("a", "PREFERS_OVER", "b", 1.0)
    assert row["properties"] == {"reason": "warm"}
    assert (row["origin"], made.origin) == ("authored", "authored")
    assert row["created_at"] == made.created_at == made.updated_at


def test_repeating_a_triple_is_an_update_and_keeps_when_it_was_made(store: MemoryStore) -> None:
    first = store.associate("a", "CONTRADICTS", "b", strength=0.25, reason="x")
    second = store.associate("a", "CONTRADICTS", "b", strength=0.75, resolution="y")
    assert len(store.associations) == 1
    assert (second.strength, second.properties) == (0.75, {"resolution": "y"})
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at


def test_saying_the_same_again_writes_nothing(store: MemoryStore) -> None:
    first = store.associate("a", "CONTRADICTS", "b", reason="x")
    before = len(store.log())
    assert store.associate("a", "CONTRADICTS", "b", reason="x") == first
    assert len(store.log()) == before


def test_parallel_relations_and_both_directions_live_side_by_side(store: MemoryStore) -> None:
    given = [("a", "LEADS_TO", "b"), ("a", "RELATES_TO", "b"), ("b", "LEADS_TO", "a")]
    store.associate_many(given)
    assert triples(store.associations) == given
    assert sorted(store.graph.edges(keys=True)) == sorted((s, t, r) for s, r, t in given)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("a", "KNOWS", "b"), "KNOWS"),
        (("a", "leads_to", "b"), "leads_to"),
        (("a", "SIMILAR_TO", "b"), "derived"),
        (("a", 5, "b"), "5"),
        (("a", "LEADS_TO", "a"), "itself"),
        (("a", "LEADS_TO", "x"), "space"),
        (("a", "LEADS_TO", None), "target is missing"),
    ],
)
def test_what_cannot_be_an_association_is_refused(store: MemoryStore, arguments: Any, word: str) -> None:
    before = len(store.log())
    with pytest.raises(InvalidAssociation, match=word):
        store.associate(*arguments)
    assert len(store.log()) == before


@pytest.mark.parametrize("fields", [{"strength": 1.5}, {"strength": "x"}, {"strength": True}, {"reason": "x"}], ids=str)
def test_strength_and_properties_are_checked(store: MemoryStore, fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidAssociation, match=next(iter(fields))):
        store.associate("a", "LEADS_TO", "b", **fields)
    assert len(store.associations) == 0


@pytest.mark.parametrize("ends", [("a", "ghost"), ("ghost", "a"), ("", "a"), (3, "a")], ids=str)
def test_both_ends_must_be_memories(store: MemoryStore, ends: Any) -> None:
    with pytest.raises(UnknownMemory):
        store.associate(ends[0], "LEADS_TO", ends[1])


def test_every_authorable_relation_can_be_authored(store: MemoryStore) -> None:
    for relation in RELATIONS.values():
        if relation.authorable:
            assert store.associate("a", relation.name, "b").relation == relation.name
    assert len(store.associations) == sum(r.authorable for r in RELATIONS.values())


def test_many_are_associated_in_one_change_or_none(store: MemoryStore) -> None:
    with pytest.raises(UnknownMemory, match="item 1"):
        store.associate_many([("a", "LEADS_TO", "b"), ("a", "LEADS_TO", "ghost")])
    assert len(store.associations) == 0
    found = store.associate_many(
        [("a", "LEADS_TO", "b", 0.25), ("a", "LEADS_TO", "ghost"), "abc", {"source": "a"}], on_error="report"
    )
    assert found[0].strength == 0.25
    assert [type(error) for error in found[1:]] == [UnknownMemory, InvalidAssociation, InvalidAssociation]
    assert len(store.associations) == 1


def test_many_take_mappings_frames_and_associations(store: MemoryStore) -> None:
    moment = datetime(2024, 5, 20, tzinfo=UTC)
    whole = Association(source="c", relation="LEADS_TO", target="d", created_at=moment, updated_at=moment)
    flat = {"source": "a", "relation": "CONTRADICTS", "target": "b", "reason": "x", "properties": {"resolution": "y"}}
    store.associate_many([whole, flat, ["d", "PART_OF", "e"]])
    assert store.associations["properties"].tolist() == [{}, {"reason": "x", "resolution": "y"}, {}]
    assert store.associations["created_at"].iloc[0] == moment
    other = MemoryStore(encoder=None)
    other.add_many(store.memories)
    other.associate_many(store.associations)
    kept = ["source", "relation", "target", "strength", "properties", "created_at"]
    pd.testing.assert_frame_equal(other.associations[kept], store.associations[kept])


def test_nothing_given_is_ignored(store: MemoryStore) -> None:
    row = {"source": "a", "relation": "LEADS_TO", "target": "b"}
    with pytest.raises(InvalidAssociation, match="derived"):
        store.associate_many([{**row, "origin": "derived"}])
    with pytest.raises(InvalidAssociation, match="weight"):
        store.associate_many([{**row, "weight": 1}])
    with pytest.raises(InvalidAssociation, match="properties"):
        store.associate_many([{**row, "properties": "x"}])
    with pytest.raises(TimeError):
        store.associate_many([{**row, "created_at": "yesterday"}])
    with pytest.raises(InvalidArgument, match="on_error"):
        store.associate_many([row], on_error="skip")


def test_dissociate_removes_one_triple(store: MemoryStore) -> None:
    store.associate_many([("a", "LEADS_TO", "b"), ("a", "RELATES_TO", "b")])
    assert store.dissociate("a", "LEADS_TO", "b").relation == "LEADS_TO"
    assert triples(store.associations) == [("a", "RELATES_TO", "b")]
    for triple in (("a", "LEADS_TO", "b"), ("b", "RELATES_TO", "a"), ("ghost", "LEADS_TO", "b")):
        with pytest.raises(UnknownAssociation, match=triple[0]):
            store.dissociate(*triple)


def test_neighbours_walk_once_each_and_end_on_cycles(store: MemoryStore) -> None:
    store.associate_many(
        [("a", "LEADS_TO", "b"), ("b", "LEADS_TO", "c"), ("c", "LEADS_TO", "a"), ("d", "PART_OF", "a")]
    )
    found = store.neighbours("a", hops=10)
    assert found["memory_id"].tolist() == ["b", "c", "d"]
    assert found["hops"].tolist() == [1, 1, 1]
    assert store.neighbours("a", direction="out", hops=10)["memory_id"].tolist() == ["b", "c"]
    assert store.neighbours("a", direction="out", hops=10)["hops"].tolist() == [1, 2]
    assert store.neighbours("a", direction="in")["memory_id"].tolist() == ["c", "d"]
    assert store.neighbours("a", "PART_OF")["memory_id"].tolist() == ["d"]
    assert store.neighbours("a", ["PART_OF", "RELATES_TO"])["content"].tolist() == ["Memory d."]
    assert len(store.neighbours("e")) == 0


def test_neighbours_refuse_what_they_cannot_follow(store: MemoryStore) -> None:
    with pytest.raises(UnknownMemory):
        store.neighbours("ghost")
    with pytest.raises(InvalidAssociation, match="KNOWS"):
        store.neighbours("a", "KNOWS")
    for arguments in ({"hops": 0}, {"hops": True}, {"hops": 1.5}, {"direction": "up"}):
        with pytest.raises(InvalidArgument, match=next(iter(arguments))):
            store.neighbours("a", **arguments)  # type: ignore[arg-type]


def test_a_registered_relation_is_used_like_any_other(store: MemoryStore) -> None:
    relation = store.register_relation("CITES", "cites", properties=("page",), weight=0.5, dash=(1, 2))
    assert store.relations["CITES"] == relation
    assert store.associate("a", "CITES", "b", page=[3, {"x": 1}]).properties == {"page": [3, {"x": 1}]}
    before = len(store.log())
    assert store.register_relation("CITES", "cites", properties=("page",), weight=0.5, dash=(1, 2)) == relation
    assert len(store.log()) == before
    with pytest.raises(InvalidAssociation, match="CITES"):
        store.register_relation("CITES", "quotes")
    with pytest.raises(InvalidAssociation, match="LEADS_TO"):
        store.register_relation("LEADS_TO")
    assert store.check(repair=True).ok
    assert store.relations["CITES"] == relation


def test_the_relations_cannot_be_written(store: MemoryStore) -> None:
    with pytest.raises(TypeError):
        store.relations["X"] = RELATIONS["LEADS_TO"]  # type: ignore[index]


def test_the_graph_is_frozen_and_follows_the_store(store: MemoryStore) -> None:
    store.associate("a", "LEADS_TO", "b", strength=0.25)
    graph = store.graph
    assert set(graph) == {"a", "b", "c", "d", "e", "x"}
    assert graph.edges["a", "b", "LEADS_TO"]["strength"] == 0.25
    with pytest.raises(nx.NetworkXError):
        graph.add_edge("a", "c")
    assert store.graph is graph
    store.delete("b")
    assert "b" in graph
    assert "b" not in store.graph
    store.spaces.rename("other", "elsewhere")
    assert store.graph.nodes["x"]["space"] == "elsewhere"
    store.spaces.rename("elsewhere", "other")
    store.check(repair=True)
    assert store.graph.nodes["x"]["space"] == "other"


def test_the_frame_of_associations_is_the_readers_own(store: MemoryStore) -> None:
    store.associate("a", "CONTRADICTS", "b", reason="x")
    frame = store.associations
    frame.loc[0, "strength"] = 0.0
    frame["source"] = "z"
    with pytest.raises(TypeError):
        frame["properties"].iloc[0]["reason"] = "y"
    again = store.associations
    assert (again.loc[0, "strength"], again.loc[0, "source"], again.loc[0, "properties"]) == (0.5, "a", {"reason": "x"})


def test_an_empty_store_has_an_empty_frame_of_the_same_columns(store: MemoryStore) -> None:
    empty = store.associations
    store.associate("a", "LEADS_TO", "b")
    assert empty.columns.tolist() == store.associations.columns.tolist()
    assert empty.dtypes.tolist() == store.associations.dtypes.tolist()
