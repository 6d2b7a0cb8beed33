"""Undo: each verb can be taken back, and what others built on it is never torn."""

from typing import Any

import numpy as np
import pytest

from memlab.encoders import HashEncoder
from memlab.errors import InvalidArgument, UndoConflict, UnknownChange
from memlab.store import MemoryStore


@pytest.fixture
def store() -> MemoryStore:
    """Three memories, two of them associated."""
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    store.add_many([{"content": f"Tea {name}.", "memory_id": name} for name in "abc"])
    store.associate("a", "LEADS_TO", "b", strength=0.25)
    store.recall("tea")
    return store


def last(store: MemoryStore) -> int:
    """The number of the last call."""
    return int(store.log()["change"].iloc[-1])


def state(store: MemoryStore) -> Any:
    """All that can be undone, in plain form."""
    return (
        sorted(store, key=lambda m: m.memory_id),
        store.associations.sort_values(["source", "relation", "target"]).values.tolist(),
        store.spaces.list().drop(columns="memories").values.tolist(),
        dict(store.relations),
    )


VERBS = {
    "add": lambda s: s.add("New.", tags=["x"]),
    "add in a new space": lambda s: s.add("New.", space="new"),
    "add_many": lambda s: s.add_many(["New.", {"content": "Newer.", "space": "new"}]),
    "add superseding": lambda s: s.add("New.", supersedes="a"),
    "update": lambda s: s.update("a", content="Changed.", metadata={"x": 1}),
    "update_many": lambda s: s.update_many([{"memory_id": i, "importance": 1} for i in "abc"]),
    "move": lambda s: s.update("c", space="new"),
    "delete": lambda s: s.delete(["a", "c"]),
    "associate": lambda s: s.associate("b", "CONTRADICTS", "c", reason="x"),
    "associate again": lambda s: s.associate("a", "LEADS_TO", "b", strength=1),
    "dissociate": lambda s: s.dissociate("a", "LEADS_TO", "b"),
    "create a space": lambda s: s.spaces.create("new", "described"),
    "rename a space": lambda s: s.spaces.rename("default", "home"),
    "describe a space": lambda s: s.spaces.describe("default", "home"),
    "delete a space": lambda s: s.spaces.delete("default"),
    "register a relation": lambda s: s.register_relation("CITES", properties=("page",)),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_undone_and_redone(store: MemoryStore, verb: str) -> None:
    before = state(store)
    VERBS[verb](store)
    after, change = state(store), last(store)
    assert after != before
    assert store.undo(change) == [change]
    assert state(store) == before
    assert store.check().ok
    store.check(repair=True)
    assert state(store) == before
    redo = last(store)
    assert store.undo(redo) == [redo]
    assert state(store) == after
    assert store.check().ok
    assert {hit.memory_id for hit in store.recall("tea changed new", k=9, space="*")} <= {m.memory_id for m in store}


def test_undoing_an_undone_change_again_is_a_conflict(store: MemoryStore) -> None:
    store.delete("c")
    change = last(store)
    store.undo(change)
    before = len(store.log())
    with pytest.raises(UndoConflict, match=str(change)):
        store.undo(change)
    assert len(store.log()) == before


def test_a_later_update_of_other_fields_stays(store: MemoryStore) -> None:
    store.update("a", importance=1)
    change = last(store)
    later = store.update("a", content="Later.")
    store.undo(change)
    memory = store.get("a")
    assert (memory.importance, memory.content, memory.updated_at) == (0.5, "Later.", later.updated_at)
    store.undo(last(store))
    assert store.get("a").importance == 1
    for place in range(int(store.log()["seq"].max()) + 1):
        assert store.as_of(place).check().ok


def test_a_later_update_of_the_same_field_is_a_conflict_and_nothing_changes(store: MemoryStore) -> None:
    store.update("a", importance=1, content="First.")
    change = last(store)
    store.update("a", content="Second.")
    before = state(store)
    with pytest.raises(UndoConflict, match="'a'"):
        store.undo(change)
    assert state(store) == before


def test_an_addition_that_was_associated_since_stays(store: MemoryStore) -> None:
    new = store.add("New.")
    change = last(store)
    store.associate(new, "LEADS_TO", "a")
    with pytest.raises(UndoConflict, match="associated since"):
        store.undo(change)
    store.undo(last(store))
    store.undo(change)
    assert new not in store


def test_an_association_does_not_come_back_without_its_end(store: MemoryStore) -> None:
    store.dissociate("a", "LEADS_TO", "b")
    dissociated = last(store)
    store.delete("b")
    with pytest.raises(UndoConflict, match="gone"):
        store.undo(dissociated)
    store.undo(last(store))
    store.undo(dissociated)
    assert len(store.associations) == 1


def test_a_deleted_memory_does_not_come_back_alone_where_its_neighbour_went_too(store: MemoryStore) -> None:
    store.delete("a")
    first = last(store)
    store.delete("b")
    with pytest.raises(UndoConflict, match="gone"):
        store.undo(first)
    assert store.undo(actor="user", since=first)
    assert len(store.associations) == 1
    assert store.check().ok


def test_a_memory_does_not_come_back_into_a_space_that_is_gone(store: MemoryStore) -> None:
    store.add("New.", memory_id="n", space="new")
    store.delete("n")
    deleted = last(store)
    store.spaces.delete("new")
    with pytest.raises(UndoConflict, match="space"):
        store.undo(deleted)
    store.undo(last(store))
    store.undo(deleted)
    assert store.get("n").space == "new"


def test_a_move_is_not_undone_across_an_association_made_since(store: MemoryStore) -> None:
    store.update("c", space="new")
    moved = last(store)
    store.add("New.", memory_id="n", space="new")
    store.associate("c", "LEADS_TO", "n")
    with pytest.raises(UndoConflict, match="two spaces"):
        store.undo(moved)
    assert store.check().ok


def test_two_spaces_never_get_one_name(store: MemoryStore) -> None:
    store.spaces.rename("default", "home")
    renamed = last(store)
    store.add("Other.")
    with pytest.raises(UndoConflict, match="'default'"):
        store.undo(renamed)
    store.spaces.create("new")
    store.spaces.delete("new")
    deleted = last(store)
    store.spaces.create("new")
    with pytest.raises(UndoConflict, match="'new'"):
        store.undo(deleted)
    assert store.check().ok


def test_a_space_stays_while_others_live_in_it(store: MemoryStore) -> None:
    first = store.add("First.", space="new")
    change = last(store)
    second = store.add("Second.", space="new")
    assert store.undo(change) == [change]
    assert first not in store
    assert store.get(second).space == "new"
    store.spaces.create("own")
    created = last(store)
    store.add("Third.", space="own")
    with pytest.raises(UndoConflict, match="holds memories"):
        store.undo(created)
    assert store.check().ok


def test_a_relation_in_use_stays(store: MemoryStore) -> None:
    store.register_relation("CITES")
    registered = last(store)
    store.associate("a", "CITES", "c")
    with pytest.raises(UndoConflict, match="CITES"):
        store.undo(registered)
    store.dissociate("a", "CITES", "c")
    dissociated = last(store)
    store.undo(registered)
    with pytest.raises(UndoConflict, match="relation"):
        store.undo(dissociated)


def test_an_id_that_became_an_alias_does_not_come_back(store: MemoryStore) -> None:
    store.delete("c")
    deleted = last(store)
    store.update("b", aliases=["c"])
    with pytest.raises(UndoConflict, match="alias"):
        store.undo(deleted)
    store.undo(actor="user", since=deleted)
    assert store.get("c").content == "Tea c."
    assert store.get("b").aliases == ()


def test_undo_by_actor_and_time_takes_back_only_theirs(store: MemoryStore) -> None:
    store.add("Early.", memory_id="early", actor="agent")
    begin = int(store.log()["seq"].max()) + 1
    store.add("Mine.", memory_id="mine")
    store.add("Agent's.", memory_id="agent's", actor="agent")
    store.update("mine", importance=1, actor="agent")
    store.associate("mine", "LEADS_TO", "agent's", actor="agent")
    store.update("mine", tags=["kept"])
    undone = store.undo(actor="agent", since=begin, by="ana")
    assert len(undone) == 3
    assert undone == sorted(undone, reverse=True)
    assert {"early", "mine"} <= {m.memory_id for m in store}
    assert "agent's" not in store
    assert (store.get("mine").importance, store.get("mine").tags) == (0.5, ("kept",))
    assert set(store.log().query("verb == 'undo'")["actor"]) == {"ana"}
    assert store.undo(actor="agent", since=store.log()["time"].iloc[-1]) == []
    assert store.undo(actor="nobody") == []
    assert store.check().ok


def test_an_actor_who_undid_is_undone_too(store: MemoryStore) -> None:
    store.add("New.", memory_id="n", actor="agent")
    store.undo(last(store), by="agent")
    store.undo(actor="agent")
    assert "n" not in store
    assert store.check().ok


@pytest.mark.parametrize(
    "arguments",
    [{}, {"change": 1, "actor": "x"}, {"change": "1"}, {"change": True}, {"change": 1.0}],
    ids=str,
)
def test_what_does_not_say_what_to_undo_is_refused(store: MemoryStore, arguments: Any) -> None:
    with pytest.raises(InvalidArgument):
        store.undo(**arguments)


@pytest.mark.parametrize("change", [0, -1, 2, 999, 10**30])
def test_an_unknown_change_is_refused(store: MemoryStore, change: int) -> None:
    with pytest.raises(UnknownChange, match=str(change)):
        store.undo(change)


def test_the_numbers_of_a_frame_are_taken(store: MemoryStore) -> None:
    store.delete("c")
    change = store.log()["change"].iloc[-1]
    assert isinstance(change, np.integer)
    assert store.undo(change) == [int(change)]


def test_the_choice_of_an_encoder_is_not_undone(store: MemoryStore) -> None:
    store.reencode(HashEncoder(dimension=8))
    with pytest.raises(UnknownChange):
        store.undo(last(store))
    assert store.embeddings().shape == (3, 8)


def test_undoing_the_first_addition_leaves_the_encoder_named() -> None:
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    store.add("Tea.")
    store.undo(1)
    assert len(store) == len(store.spaces) == 0
    assert store.describe()["encoder"] == "hash-16"
    store.add("Rain.")
    assert store.check().ok


def test_an_undone_delete_keeps_the_vector_it_had() -> None:
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    tea = store.add("Tea.")
    before = store.embeddings()
    store.delete(tea)
    store.undo(last(store))
    np.testing.assert_array_equal(store.embeddings().to_numpy(), before.to_numpy())
