"""Changing memories: what is named changes, everything derived from it is made anew, nothing else moves."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from encoders_store import Counting
from hypothesis import given
from strategies import json_values, metadata

from memlab.encoders import HashEncoder
from memlab.errors import DuplicateMemory, InvalidMemory, TimeError, UnknownMemory
from memlab.records import FIELDS
from memlab.store import MemoryStore
from memlab.store_items import merge


@pytest.fixture
def store() -> MemoryStore:
    """A store with two memories and an association."""
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    store.add("Tea at four.", memory_id="tea", tags=["drink"], metadata={"a": 1, "b": {"c": 2}}, role="Ana")
    store.add("Rain in Oslo.", memory_id="rain")
    store.associate("rain", "LEADS_TO", "tea")
    return store


def test_update_changes_what_is_named_and_nothing_else(store: MemoryStore) -> None:
    before = store.get("tea")
    after = store.update("tea", importance=0.75, archived=True, protected=True)
    changed = {name for name in FIELDS if getattr(before, name) != getattr(after, name)}
    assert changed == {"importance", "archived", "protected", "updated_at"}
    assert after.updated_at > before.updated_at
    assert store.get("tea") == after


def test_associations_and_the_time_of_writing_outlive_a_new_text(store: MemoryStore) -> None:
    before = store.get("tea")
    store.update("tea", content="Coffee at five.")
    assert store.get("tea").created_at == before.created_at
    assert store.associations[["source", "target"]].values.tolist() == [["rain", "tea"]]


def test_a_new_text_has_the_vector_of_the_new_text_and_only_that(store: MemoryStore) -> None:
    store.recall("tea")
    store.update("tea", content="Bond markets fell.")
    fresh = MemoryStore(encoder=HashEncoder(dimension=16))
    fresh.add("Bond markets fell.", memory_id="tea", role="Ana")
    ours, theirs = store.embeddings(), fresh.embeddings()
    np.testing.assert_array_equal(ours.loc["tea"], theirs.loc["tea"])
    assert len(ours) == 2
    assert store.recall("Bond markets", method="dense")[0].memory_id == "tea"
    assert [hit.memory_id for hit in store.recall("tea at four", method="lexical")] == []
    assert store.check().ok


@pytest.mark.parametrize("fields", [{"role": "Bo"}, {"happened_at": "2024-05-20T00:00Z"}, {"content": "x"}], ids=str)
def test_who_and_when_are_part_of_the_text(store: MemoryStore, fields: dict[str, Any]) -> None:
    store.recall("tea")
    before = store.embeddings().loc["tea"].to_numpy()
    store.update("tea", **fields)
    assert not np.array_equal(store.embeddings().loc["tea"].to_numpy(), before)
    assert store.check().ok


def test_only_a_new_text_is_encoded() -> None:
    encoder = Counting()
    store = MemoryStore(encoder=encoder)
    tea = store.add("Tea.")
    store.update(tea, importance=1, metadata={"x": 1}, tags=["y"])
    assert encoder.asked == ["Tea."]


def test_metadata_is_found_by_its_new_value(store: MemoryStore) -> None:
    store.update("tea", metadata={"t": "x"})
    assert store.select(where={"metadata.t": "x"})["memory_id"].tolist() == ["tea"]
    assert store.recall("tea", where={"metadata.t": "x"})[0].memory_id == "tea"


def test_metadata_is_merged(store: MemoryStore) -> None:
    merged = store.update("tea", metadata={"a": None, "b": {"d": [1, None]}, "e": {"f": None, "g": 1}})
    assert merged.metadata == {"b": {"c": 2, "d": [1, None]}, "e": {"g": 1}}
    assert store.update("tea", metadata=None).metadata == {}


# The cases of RFC 7386, appendix A, that are objects.
@pytest.mark.parametrize(
    ("old", "patch", "new"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merging_keeps_to_rfc_7386(old: dict[str, Any], patch: dict[str, Any], new: dict[str, Any]) -> None:
    assert merge(old, patch) == new


def patched(old: Any, patch: Any) -> Any:
    """RFC 7386 as its pseudo code has it."""
    if not isinstance(patch, dict):
        return patch
    target = dict(old) if isinstance(old, dict) else {}
    for name, value in patch.items():
        if value is None:
            target.pop(name, None)
        else:
            target[name] = patched(target.get(name), value)
    return target


@given(metadata(), metadata(), json_values())
def test_merging_equals_the_pseudo_code_of_the_rfc(old: Any, patch: Any, value: Any) -> None:
    patch = {**patch, **dict.fromkeys(list(old)[:1], value)}
    assert merge(old, patch) == patched(old, patch)


def test_an_equal_value_writes_nothing(store: MemoryStore) -> None:
    before, memory = len(store.log()), store.get("tea")
    same = {name: getattr(memory, name) for name in ("content", "tags", "importance", "role", "metadata", "space")}
    assert store.update("tea", **same) == memory
    assert store.update("tea") == memory
    assert len(store.log()) == before


def test_one_and_true_differ_in_metadata(store: MemoryStore) -> None:
    before = len(store.log())
    assert store.update("tea", metadata={"a": True}).metadata["a"] is True
    assert len(store.log()) == before + 1


def test_none_empties_an_optional_field(store: MemoryStore) -> None:
    store.update("tea", type="Habit", sequence=1, session_id="s", happened_at="2024-05-20T00:00Z", aliases=["old"])
    optional = ("type", "role", "sequence", "session_id", "source", "happened_at", "valid_from", "valid_until")
    emptied = store.update("tea", tags=None, aliases=None, **dict.fromkeys(optional))
    assert {getattr(emptied, name) for name in optional} == {None}
    assert emptied.tags == emptied.aliases == ()
    assert "old" not in store


@pytest.mark.parametrize("name", ["content", "importance", "confidence", "space", "archived"])
def test_none_does_not_empty_what_every_memory_has(store: MemoryStore, name: str) -> None:
    with pytest.raises(InvalidMemory, match=name):
        store.update("tea", **{name: None})


@pytest.mark.parametrize("name", ["created_at", "updated_at", "access_count", "accessed_at", "nonsense"])
def test_what_is_not_for_changing_is_refused(store: MemoryStore, name: str) -> None:
    with pytest.raises(InvalidMemory, match=name):
        store.update("tea", **{name: None})


def test_times_need_a_zone(store: MemoryStore) -> None:
    with pytest.raises(TimeError, match="valid_from"):
        store.update("tea", valid_from="2024-05-20")
    assert store.update("tea", valid_from="2024-05-20", zone="UTC").valid_from == datetime(2024, 5, 20, tzinfo=UTC)


def test_updating_the_unknown_is_an_error(store: MemoryStore) -> None:
    for unknown in ("ghost", "", 5, None):
        with pytest.raises(UnknownMemory):
            store.update(unknown, importance=1)  # type: ignore[arg-type]


def test_a_memory_moves_to_another_space_only_without_associations(store: MemoryStore) -> None:
    with pytest.raises(InvalidMemory, match="dissociate"):
        store.update("tea", space="kitchen")
    store.dissociate("rain", "LEADS_TO", "tea")
    store.recall("tea")
    assert store.update("tea", space="kitchen").space == "kitchen"
    assert store.recall("tea", space="kitchen")[0].memory_id == "tea"
    assert "tea" not in [hit.memory_id for hit in store.recall("tea")]
    assert store.check().ok


def test_a_space_may_be_named_by_its_id(store: MemoryStore) -> None:
    store.dissociate("rain", "LEADS_TO", "tea")
    kitchen = store.spaces.create("kitchen")
    assert store.update("tea", space=kitchen.space_id).space == "kitchen"
    assert len(store.spaces) == 2


def test_an_alias_of_another_memory_is_refused(store: MemoryStore) -> None:
    for alias in ("rain",):
        with pytest.raises(DuplicateMemory, match="alias"):
            store.update("tea", aliases=[alias])
    with pytest.raises(DuplicateMemory, match="alias"):
        store.update_many([{"memory_id": i, "aliases": ["same"]} for i in ("tea", "rain")])
    store.update("tea", aliases=["old"])
    assert store.update("old", importance=0.125).memory_id == "tea"


def test_many_are_updated_in_one_change_or_none(store: MemoryStore) -> None:
    patches = [{"memory_id": "tea", "importance": 1}, {"memory_id": "rain", "importance": 2}]
    with pytest.raises(InvalidMemory, match="item 1"):
        store.update_many(patches)
    assert store.get("tea").importance == 0.5
    found = store.update_many([*patches, {"importance": 1}, "x"], on_error="report")
    assert found[0] == "tea"
    assert [type(error) for error in found[1:]] == [InvalidMemory] * 3
    assert store.get("tea").importance == 1
    assert store.get("rain").importance == 0.5


def test_many_take_a_frame(store: MemoryStore) -> None:
    frame = pd.DataFrame({"memory_id": ["tea", "rain"], "importance": [0.25, np.nan], "type": [None, "Habit"]})
    assert store.update_many(frame) == ["tea", "rain"]
    assert (store.get("tea").importance, store.get("rain").type) == (0.25, "Habit")


def test_patches_of_one_memory_add_up(store: MemoryStore) -> None:
    store.update_many([{"memory_id": "tea", "metadata": {"x": 1}}, {"memory_id": "tea", "metadata": {"y": 2}}])
    assert store.get("tea").metadata == {"a": 1, "b": {"c": 2}, "x": 1, "y": 2}


def test_a_patch_that_takes_back_an_earlier_one_writes_nothing(store: MemoryStore) -> None:
    before = len(store.log())
    store.update_many([{"memory_id": "tea", "importance": 1}, {"memory_id": "tea", "importance": 0.5}])
    assert store.get("tea").importance == 0.5
    assert len(store.log()) == before


def test_many_updates_of_different_fields_come_back_after_a_rebuild(store: MemoryStore) -> None:
    store.update_many(
        [
            {"memory_id": "tea", "content": "a", "tags": ["x"], "protected": True},
            {"memory_id": "rain", "content": "b", "valid_until": "2030-01-01T00:00Z"},
        ]
    )
    before = [store.get("tea"), store.get("rain")]
    store.check(repair=True)
    assert [store.get("tea"), store.get("rain")] == before
