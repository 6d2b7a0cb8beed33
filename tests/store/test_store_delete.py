"""Deleting: gone from everywhere, the rest untouched, the count true."""

from typing import Any

import pytest

from memlab.encoders import HashEncoder
from memlab.errors import FilterError, InvalidArgument, UnknownMemory, UnknownSpace
from memlab.store import MemoryStore


@pytest.fixture
def store() -> MemoryStore:
    """A store with two spaces and associations."""
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    for name in ("a", "b", "c"):
        store.add(f"Tea with {name}.", memory_id=name, tags=["tea", name], metadata={"n": name})
    store.add("Tea elsewhere.", memory_id="x", space="other", tags=["tea"])
    store.associate_many([("a", "LEADS_TO", "b"), ("b", "RELATES_TO", "c"), ("c", "LEADS_TO", "a")])
    store.recall("tea", space="*")
    return store


def test_delete_leaves_nothing_behind(store: MemoryStore) -> None:
    assert store.delete("a") == ["a"]
    assert "a" not in store
    assert len(store) == 3
    with pytest.raises(UnknownMemory):
        store.get("a")
    assert [tuple(row) for row in store.associations[["source", "target"]].to_numpy()] == [("b", "c")]
    assert "a" not in store.graph
    assert "a" not in store.memories["memory_id"].tolist()
    assert "a" not in store.embeddings().index.get_level_values(0)
    for method in ("lexical", "dense", "hybrid", "default"):
        assert "a" not in [hit.memory_id for hit in store.recall("tea with a", method=method)]
    assert store.check().ok


def test_delete_leaves_no_vector_behind(store: MemoryStore) -> None:
    store.delete(["a", "b"])
    index, ids = store.faiss_index()
    assert (index.ntotal, ids) == (1, ["c"])


def test_the_best_deleted_leave_k_others() -> None:
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    ids = store.add_many([f"tea {'tea ' * (i % 3)}number {i}" for i in range(20)])
    best = [hit.memory_id for hit in store.recall("tea", k=10)]
    store.delete(best)
    assert sorted(hit.memory_id for hit in store.recall("tea", k=10)) == sorted(set(ids) - set(best))


def test_an_unknown_id_is_an_error_before_anything_is_deleted(store: MemoryStore) -> None:
    before = len(store.log())
    for ids in (["a", "ghost"], "ghost", ["ghost"]):
        with pytest.raises(UnknownMemory, match="ghost"):
            store.delete(ids)
    assert len(store) == 4
    assert len(store.log()) == before


def test_an_empty_list_deletes_nothing(store: MemoryStore) -> None:
    before = len(store.log())
    assert store.delete([]) == []
    assert store.delete(iter(())) == []
    assert len(store.log()) == before


@pytest.mark.parametrize("arguments", [{"where": {}}, {"tags": []}, {"tags": [], "space": "other"}], ids=str)
def test_an_empty_filter_is_refused(store: MemoryStore, arguments: dict[str, Any]) -> None:
    with pytest.raises(FilterError):
        store.delete(**arguments)
    assert len(store) == 4


@pytest.mark.parametrize(
    "arguments",
    [{}, {"ids": ["a"], "where": {"metadata.n": "a"}}, {"ids": "a", "tags": "tea"}, {"ids": 5}, {"ids": {"a": 1}}],
    ids=str,
)
def test_what_does_not_say_what_to_delete_is_refused(store: MemoryStore, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        store.delete(**arguments)
    assert len(store) == 4


def test_filters_delete_in_the_default_space_unless_said(store: MemoryStore) -> None:
    assert store.delete(tags="tea") == ["a", "b", "c"]
    assert store.memories["memory_id"].tolist() == ["x"]
    assert store.delete(tags="tea", space="other") == ["x"]


def test_where_deletes_what_select_selects(store: MemoryStore) -> None:
    where = {"metadata.n": {"ne": "a"}}
    selected = store.select(where=where)["memory_id"].tolist()
    assert store.delete(where=where, dry_run=True) == selected
    assert len(store) == 4
    assert store.delete(where=where) == selected == ["b", "c"]


def test_a_space_alone_is_deleted_whole_and_no_other(store: MemoryStore) -> None:
    assert store.delete(space="default") == ["a", "b", "c"]
    assert store.memories["memory_id"].tolist() == ["x"]
    assert store.delete(space="default") == []
    with pytest.raises(UnknownSpace, match="nowhere"):
        store.delete(space="nowhere")
    assert store.check().ok


def test_an_id_of_another_space_is_unknown_there(store: MemoryStore) -> None:
    with pytest.raises(UnknownMemory, match="default"):
        store.delete(["a", "x"], space="default")
    assert len(store) == 4


@pytest.mark.parametrize("count", [250, 1001])
def test_all_are_deleted_however_many(count: int) -> None:
    store = MemoryStore(encoder=None)
    ids = store.add_many([f"Memory {i}." for i in range(count)])
    assert store.delete(space="default") == ids
    assert len(store) == 0
    assert store.check().ok


def test_an_id_given_twice_or_by_alias_is_deleted_once(store: MemoryStore) -> None:
    store.update("a", aliases=["old"])
    assert store.delete(["a", "old", "a"]) == ["a"]
    assert "old" not in store


def test_a_dry_run_writes_nothing_and_gives_the_same_answer(store: MemoryStore) -> None:
    before = len(store.log())
    assert store.delete(["a"], dry_run=True) == ["a"]
    with pytest.raises(UnknownMemory):
        store.delete(["ghost"], dry_run=True)
    assert len(store.log()) == before
    assert "a" in store
