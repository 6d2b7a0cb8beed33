"""Kind D: identifiers and duplicates.

Law: an id names exactly one memory for ever, and is never anything but a name: no path, no number, no query. Adding
an id twice is an error, also after its memory was deleted or forgotten; an unknown id is an error and changes
nothing; what a verb returns is what it changed. Two memories may say the same; ``on_duplicate="skip"`` compares
contents whole, by the match key.
"""

from pathlib import Path

import numpy as np
import pytest
from worlds import diary, found, state

from memlab.errors import DuplicateMemory, InvalidMemory, MemlabError, UnknownAssociation, UnknownMemory
from memlab.store import MemoryStore

NAMES = {
    "D13 path": "2024/plan ../x",
    "absolute path": "/etc/passwd",
    "Windows path": "C:\\notes\\..\\x",
    "number": "7",
    "number with zeros": "007",
    "exponent": "1e3",
    "SQL": "x'; DROP TABLE memory; --",
    "quotes": "\"'`",
    "JSON": '{"$ne": null}',
    "wildcard": "%",
    "star": "*",
    "format": "%s {0} {x!r}",
    "markup": "<b>&amp;</b>",
    "space at the end": "id ",
    "line end inside": "a\nb",
    "word of Python": "None",
    "emoji": "🦊",
    "UUID in capitals": "6F9619FF-8B86-D011-B42D-00CF4FC964FF",
}
NO_IDS = {
    "Q10 int": 1,
    "numpy int": np.int64(1),
    "float": 1.0,
    "bool": True,
    "bytes": b"move",
    "tuple": ("move",),
    "list": ["move"],
    "huge int": 10**5000,
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_any_text_can_be_an_id_through_every_verb(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    with MemoryStore.open(folder / "s.memlab", encoder=None) as store:
        assert store.add("tea at four", memory_id=name) == name
        other = store.add("rain")
        store.associate(name, "LEADS_TO", other)
        store.update(name, importance=0.9)
    with MemoryStore.open(folder / "s.memlab", encoder=None) as store:
        assert name in store and store.get(name).memory_id == name
        assert found(store, "tea", method="lexical") == [name]
        assert store.select(where={"memory_id": name})["memory_id"].tolist() == [name]
        assert store.neighbours(other)["memory_id"].tolist() == [name]
        assert store.graph.has_edge(name, other)
        assert store.history(name)["verb"].tolist() == ["add", "associate", "update"]
        assert store.delete(name) == [name] and name not in store
        assert store.forget(name) == [name]
    # A name that looks like a path made no file anywhere.
    assert {file.name.split("-")[0] for file in folder.iterdir()} == {"s.memlab"}
    assert [file.name for file in tmp_path.iterdir()] == ["store"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("A", "a"), ("7", "07"), ("x", "x "), ("caf\u00e9", "cafe\u0301"), ("1", "1.0"), ("a/b", "a:b")],
)
def test_names_that_nearly_agree_are_two(one: str, other: str) -> None:
    store = MemoryStore(encoder=None)
    store.add("tea", memory_id=one)
    store.add("rain", memory_id=other)
    assert (store.get(one).content, store.get(other).content) == ("tea", "rain")
    store.delete(one)
    assert other in store


@pytest.mark.parametrize("value", NO_IDS.values(), ids=NO_IDS)
def test_what_is_no_text_is_no_id(value: object) -> None:
    store = diary(encoder=None)
    before = state(store)
    with pytest.raises(InvalidMemory):
        store.add("x", memory_id=value)
    for call in (store.get, store.history, store.neighbours):
        with pytest.raises(UnknownMemory):
            call(value)  # type: ignore[operator]
    assert value not in store
    with pytest.raises(MemlabError):
        store.delete([value])  # type: ignore[list-item]
    with pytest.raises(UnknownAssociation):
        store.dissociate(value, "LEADS_TO", "garden")  # type: ignore[arg-type]
    assert state(store) == before


def test_d01_long_common_beginnings_make_two_memories() -> None:
    store = MemoryStore(encoder=None)
    head = "the same words again and again, " * 5
    ids = store.add_many([f"{head} tea", f"{head} rain", f"{head} rain"], progress=False)
    assert len(set(ids)) == len(store) == 3
    assert store.add(f"{head} cake", on_duplicate="skip") not in ids


@pytest.mark.parametrize("again", ["tea", "tea\n", " TEA ", "\ttea"], ids=repr)
def test_d05_repeats_are_kept_unless_skipped_and_then_compared_by_the_key(again: str) -> None:
    store = MemoryStore(encoder=None)
    first = store.add("tea")
    assert store.add(again) != first and len(store) == 2
    assert store.add(again, on_duplicate="skip") == first
    assert store.add_many([again, again], on_duplicate="skip", progress=False) == [first, first]
    assert len(store) == 2


def test_d08_the_same_items_with_ids_are_not_added_twice() -> None:
    store = MemoryStore(encoder=None)
    items = [{"memory_id": f"file:{i}", "content": f"line {i}"} for i in range(5)]
    store.add_many(items, progress=False)
    with pytest.raises(DuplicateMemory):
        store.add_many(items, progress=False)
    again = store.add_many(items, on_error="report", progress=False)
    assert all(isinstance(error, DuplicateMemory) for error in again) and len(store) == 5
    assert store.add_many(items, on_duplicate="skip", progress=False) == [item["memory_id"] for item in items]
    assert len(store) == 5


UNKNOWN = {
    "D09 delete": lambda s: s.delete("ghost"),
    "D10 delete among others": lambda s: s.delete(["move", "ghost"]),
    "forget": lambda s: s.forget(["move", "ghost"]),
    "get": lambda s: s.get("ghost"),
    "update": lambda s: s.update("ghost", importance=1),
    "update many": lambda s: s.update_many(
        [{"memory_id": "move", "importance": 1}, {"memory_id": "ghost", "importance": 1}], progress=False
    ),
    "history": lambda s: s.history("ghost"),
    "neighbours": lambda s: s.neighbours("ghost"),
    "associate from": lambda s: s.associate("ghost", "LEADS_TO", "move"),
    "associate to": lambda s: s.associate("move", "LEADS_TO", "ghost"),
    "Q17 supersede": lambda s: s.add("x", supersedes="ghost"),
    "delete in another space": lambda s: s.delete("move", space="attic"),
}


@pytest.mark.parametrize("call", UNKNOWN.values(), ids=UNKNOWN)
def test_an_unknown_id_is_a_key_error_and_changes_nothing(call: object) -> None:
    store = diary(encoder=None)
    before = state(store)
    with pytest.raises(UnknownMemory) as caught:
        call(store)  # type: ignore[operator]
    assert isinstance(caught.value, KeyError)
    assert state(store) == before


@pytest.mark.parametrize("verb", ["delete", "forget"])
def test_an_id_is_never_used_again(tmp_path: Path, verb: str) -> None:
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        store.add("tea", memory_id="m1")
        getattr(store, verb)("m1")
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        with pytest.raises(DuplicateMemory):
            store.add("something else", memory_id="m1")
        with pytest.raises(UnknownMemory):
            store.get("m1")


def test_what_delete_returns_is_what_went() -> None:
    store = diary(encoder=None)
    assert store.delete(["move", "move", "garden"]) == ["move", "garden"]
    assert [memory.memory_id for memory in store] == ["key"]
