"""What can be drawn: stores, recalls, frames; and what is refused, in words."""

from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from frames import links, memories

from memlab.encoders import HashEncoder
from memlab.records import Memory
from memlab.store import MemoryStore
from memlab.views.graph import GraphView, view
from memlab.vocabulary import RELATIONS, custom_relation


def ids(made: GraphView) -> list[str]:
    return [dot.memory_id for dot in made.scene.dots]


class Store:
    """The two frames of a store."""

    def __init__(self, rows: pd.DataFrame, pairs: pd.DataFrame) -> None:
        self.memories, self.associations = rows, pairs
        self.relations = dict(RELATIONS)


def test_a_store_shows_its_default_space_and_no_association_crosses() -> None:
    rows = memories(4, space=["default", "default", "b", "b"])
    pairs = links(("m0", "LEADS_TO", "m1"), ("m1", "LEADS_TO", "m2"), ("m2", "LEADS_TO", "m3"))
    store = Store(rows, pairs)
    assert ids(view(store)) == ["m0", "m1"]
    assert ids(view(store, space="b")) == ["m2", "m3"]
    both = view(store, space="*")
    assert [(line.source, line.target) for line in both.scene.lines] == [(0, 1), (2, 3)]
    assert ids(view(store, space=["b", "default"])) == ids(both)


def test_an_empty_space_says_where_memories_are() -> None:
    made = view(Store(memories(3, space=["a", "b", "b"]), links()))
    assert ids(made) == []
    assert made.scene.notes == ("No memories in the space default; other spaces hold some: b (2), a (1).",)


def test_spaces_that_differ_in_letter_case_are_two() -> None:
    assert ids(view(memories(2, space=["Home", "home"]), space="home")) == ["m1"]


def test_a_space_of_frames_without_that_column_is_refused() -> None:
    with pytest.raises(ValueError, match="no column 'space'"):
        view(memories(2), space="a")


def test_a_relation_that_a_store_registered_has_its_own_colour() -> None:
    store = Store(memories(2, space="default"), links(("m0", "CITES", "m1"), ("m1", "UNKNOWN", "m0")))
    store.relations = dict(RELATIONS) | {"CITES": custom_relation("CITES", colour="#123456")}
    drawn = {line.relation.name: line.relation.colour for line in view(store).scene.lines}
    assert drawn == {"CITES": "#123456", "UNKNOWN": "#7F7F7F"}


def hit(rank: int, name: str, path: tuple[object, ...] = ()) -> SimpleNamespace:
    now = datetime(2024, 5, 1, tzinfo=UTC)
    memory = Memory(memory_id=name, content=f"Content of {name}", created_at=now, updated_at=now)
    return SimpleNamespace(rank=rank, memory=memory, path=path)


def step(source: str, relation: str, target: str) -> SimpleNamespace:
    return SimpleNamespace(source=source, relation=relation, target=target)


def test_a_recall_is_drawn_with_its_ranks_and_the_paths_that_led_there() -> None:
    path = (step("z", "LEADS_TO", "bridge"), step("b", "PART_OF", "bridge"))
    recall = SimpleNamespace(hits=(hit(1, "z"), hit(2, "a"), hit(3, "b", path)), query="why?")
    scene = view(recall).scene
    assert [(dot.memory_id, dot.rank, dot.state) for dot in scene.dots] == [
        ("z", 1, "current"),
        ("a", 2, "current"),
        ("b", 3, "current"),
        ("bridge", None, "outside"),
    ]
    assert {(line.source, line.relation.name, line.target) for line in scene.lines} == {
        (0, "LEADS_TO", 3),
        (2, "PART_OF", 3),
    }
    # Of the memory between nothing but its id is known, so the legend doesn't count it.
    assert sum(count for _, count in scene.types.values()) == 3
    assert scene.title == "Recall: why?"
    assert scene.summary == "3 of 3 hits shown · 1 more on their paths · 2 associations"


def test_a_recall_of_nothing_is_an_empty_view() -> None:
    assert ids(view(SimpleNamespace(hits=(), query="q"))) == []


@pytest.mark.parametrize("source", [None, "store", [memories(1), links()], (memories(1),), (memories(1), None)])
def test_what_cant_be_drawn_is_refused_by_name(source: object) -> None:
    with pytest.raises(TypeError, match=rf"can't draw a {type(source).__name__}: give a MemoryStore"):
        view(source)  # type: ignore[arg-type]


def test_a_frame_without_content_is_refused_with_what_it_has() -> None:
    with pytest.raises(ValueError, match="has the columns memory_id; a view needs memory_id, content"):
        view(memories(1)[["memory_id"]])


def test_two_memories_of_one_id_are_refused() -> None:
    with pytest.raises(ValueError, match="has the id 'm0' twice"):
        view(pd.concat([memories(1), memories(1)]))


@pytest.mark.parametrize("limit", [0, -1, 2001, 1.5, True, None])
def test_a_limit_out_of_range_is_refused_and_the_way_is_named(limit: object) -> None:
    with pytest.raises(ValueError, match=r"1 to 2,000 memories\. For a larger store draw a part"):
        view(memories(3), limit=limit)  # type: ignore[arg-type]


def test_the_source_frames_stay_as_they_were() -> None:
    rows, pairs = memories(3, importance=[0.1, 0.9, 0.5]), links(("m0", "LEADS_TO", "m1"), strength=[0.5])
    before = rows.copy(), pairs.copy()
    view((rows, pairs))
    pd.testing.assert_frame_equal(rows, before[0])
    pd.testing.assert_frame_equal(pairs, before[1])


def test_a_second_view_keeps_the_places_of_the_first() -> None:
    pairs = links(("m0", "LEADS_TO", "m1"), ("m1", "LEADS_TO", "m2"))
    before = view((memories(3), pairs))
    after = view((memories(4), links(("m0", "LEADS_TO", "m1"), ("m2", "LEADS_TO", "m3"))), places=before.places)
    assert {name: after.places[name] for name in before.places} == before.places
    assert view((memories(3), pairs)).places == before.places


def test_ten_thousand_memories_are_drawn_in_part_and_the_page_says_so() -> None:
    made = view(memories(10_000, importance=np.linspace(0, 1, 10_000)))
    assert made.scene.summary == "200 of 10,000 memories shown · 0 associations"


def test_a_real_store_and_its_recall_are_drawn() -> None:
    with MemoryStore(HashEncoder(dimension=64)) as store:
        first = store.add("Ana moved from Porto to Oslo.", type="Context", importance=0.9)
        second = store.add("Ana started at the fish lab in Oslo.")
        store.add("A memory of another space.", space="other")
        store.associate(second, "DERIVED_FROM", first, strength=0.8)
        scene = view(store).scene
        assert [(dot.memory_id, dot.type) for dot in scene.dots] == [(first, "Context"), (second, "no type")]
        assert [(line.source, line.relation.name, line.target) for line in scene.lines] == [(1, "DERIVED_FROM", 0)]
        found = store.recall("Oslo")
        assert {dot.memory_id: dot.rank for dot in view(found).scene.dots} == {h.memory_id: h.rank for h in found}
