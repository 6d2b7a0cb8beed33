"""Telemetry: what is recalled is noted beside the store, never in it."""

import contextlib
import time
from pathlib import Path
from typing import Any

import apsw
import pytest

from memlab.encoders import HashEncoder
from memlab.errors import InvalidArgument
from memlab.store import MemoryStore


@pytest.fixture
def store() -> MemoryStore:
    """Two memories."""
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    store.add_many([{"content": "Tea at four.", "memory_id": "tea"}, {"content": "Rain.", "memory_id": "rain"}])
    return store


def call(**fields: Any) -> dict[str, Any]:
    """A tool call."""
    plain = {"time": 1, "client": "agent", "tool": "recall_memory", "space": None, "arguments": {"query": "tea"}}
    return {**plain, "seconds": 0.5, "ok": True, "hits": [], "error": None, **fields}


def test_a_recall_is_noted_with_what_it_found(store: MemoryStore) -> None:
    found = store.recall("tea at four", k=1, actor="ana")
    row = store.recalls.iloc[0]
    assert (row["recall_id"], row["actor"], row["query"], row["k"]) == (found.recall_id, "ana", "tea at four", 1)
    assert (row["store_seq"], row["candidates"], row["spaces"]) == (4, 2, ["default"])
    assert row["hits"] == [["tea", found[0].score, found[0].relevance]]
    assert str(store.recalls["time"].dtype) == "datetime64[us, UTC]"


def test_reading_stays_reading(store: MemoryStore) -> None:
    log, memory = store.log(), store.get("tea")
    for _ in range(3):
        store.recall(["tea", "rain"])
    store._telemetry.flush()
    assert store.log().equals(log)
    assert store.get("tea").updated_at == memory.updated_at
    assert len(store.recalls) == 6
    assert store.check().ok


def test_access_is_counted_in_memories_frames_and_iteration(store: MemoryStore) -> None:
    for round_ in (1, 2):
        store.recall("tea four", k=1, method="lexical")
        for _ in range(2):  # waiting, then written
            assert store.get("tea").access_count == round_
            assert store.get("tea").accessed_at == store.recalls["time"].iloc[-1]
            frame = store.memories.set_index("memory_id")
            assert frame["access_count"].to_dict() == {"tea": round_, "rain": 0}
            assert frame["accessed_at"].isna().to_dict() == {"tea": False, "rain": True}
            assert {m.memory_id: m.access_count for m in store} == {"tea": round_, "rain": 0}
            store._telemetry.flush()


def test_calls_are_given_back_waiting_or_written(store: MemoryStore) -> None:
    store._telemetry.called(call())
    store._telemetry.flush()
    store._telemetry.called(call(ok=False, error="no", hits=["tea"], space="default"))
    calls = store.calls
    assert calls["tool"].tolist() == ["recall_memory"] * 2
    assert calls["arguments"].tolist() == [{"query": "tea"}] * 2
    assert calls["hits"].tolist() == [[], ["tea"]]
    assert calls["ok"].astype(bool).tolist() == [True, False]


def test_what_waits_is_written_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "s.memlab"
    with MemoryStore.open(path, encoder=None) as a, MemoryStore.open(path, encoder=None) as b:
        a.add("Tea.", memory_id="tea")
        a.recall("tea")
        until = time.monotonic() + 20
        while len(b.recalls) == 0 and time.monotonic() < until:
            time.sleep(0.02)
        assert len(b.recalls) == 1
        assert b.get("tea").access_count == 1
        b.recall("tea")
        b._telemetry.flush()
        assert a.get("tea").access_count == 2
        assert a.memories["access_count"].tolist() == [2]


def test_closing_writes_what_waits(tmp_path: Path) -> None:
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        store.add("Tea.", memory_id="tea")
        store.recall("tea")
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        assert store.recalls["query"].tolist() == ["tea"]
        assert store.get("tea").access_count == 1


def test_a_busy_file_makes_telemetry_wait_and_no_recall(tmp_path: Path) -> None:
    path = tmp_path / "s.memlab"
    with MemoryStore.open(path, encoder=None, timeout=0.1) as store:
        store.add("Tea.")
        other = apsw.Connection(str(path))
        with contextlib.closing(other):
            other.execute("BEGIN IMMEDIATE")
            store.recall("tea")
            store._telemetry._in_background()
            assert len(store.recalls) == 1
            other.execute("ROLLBACK")
        store._telemetry._in_background()
        assert store._journal.rows("SELECT count(*) FROM recalls") == [(1,)]


def test_telemetry_that_can_never_be_written_is_lost_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "s.memlab"
    store = MemoryStore.open(path, encoder=None, timeout=0.1)
    store.add("Tea.")
    other = apsw.Connection(str(path))
    with contextlib.closing(other):
        other.execute("BEGIN IMMEDIATE")
        store.recall("tea")
        with pytest.warns(RuntimeWarning, match="1 recalls and 0 calls"):
            store.close()
        other.execute("ROLLBACK")
    with MemoryStore.open(path, encoder=None) as store:
        assert len(store) == 1


def test_an_actor_that_cannot_be_stored_is_refused_at_once(store: MemoryStore) -> None:
    with pytest.raises(InvalidArgument, match="actor"):
        store.recall("tea", actor="\udc9f")


def test_frames_of_nothing_have_the_same_columns(store: MemoryStore) -> None:
    recalls, calls = store.recalls, store.calls
    store.recall("tea")
    store._telemetry.called(call())
    assert recalls.columns.tolist() == store.recalls.columns.tolist()
    assert calls.columns.tolist() == store.calls.columns.tolist()


def test_the_access_of_a_deleted_memory_comes_back_with_it(store: MemoryStore) -> None:
    store.recall("tea four", k=1, method="lexical")
    store.delete("tea")
    assert store.memories["access_count"].tolist() == [0]
    store.undo(int(store.log()["change"].iloc[-1]))
    assert store.get("tea").access_count == 1
