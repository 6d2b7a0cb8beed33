"""Reading without a query: get, len, in, iteration, frames, select, describe, embeddings."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

from memlab.encoders import HashEncoder
from memlab.errors import (
    EncoderMismatch,
    FilterError,
    InvalidArgument,
    MemlabError,
    MethodError,
    TimeError,
    UnknownMemory,
    UnknownSpace,
)
from memlab.records import FIELDS, Memory
from memlab.store import MemoryStore


@pytest.fixture
def store() -> MemoryStore:
    """Three dated memories in the default space, one elsewhere."""
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    for day, name in enumerate(("tea", "rain", "snow"), start=1):
        store.add(
            f"{name} again.",
            memory_id=name,
            happened_at=datetime(2024, 5, day, tzinfo=UTC),
            tags=["sky" if name != "tea" else "drink/hot"],
            metadata={"n": day},
        )
    store.add("Elsewhere.", memory_id="x", space="other")
    return store


def test_len_in_iteration_and_get_agree(store: MemoryStore) -> None:
    memories = list(store)
    assert len(store) == len(memories) == 4
    assert [m.memory_id for m in memories] == store.memories["memory_id"].tolist() == ["tea", "rain", "snow", "x"]
    assert all(isinstance(m, Memory) and m.memory_id in store and store.get(m.memory_id) == m for m in memories)


@pytest.mark.parametrize("unknown", ["ghost", "", "TEA", 5, None, ["tea"], "\udc9f"], ids=ascii)
def test_what_is_not_there_is_not_in_and_cannot_be_got(store: MemoryStore, unknown: Any) -> None:
    assert unknown not in store
    with pytest.raises(UnknownMemory) as caught:
        store.get(unknown)
    assert isinstance(caught.value, KeyError)


def test_an_alias_leads_to_the_memory_it_was_merged_into(store: MemoryStore) -> None:
    store.update("tea", aliases=["chai"])
    assert "chai" in store
    assert store.get("chai").memory_id == "tea"
    store.delete("tea")
    assert "chai" not in store


def test_iteration_is_over_the_store_as_it_was_when_it_began(store: MemoryStore) -> None:
    seen = []
    for memory in store:
        store.delete(memory.memory_id)
        seen.append(memory.memory_id)
    assert seen == ["tea", "rain", "snow", "x"]
    assert len(store) == 0


def test_the_frame_has_every_field_in_order_and_the_same_types_when_empty(store: MemoryStore) -> None:
    frame, empty = store.memories, MemoryStore(encoder=None).memories
    assert tuple(frame.columns) == tuple(empty.columns) == FIELDS
    assert frame.dtypes.astype(str).tolist() == empty.dtypes.astype(str).tolist()
    assert {str(frame[name].dtype) for name in FIELDS if name.endswith(("_at", "_from", "_until"))} == {
        "datetime64[us, UTC]"
    }


def test_a_frame_is_the_readers_own(store: MemoryStore) -> None:
    before = store.memories
    frame = store.memories
    frame.loc[0, "content"] = "changed"
    frame.loc[:, "importance"] = 0.0
    frame["happened_at"] = pd.NaT
    pd.testing.assert_frame_equal(store.memories, before)
    store.update("tea", content="Tea at last.")
    assert before["content"].iloc[0] == "tea again."


def test_select_filters_and_keeps_the_order(store: MemoryStore) -> None:
    def found(**filters: Any) -> list[str]:
        return store.select(**filters)["memory_id"].tolist()

    assert found() == ["tea", "rain", "snow"]
    assert found(where={"metadata.n": {"ge": 2}}) == ["rain", "snow"]
    assert found(tags="SKY") == ["rain", "snow"]
    assert found(tags="drink", tag_match="prefix") == ["tea"]
    assert found(exclude_tags=["sky"]) == ["tea"]
    assert found(since="2024-05-02", zone="UTC") == ["rain", "snow"]
    assert found(until="2024-05-02T00:00Z") == ["tea"]
    assert found(time="last 2 days", now="2024-05-03T12:00Z") == ["rain", "snow"]
    assert found(space="*") == ["tea", "rain", "snow", "x"]
    assert found(space=["other", "default"]) == ["tea", "rain", "snow", "x"]
    assert found(space=store.spaces.describe("other").space_id) == ["x"]


def test_select_finds_all_however_many() -> None:
    store = MemoryStore(encoder=None)
    store.add_many([f"Memory {i}." for i in range(10_001)], progress=False)
    assert len(store.select()) == len(store.memories) == store.describe()["memories"] == 10_001


def test_select_after_deletes_gives_the_right_rows(store: MemoryStore) -> None:
    store.delete("rain")
    store.add("hail again.", memory_id="hail", tags=["sky"])
    assert store.select(tags="sky")["memory_id"].tolist() == ["snow", "hail"]
    assert store.select(tags="sky").index.tolist() == [0, 1]


def test_select_current_leaves_the_past_out(store: MemoryStore) -> None:
    store.update("tea", archived=True)
    store.update("rain", valid_until="2024-06-01T00:00Z")
    store.add("more snow", memory_id="new", supersedes="snow")
    assert store.select(state="current")["memory_id"].tolist() == ["new"]
    assert store.select(state="current", at="2024-05-20T00:00Z")["memory_id"].tolist() == ["rain", "new"]
    assert len(store.select()) == 4


@pytest.mark.parametrize(
    ("filters", "error"),
    [
        ({"space": "nowhere"}, UnknownSpace),
        ({"space": ["default", "nowhere"]}, UnknownSpace),
        ({"space": []}, MethodError),
        ({"space": 5}, InvalidArgument),
        ({"where": {"metadata.n": {"like": 1}}}, FilterError),
        ({"where": {}}, FilterError),
        ({"since": "2024-05-20"}, TimeError),
        ({"since": 5}, TimeError),
        ({"time": "when hell freezes"}, TimeError),
        ({"time": "today", "since": "2024-05-20T00:00Z"}, InvalidArgument),
        ({"state": "future"}, InvalidArgument),
        ({"tag_mode": "some"}, FilterError),
        ({"state": "current", "at": "noon"}, TimeError),
        ({"at": "2024-05-20T12:00Z"}, InvalidArgument),
    ],
    ids=str,
)
def test_what_cannot_be_read_is_refused(store: MemoryStore, filters: Any, error: type[MemlabError]) -> None:
    with pytest.raises(error):
        store.select(**filters)


def test_a_store_without_any_memory_selects_nothing() -> None:
    store = MemoryStore(encoder=None)
    assert len(store.select()) == len(store.select(state="current")) == len(store.select(space="*")) == 0
    assert tuple(store.select().columns) == FIELDS


def test_embeddings_are_those_of_the_texts(store: MemoryStore) -> None:
    frame = store.embeddings()
    assert frame.index.names == ["memory_id", "window"]
    assert frame.index.get_level_values("memory_id").tolist() == ["tea", "rain", "snow", "x"]
    assert set(frame.dtypes.astype(str)) == {"float32"}
    expected = store.encoder.encode([m.text for m in store])  # type: ignore[union-attr]
    np.testing.assert_array_equal(frame.to_numpy(), expected)


def test_embeddings_of_an_empty_store_have_the_shape_of_the_encoder() -> None:
    frame = MemoryStore(encoder=HashEncoder(dimension=16)).embeddings()
    assert frame.shape == (0, 16)
    assert frame.index.names == ["memory_id", "window"]


def test_embeddings_need_an_encoder() -> None:
    with pytest.raises(EncoderMismatch, match="without an encoder"):
        MemoryStore(encoder=None).embeddings()


def test_describe_counts(store: MemoryStore) -> None:
    store.update("tea", archived=True)
    store.add("more snow", supersedes="snow")
    figures = store.describe()
    expected = {"memories": 5, "associations": 1, "spaces": 2, "archived": 1, "superseded": 1, "without event time": 2}
    assert {name: figures[name] for name in expected} == expected
    assert figures["encoder"] == "hash-16"
    assert figures["changes"] == store.log()["seq"].max()
