"""Adding memories: what goes in comes out, and a refused call changes nothing."""

import json
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from encoders_store import Bent, Counting

from memlab.errors import (
    DuplicateMemory,
    EncoderError,
    EncoderMismatch,
    InvalidArgument,
    InvalidMemory,
    TimeError,
    UnknownMemory,
    UnknownSpace,
)
from memlab.store import MemoryStore


@pytest.fixture
def store() -> MemoryStore:
    """An empty store without an encoder."""
    return MemoryStore(encoder=None)


def test_add_returns_the_id_and_every_field_comes_back(store: MemoryStore) -> None:
    given: dict[str, Any] = {
        "memory_id": "2024/plan ../x",
        "space": "work",
        "type": "Decision",
        "tags": ["Home", "home", "x/y"],
        "importance": 1,
        "confidence": 0.25,
        "metadata": {"a": {"b": [1, None, "é"]}, "n": 2**53 + 1},
        "role": "Ana",
        "session_id": "s1",
        "sequence": 3,
        "content_type": "markdown",
        "source": "https://example.org",
        "happened_at": "2024-05-20T09:00+01:00",
        "created_at": datetime(2020, 1, 1, tzinfo=UTC),
        "valid_from": "2024-01-01T00:00Z",
        "valid_until": "2025-01-01T00:00Z",
        "archived": True,
        "protected": True,
        "aliases": ["merged"],
    }
    assert store.add("Ana moved.", **given) == "2024/plan ../x"
    memory = store.get("2024/plan ../x")
    expected = {**given, "tags": ("Home", "x/y"), "aliases": ("merged",), "importance": 1.0}
    expected |= {"happened_at": datetime(2024, 5, 20, 8, tzinfo=UTC), "content": "Ana moved."}
    expected |= {"valid_from": datetime(2024, 1, 1, tzinfo=UTC), "valid_until": datetime(2025, 1, 1, tzinfo=UTC)}
    assert {name: getattr(memory, name) for name in expected} == expected
    assert memory.updated_at > memory.created_at
    assert memory.access_count == 0


def test_without_an_id_each_memory_gets_its_own(store: MemoryStore) -> None:
    first, second = store.add("a" * 150 + "b"), store.add("a" * 150 + "c")
    assert first != second
    assert len(store) == 2


def test_times_of_writing_are_now(store: MemoryStore) -> None:
    before = datetime.now(UTC)
    memory = store.get(store.add("Tea."))
    assert before <= memory.created_at <= memory.updated_at <= datetime.now(UTC)
    assert memory.event_time == memory.created_at


@pytest.mark.parametrize(
    "content", ["", "   ", "\n\t", "\u200b", None, 5, b"bytes", json.loads('"\\udc9f"'), "nul\x00"], ids=ascii
)
def test_what_is_no_text_is_refused_and_changes_nothing(store: MemoryStore, content: Any) -> None:
    with pytest.raises(InvalidMemory):
        store.add(content)
    assert len(store) == 0
    assert len(store.log()) == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"memory_id": ""},
        {"memory_id": 7},
        {"importance": 1.01},
        {"importance": float("nan")},
        {"confidence": "high"},
        {"metadata": {"x": float("inf")}},
        {"metadata": {"x": float("nan")}},
        {"metadata": {1: "a"}},
        {"metadata": ["a"]},
        {"metadata": {"x": object()}},
        {"tags": "one"},
        {"sequence": -1},
        {"sequence": 2**63},
        {"archived": "yes"},
        {"wrong": 1},
        {"updated_at": datetime(2024, 1, 1, tzinfo=UTC)},
        {"access_count": 3},
        {"space": ""},
        {"space": "*"},
        {"space": 3},
        {"valid_from": "2025-01-01T00:00Z", "valid_until": "2024-01-01T00:00Z"},
    ],
    ids=str,
)
def test_a_field_that_cannot_be_stored_is_refused_by_name(store: MemoryStore, fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidMemory) as caught:
        store.add("Tea.", **fields)
    assert next(iter(fields)) in str(caught.value)
    assert len(store.log()) == 0


def test_a_time_without_zone_is_refused_unless_call_or_store_names_one() -> None:
    with pytest.raises(TimeError, match="happened_at"):
        MemoryStore(encoder=None).add("Tea.", happened_at="2024-05-20 09:00")
    oslo = MemoryStore(encoder=None, zone="Europe/Oslo")
    summer = datetime(2024, 5, 20, 7, tzinfo=UTC)
    assert oslo.get(oslo.add("Tea.", happened_at="2024-05-20 09:00")).happened_at == summer
    here = oslo.add("Tea.", happened_at="2024-05-20 07:00", zone="UTC")
    assert oslo.get(here).happened_at == summer


def test_an_unknown_zone_is_refused_even_where_no_time_needs_it(store: MemoryStore) -> None:
    with pytest.raises(TimeError):
        store.add("Tea.", zone="Nowhere/Land")
    with pytest.raises(TimeError):
        MemoryStore(encoder=None, zone="Nowhere/Land")


def test_an_id_is_never_used_twice(store: MemoryStore) -> None:
    store.add("Tea.", memory_id="m", aliases=["old"])
    for taken in ("m", "old"):
        with pytest.raises(DuplicateMemory, match=repr(taken)):
            store.add("Rain.", memory_id=taken)
    store.delete("m")
    with pytest.raises(DuplicateMemory):
        store.add("Rain.", memory_id="m")
    store.forget("m")
    with pytest.raises(DuplicateMemory):
        store.add("Rain.", memory_id="m")


def test_an_alias_cannot_name_another_memory(store: MemoryStore) -> None:
    store.add("Tea.", memory_id="a", aliases=["x"])
    for alias in ("a", "x"):
        with pytest.raises(DuplicateMemory, match="alias"):
            store.add("Rain.", aliases=[alias])
    assert len(store) == 1


def test_the_same_content_is_kept_twice_unless_told_to_skip(store: MemoryStore) -> None:
    first = store.add("Tea")
    assert store.add("Tea\n") != first
    before = len(store.log())
    assert store.add(" TEA ", on_duplicate="skip") == first
    assert len(store.log()) == before
    elsewhere = store.add("tea", on_duplicate="skip", space="other")
    assert elsewhere != first


def test_skipping_follows_updates_deletes_and_renames(store: MemoryStore) -> None:
    tea = store.add("Tea", on_duplicate="skip")
    store.update(tea, content="Rain")
    green = store.add("tea", on_duplicate="skip")
    assert green != tea
    assert store.add("rain", on_duplicate="skip") == tea
    store.delete(tea)
    assert store.add("rain", on_duplicate="skip") != tea
    store.spaces.rename("default", "home")
    assert store.add("tea", on_duplicate="skip", space="home") == green


def test_importing_the_same_rows_again_adds_nothing(store: MemoryStore) -> None:
    rows = [{"memory_id": f"m{i}", "content": f"Memory {i}."} for i in range(5)]
    first = store.add_many(rows)
    assert store.add_many(rows, on_duplicate="skip") == first
    assert len(store) == 5


def test_skipping_counts_the_first_of_equal_contents_within_a_call(store: MemoryStore) -> None:
    a, b, c = store.add_many(["Tea", "tea ", "Rain"], on_duplicate="skip")
    assert a == b != c
    assert len(store) == 2


def test_add_many_takes_texts_mappings_memories_and_generators(store: MemoryStore) -> None:
    other = MemoryStore(encoder=None)
    memory = other.get(other.add("Rain.", importance=0.9, memory_id="rain"))
    items = ["Tea.", {"content": "Snow.", "tags": ["sky"]}, memory]
    ids = store.add_many(item for item in items)
    assert [store.get(i).content for i in ids] == ["Tea.", "Snow.", "Rain."]
    assert store.get("rain").importance == 0.9
    assert store.get("rain").created_at == memory.created_at


def test_add_many_takes_a_frame_whose_missing_cells_count_as_not_given(store: MemoryStore) -> None:
    frame = pd.DataFrame(
        {
            "content": ["Tea.", "Rain."],
            "sequence": [1, None],
            "type": [None, "Habit"],
            "happened_at": [pd.NaT, pd.Timestamp("2024-05-20", tz="UTC")],
            "importance": [np.nan, 0.25],
        }
    )
    tea, rain = map(store.get, store.add_many(frame))
    assert (tea.sequence, tea.type, tea.happened_at, tea.importance) == (1, None, None, 0.5)
    assert (rain.sequence, rain.type, rain.importance) == (None, "Habit", 0.25)
    assert rain.happened_at == datetime(2024, 5, 20, tzinfo=UTC)


def test_the_frame_of_one_store_can_be_added_to_another(store: MemoryStore) -> None:
    store.add_many([{"content": "Tea.", "tags": ["a"], "metadata": {"n": {"m": 1}}, "sequence": 4}, "Rain."])
    other = MemoryStore(encoder=None)
    other.add_many(store.memories)
    kept = [c for c in store.memories.columns if c not in ("updated_at", "access_count", "accessed_at")]
    pd.testing.assert_frame_equal(store.memories[kept], other.memories[kept])


@pytest.mark.parametrize("items", ["Tea.", {"content": "Tea."}, 5, None, b"Tea."], ids=str)
def test_what_is_not_many_items_is_refused(store: MemoryStore, items: Any) -> None:
    with pytest.raises(InvalidArgument):
        store.add_many(items)


def test_one_bad_item_refuses_all_and_is_named(store: MemoryStore) -> None:
    with pytest.raises(InvalidMemory, match="item 1"):
        store.add_many(["Tea.", "", "Rain."])
    store.add("Tea.", memory_id="tea")
    with pytest.raises(DuplicateMemory, match="item 2"):
        store.add_many(["a", "b", {"content": "c", "memory_id": "tea"}])
    assert len(store) == 1


def test_report_writes_the_good_items_and_gives_an_error_for_each_bad_one(store: MemoryStore) -> None:
    items = ["Tea.", "", {"content": "x", "nope": 1}, 7, {"content": "Rain.", "memory_id": "r"}]
    items += [{"content": "Again.", "memory_id": "r"}]
    found = store.add_many(items, on_error="report")
    assert [type(item) for item in found] == [
        str,
        InvalidMemory,
        InvalidMemory,
        InvalidMemory,
        str,
        DuplicateMemory,
    ]
    assert "item 5" in str(found[5])
    assert store.memories["content"].tolist() == ["Tea.", "Rain."]


def test_report_with_only_bad_items_writes_nothing(store: MemoryStore) -> None:
    assert len(store.add_many(["", ""], on_error="report", space="new")) == 2
    assert len(store.log()) == 0
    assert "new" not in store.spaces


def test_a_space_is_not_made_for_an_item_that_is_refused(store: MemoryStore) -> None:
    store.add("Tea.", memory_id="m")
    store.add_many([{"content": "x", "memory_id": "m", "space": "new"}, "y"], on_error="report")
    assert "new" not in store.spaces


def test_add_many_of_nothing_writes_nothing(store: MemoryStore) -> None:
    assert store.add_many([]) == []
    assert store.add_many(pd.DataFrame()) == []
    assert len(store.log()) == 0


@pytest.mark.parametrize("arguments", [{"on_error": "ignore"}, {"on_duplicate": "merge"}], ids=str)
def test_an_unknown_policy_is_refused(store: MemoryStore, arguments: dict[str, str]) -> None:
    with pytest.raises(InvalidArgument, match=next(iter(arguments.values()))):
        store.add_many(["Tea."], **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("actor", ["", None, "\udc9f", 5], ids=ascii)
def test_an_actor_is_a_text(store: MemoryStore, actor: Any) -> None:
    with pytest.raises(InvalidArgument, match="actor"):
        store.add("Tea.", actor=actor)


def test_supersedes_associates_in_the_same_change(store: MemoryStore) -> None:
    old = store.add("Ana lives in Porto.")
    new = store.add("Ana lives in Oslo.", supersedes=old)
    assert store.associations[["source", "relation", "target"]].values.tolist() == [[old, "INVALIDATED_BY", new]]
    assert store.log()["change"].iloc[-1] == store.log()["change"].iloc[-2]
    assert store.select(state="current")["memory_id"].tolist() == [new]


def test_superseding_the_unknown_adds_nothing(store: MemoryStore) -> None:
    with pytest.raises(UnknownMemory, match="ghost"):
        store.add("Tea.", supersedes="ghost")
    elsewhere = store.add("Rain.", space="other")
    with pytest.raises(UnknownMemory, match="default"):
        store.add("Tea.", supersedes=elsewhere)
    assert len(store) == 1


def test_superseding_something_later_is_refused_since_the_later_would_win(store: MemoryStore) -> None:
    late = store.add("Ana lives in Oslo.", happened_at="2024-05-20T00:00Z")
    with pytest.raises(InvalidMemory, match="happened_at"):
        store.add("Ana lives in Porto.", happened_at="2023-05-20T00:00Z", supersedes=late)
    assert len(store) == 1


def test_the_space_of_a_call_is_for_items_that_name_none(store: MemoryStore) -> None:
    store.add_many(["Tea.", {"content": "Rain.", "space": "sky"}], space="kitchen")
    assert store.memories["space"].tolist() == ["kitchen", "sky"]
    kitchen = store.spaces.describe("kitchen").space_id
    by_id = store.add("Cake.", space=kitchen)
    assert store.get(by_id).space == "kitchen"


def test_equal_texts_are_encoded_once_for_ever() -> None:
    encoder = Counting()
    store = MemoryStore(encoder=encoder)
    store.add_many(["Tea.", "Tea.", "Rain."])
    store.add("Rain.")
    assert encoder.asked == ["Tea.", "Rain."]


@pytest.mark.parametrize(
    ("give", "error"),
    [
        (lambda n: np.ones((n, 5), dtype=np.float32), EncoderMismatch),
        (lambda n: np.full((n, 4), np.nan), EncoderError),
        (lambda n: np.ones((n + 1, 4)), EncoderError),
        (lambda n: None, EncoderError),
        (lambda n: 1 / 0, ZeroDivisionError),
    ],
)
def test_an_encoder_that_fails_leaves_the_store_as_it_was(give: Any, error: type[Exception]) -> None:
    encoder = Bent(4, lambda n: np.ones((n, 4)))
    store = MemoryStore(encoder=encoder)
    store.add("Tea.")
    encoder.give = give
    with pytest.raises(error):
        store.add("Rain.")
    with pytest.raises(error):
        store.add_many(["Rain.", "Snow."])
    encoder.give = lambda n: np.ones((n, 4))
    assert len(store) == 1
    assert store.check().ok
    store.add("Rain.")
    assert store.check().ok


def test_a_text_without_anything_to_encode_is_kept_and_found_by_words() -> None:
    store = MemoryStore(encoder=Bent(4, lambda n: np.zeros((n, 4))))
    silent = store.add("!!! tea")
    assert store.recall("tea", method="lexical")[0].memory_id == silent
    assert len(store.recall("tea", method="dense")) == 0
    assert store.check().ok


def test_the_first_memory_makes_the_space_that_it_names(store: MemoryStore) -> None:
    with pytest.raises(UnknownSpace):
        store.recall("tea", space="kitchen")
    store.add("Tea.", space="kitchen")
    assert store.recall("tea", space="kitchen")[0].memory.content == "Tea."
