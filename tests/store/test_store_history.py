"""The log, earlier states, and what lies between them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from encoders_store import Counting

from memlab.encoders import HashEncoder
from memlab.errors import InvalidArgument, ReadOnlyStore, StoreClosed, TimeError, UnknownChange, UnknownMemory
from memlab.store import MemoryStore


@pytest.fixture
def store() -> MemoryStore:
    """A store with a past: two memories, an association, an update, a delete, a renamed space."""
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    store.add_many([{"content": "Tea.", "memory_id": "tea"}, {"content": "Rain.", "memory_id": "rain"}], actor="ana")
    store.register_relation("CITES")
    store.associate("rain", "CITES", "tea", actor="bo")
    store.update("tea", content="Green tea.", actor="bo")
    store.delete("rain", actor="ana")
    store.spaces.rename("default", "home")
    return store


def seq(store: MemoryStore, verb: str) -> int:
    """The place of the last row of a verb."""
    return int(store.log().query("verb == @verb")["seq"].iloc[-1])


def test_the_log_has_every_change_in_order(store: MemoryStore) -> None:
    log = store.log()
    assert log["verb"].tolist() == [
        *("encode", "add", "add", "add", "register", "associate", "update"),
        *("delete", "delete", "update"),
    ]
    assert log["kind"].tolist() == [
        *("encoder", "space", "memory", "memory", "relation", "association", "memory"),
        *("association", "memory", "space"),
    ]
    assert log["seq"].tolist() == list(range(1, 11))
    assert log["change"].tolist() == [1, 1, 1, 1, 5, 6, 7, 8, 8, 10]
    assert str(log["time"].dtype) == "datetime64[us, UTC]"
    assert log["time"].is_monotonic_increasing
    row = log.iloc[6]
    assert row["before"]["content"] == "Tea."
    assert row["after"]["content"] == "Green tea."
    assert set(row["after"]) == {"content", "updated_at"}


def test_the_log_is_cut_by_actor_and_by_since(store: MemoryStore) -> None:
    assert store.log(actor="bo")["verb"].tolist() == ["associate", "update"]
    assert store.log(since=9)["seq"].tolist() == [9, 10]
    assert store.log(since=np.int64(9), actor="ana")["seq"].tolist() == [9]
    assert len(store.log(since=10**30)) == 0
    moment = store.log()["time"].iloc[6]
    assert set(store.log(since=moment)["seq"]) >= {7, 8, 9, 10}
    assert len(store.log(since=datetime.now(UTC) + timedelta(days=1))) == 0
    for bad in ("2024-05-20", 5.5, True):
        with pytest.raises(TimeError):
            store.log(since=bad)
    with pytest.raises(InvalidArgument):
        store.log(actor="\udc9f")


def test_the_log_of_an_empty_store_has_the_same_columns(store: MemoryStore) -> None:
    empty = MemoryStore(encoder=None).log()
    assert empty.dtypes.tolist() == store.log().dtypes.tolist()


def test_the_log_is_the_readers_own(store: MemoryStore) -> None:
    frame = store.log()
    frame.loc[0, "actor"] = "nobody"
    frame["before"].iloc[6]["content"] = "nothing"
    assert store.log()["actor"].iloc[0] == "ana"
    assert store.log()["before"].iloc[6]["content"] == "Tea."


def test_metadata_nested_as_deep_as_it_may_be_stands_in_the_log() -> None:
    store = MemoryStore(encoder=None)
    deep: dict[str, Any] = {}
    for _ in range(62):
        deep = {"a": deep}
    store.add("Tea.", metadata=deep)
    assert store.log()["after"].iloc[-1]["metadata"] == deep


def test_history_is_that_of_one_memory_and_its_associations(store: MemoryStore) -> None:
    assert store.history("tea")["verb"].tolist() == ["add", "associate", "update", "delete"]
    assert store.history("rain")["verb"].tolist() == ["add", "associate", "delete", "delete"]
    for unknown in ("ghost", "CITES", "", None):
        with pytest.raises(UnknownMemory):
            store.history(unknown)  # type: ignore[arg-type]


def test_the_past_is_as_it_was(store: MemoryStore) -> None:
    past = store.as_of(seq(store, "associate"))
    assert past.memories[["memory_id", "content", "space"]].values.tolist() == [
        ["tea", "Tea.", "default"],
        ["rain", "Rain.", "default"],
    ]
    assert past.associations[["source", "relation", "target"]].values.tolist() == [["rain", "CITES", "tea"]]
    assert "CITES" in past.relations
    assert past.spaces.list()["name"].tolist() == ["default"]
    assert past.log()["seq"].tolist() == [1, 2, 3, 4, 5, 6]
    assert past.history("tea")["verb"].tolist() == ["add", "associate"]
    assert past.recall("tea")[0].memory.content == "Tea."
    assert past.recall("green", method="lexical").hits == ()
    assert past.check().ok
    early = store.as_of(4)
    assert "CITES" not in early.relations
    assert len(early.associations) == 0
    assert len(store) == 1
    assert store.check().ok


def test_before_anything_there_was_nothing(store: MemoryStore) -> None:
    past = store.as_of(0)
    assert len(past) == len(past.spaces) == len(past.log()) == 0
    assert past.check().ok


def test_the_past_of_the_last_change_is_the_present(store: MemoryStore) -> None:
    past = store.as_of(10)
    assert list(past) == list(store)
    assert past.spaces.list().values.tolist() == store.spaces.list().values.tolist()
    assert not store.diff(10)


def test_a_time_means_all_that_was_written_by_then(store: MemoryStore) -> None:
    times = store.log()["time"]
    assert store.as_of(times.iloc[-1].to_pydatetime()).log()["seq"].max() == 10
    assert store.as_of(times.iloc[-1].isoformat()).log()["seq"].max() == 10
    assert store.as_of(datetime.now(UTC) + timedelta(days=1)).log()["seq"].max() == 10
    assert len(store.as_of("2020-01-01T00:00Z")) == 0
    local = MemoryStore(encoder=None, zone="Europe/Oslo")
    assert len(local.as_of("2020-01-01")) == 0


@pytest.mark.parametrize(
    ("when", "error"),
    [(-1, UnknownChange), (11, UnknownChange), (10**30, UnknownChange), ("2024-05-20", TimeError), (True, TimeError)],
    ids=str,
)
def test_a_place_that_is_not_in_the_log_is_refused(store: MemoryStore, when: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        store.as_of(when)
    with pytest.raises(error):
        store.diff(when)


def test_the_past_cannot_be_written(store: MemoryStore) -> None:
    past = store.as_of(3)
    writes = [
        lambda: past.add("x"),
        lambda: past.add_many(["x"]),
        lambda: past.update("tea", importance=1),
        lambda: past.delete("tea"),
        lambda: past.forget("tea"),
        lambda: past.undo(1),
        lambda: past.spaces.create("x"),
        lambda: past.register_relation("QUOTES"),
        past.prune_vectors,
        lambda: past.reencode(HashEncoder(dimension=8)),
    ]
    for write in writes:
        with pytest.raises(ReadOnlyStore, match="past"):
            write()
    assert len(past.log()) == 3


def test_the_past_encodes_nothing_anew_and_outlives_the_present() -> None:
    encoder = Counting()
    store = MemoryStore(encoder=encoder)
    tea = store.add("Tea.")
    store.update(tea, content="Rain.")
    encoder.asked.clear()
    past = store.as_of(3)
    store.close()
    assert past.recall("tea", method="dense")[0].memory.content == "Tea."
    assert encoder.asked == ["tea"]
    past.close()
    with pytest.raises(StoreClosed):
        len(past)


def test_the_past_has_a_past(store: MemoryStore) -> None:
    past = store.as_of(9)
    assert [m.content for m in past.as_of(4)] == ["Tea.", "Rain."]
    assert repr(past.diff(4, 9)) == repr(store.diff(4, 9))


def test_what_came_back_stands_where_it_came_back_in_the_past_too(store: MemoryStore) -> None:
    store.add("Snow.", memory_id="snow", space="home")
    store.undo(8)
    place = int(store.log()["seq"].max())
    order = [m.memory_id for m in store]
    store.delete(order)
    assert [m.memory_id for m in store.as_of(place)] == order == ["tea", "snow", "rain"]


def test_a_store_without_an_encoder_has_a_past_too() -> None:
    store = MemoryStore(encoder=None)
    store.add("Tea.")
    assert store.as_of(2).recall("tea")[0].memory.content == "Tea."


def test_diff_says_what_lies_between(store: MemoryStore) -> None:
    whole = store.diff(0)
    assert [m.memory_id for m in whole.added] == ["tea"]
    between = store.diff(6, 9)
    assert [m.memory_id for m in between.removed] == ["rain"]
    assert [(a.content, b.content) for a, b in between.changed] == [("Tea.", "Green tea.")]
    assert [a.relation for a in between.dissociated] == ["CITES"]
    back = store.diff(9, 6)
    assert [m.memory_id for m in back.added] == ["rain"]
    assert [a.relation for a in back.associated] == ["CITES"]
    renamed = store.diff(9)
    assert [(a.space, b.space) for a, b in renamed.changed] == [("default", "home")]
    assert not store.diff(5, 5)
    assert len(between.frame) == 3


def test_times_in_the_log_never_go_back(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore(encoder=None)
    store.add("Tea.")
    early = datetime(2020, 1, 1, tzinfo=UTC)
    monkeypatch.setattr("memlab.store_commit.now", lambda: early)
    store.add("Rain.")
    assert store.log()["time"].is_monotonic_increasing
    assert len(store.as_of(store.log()["time"].iloc[-1])) == 2
