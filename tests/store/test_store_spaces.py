"""Spaces: walls that nothing crosses."""

from typing import Any

import pytest

from memlab.encoders import HashEncoder
from memlab.errors import InvalidArgument, UnknownMemory, UnknownSpace
from memlab.store import MemoryStore


@pytest.fixture
def store() -> MemoryStore:
    """The same text in two spaces whose names differ in letter case alone."""
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    store.add("Tea at four.", memory_id="h1", space="Home", tags=["t"], metadata={"n": 1})
    store.add("Tea at four.", memory_id="h2", space="home", tags=["t"], metadata={"n": 1})
    return store


def test_letter_case_makes_another_space_everywhere(store: MemoryStore) -> None:
    assert len(store.spaces) == 2
    for method in ("lexical", "dense", "hybrid", "default"):
        assert [hit.memory_id for hit in store.recall("tea", space="Home", method=method)] == ["h1"]
        assert [hit.memory_id for hit in store.recall("tea", space="home", method=method)] == ["h2"]
    assert store.select(space="Home", tags="t")["memory_id"].tolist() == ["h1"]
    with pytest.raises(UnknownSpace, match="HOME"):
        store.recall("tea", space="HOME")
    with pytest.raises(UnknownMemory):
        store.delete("h1", space="home")
    assert store.delete(space="home") == ["h2"]
    assert "h1" in store


def test_an_index_holds_one_space(store: MemoryStore) -> None:
    index, ids = store.faiss_index("Home")
    assert (index.ntotal, ids) == (1, ["h1"])
    store.spaces.create("empty")
    index, ids = store.faiss_index("empty")
    assert (index.ntotal, index.d, ids) == (0, 16, [])
    with pytest.raises(UnknownSpace):
        store.faiss_index("nowhere")


def test_spaces_are_listed_with_their_counts(store: MemoryStore) -> None:
    store.spaces.create("empty", "Nothing yet.")
    listed = store.spaces.list()
    assert listed["name"].tolist() == ["Home", "home", "empty"]
    assert listed["memories"].tolist() == [1, 1, 0]
    assert listed["description"].tolist() == ["", "", "Nothing yet."]
    assert str(listed["created_at"].dtype) == "datetime64[us, UTC]"
    assert listed.dtypes.tolist() == MemoryStore(encoder=None).spaces.list().dtypes.tolist()
    assert repr(store.spaces) == "Spaces('Home', 'home', 'empty')"
    assert "<table" in store.spaces._repr_html_()


def test_a_space_is_found_by_name_and_by_id(store: MemoryStore) -> None:
    space = store.spaces.describe("Home")
    assert store.spaces.describe(space.space_id) == space
    assert space.name in store.spaces
    assert space.space_id in store.spaces
    for other in ("nowhere", None, 5, ["Home"]):
        assert other not in store.spaces
        with pytest.raises(UnknownSpace):
            store.spaces.describe(other)  # type: ignore[arg-type]


def test_renaming_keeps_memories_associations_and_indexes(store: MemoryStore) -> None:
    store.add("Rain.", memory_id="h3", space="Home", session_id="s", sequence=1)
    store.add("Snow.", memory_id="h4", space="Home", session_id="s", sequence=2)
    store.associate("h1", "LEADS_TO", "h3")
    store.recall("tea", space="*")
    space = store.spaces.rename("Home", "House")
    assert store.memories["space"].tolist() == ["House", "home", "House", "House"]
    assert store.get("h1").space == "House"
    for method in ("lexical", "dense", "default"):
        assert store.recall("tea", space="House", method=method)[0].memory_id == "h1"
    assert store.spaces.describe("House").space_id == space.space_id
    assert store.check().ok
    with pytest.raises(UnknownSpace):
        store.recall("tea", space="Home")
    store.add("New.", space="Home")
    assert store.check(repair=True).ok


def test_the_description_is_written_and_read(store: MemoryStore) -> None:
    assert store.spaces.describe("Home", "Where we live.").description == "Where we live."
    before = len(store.log())
    assert store.spaces.describe("Home").description == "Where we live."
    assert store.spaces.describe("Home", "Where we live.").name == "Home"
    assert store.spaces.rename("Home", "Home").name == "Home"
    assert len(store.log()) == before
    assert store.spaces.describe("Home", "").description == ""


def test_a_space_is_deleted_with_all_in_it(store: MemoryStore) -> None:
    store.add("Rain.", memory_id="h3", space="Home")
    store.associate("h1", "LEADS_TO", "h3")
    assert store.spaces.delete("Home", dry_run=True) == ["h1", "h3"]
    assert "Home" in store.spaces
    assert store.spaces.delete("Home") == ["h1", "h3"]
    assert "Home" not in store.spaces
    assert store.memories["memory_id"].tolist() == ["h2"]
    assert len(store.associations) == 0
    with pytest.raises(UnknownSpace):
        store.spaces.delete("Home")
    assert store.check().ok


@pytest.mark.parametrize("name", ["", " ", "*", None, 5, "\udc9f", "Home"], ids=ascii)
def test_a_name_that_is_blank_taken_or_a_sign_is_refused(store: MemoryStore, name: Any) -> None:
    with pytest.raises(InvalidArgument):
        store.spaces.create(name)
    with pytest.raises(InvalidArgument):
        store.spaces.rename("home", name)
    assert len(store.spaces) == 2


def test_the_id_of_a_space_cannot_be_another_ones_name(store: MemoryStore) -> None:
    space_id = store.spaces.describe("Home").space_id
    with pytest.raises(InvalidArgument):
        store.spaces.create(space_id)
    with pytest.raises(InvalidArgument, match="description"):
        store.spaces.create("new", None)  # type: ignore[arg-type]


def test_an_empty_recall_says_where_there_is_something(store: MemoryStore) -> None:
    assert "'Home' (1), 'home' (1)" in store.recall("tea").notes[-1]
