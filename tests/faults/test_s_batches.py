"""Kind S: failures within a batch, and what "stored" means.

Law: a transaction is all or nothing, and what a verb returns was stored. With ``on_error="report"`` the bad items
are told, each in its place, and the good ones are stored in one transaction; that isn't a failed transaction. What
fails in mid-write leaves store and log as they were.
"""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from worlds import diary, found, state

from memlab.errors import DuplicateMemory, InvalidArgument, InvalidMemory, MemlabError
from memlab.store import MemoryStore

BAD_ITEMS = {
    "blank": "",
    "surrogate": "\ud800",
    "no content": {"tags": ["x"]},
    "unknown field": {"content": "x", "colour": "red"},
    "taken id": {"content": "x", "memory_id": "move"},
    "id given twice": {"content": "x", "memory_id": "good"},
    "bad metadata": {"content": "x", "metadata": {"a": float("nan")}},
    "bad time": {"content": "x", "happened_at": "2024-05-20"},
    "bad span": {"content": "x", "valid_from": "2024-05-21T00:00Z", "valid_until": "2024-05-20T00:00Z"},
    "bad importance": {"content": "x", "importance": 2},
    "bad zone": {"content": "x", "zone": "Atlantis"},
    "no item": 5,
    "None": None,
    "bytes": b"x",
    "tuple": ("x",),
    "key that is no text": {"content": "x", 5: 1},
}


@pytest.mark.parametrize("bad", BAD_ITEMS.values(), ids=BAD_ITEMS)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_bad_item_refuses_all_and_is_named(bad: object, place: int) -> None:
    store = diary()
    before = state(store)
    items: list[object] = [{"content": "one", "memory_id": "good", "space": "new"}, "two"]
    # The second of two equal ids is the bad one.
    place = max(place, 1) if isinstance(bad, dict) and bad.get("memory_id") == "good" else place
    items.insert(place, bad)
    with pytest.raises(MemlabError, match=f"item {place}"):
        store.add_many(items, progress=False)
    assert state(store) == before


@pytest.mark.parametrize("bad", BAD_ITEMS.values(), ids=BAD_ITEMS)
def test_a_report_stands_in_the_place_of_the_bad_item_and_the_others_are_stored(bad: object) -> None:
    store = diary()
    good = {"content": "one", "memory_id": "good", "space": "new"}
    first, told, last = store.add_many([good, bad, "two"], on_error="report", progress=False)
    assert first == "good" and isinstance(told, MemlabError) and "item 1" in str(told)
    assert store.get("good").content == "one" and store.get(last).content == "two" and len(store) == 5
    assert store.log()["change"].iloc[-1] == store.log().query("key == 'good'")["change"].iloc[0]
    assert store.check().ok


@pytest.mark.parametrize("kind", ["update", "associate"])
def test_updates_and_associations_are_batches_of_the_same_law(kind: str) -> None:
    store = diary()
    before = state(store)
    verb, good, bad = {
        "update": (
            lambda items, **o: store.update_many(items, progress=False, **o),
            {"memory_id": "move", "content": "new"},
            {"memory_id": "garden", "content": ""},
        ),
        "associate": (store.associate_many, ("garden", "RELATES_TO", "move"), ("garden", "RELATES_TO", "key")),
    }[kind]
    with pytest.raises(MemlabError, match="item 1"):
        verb([good, bad])  # type: ignore[operator]
    assert state(store) == before
    done, told = verb([good, bad], on_error="report")  # type: ignore[operator]
    assert not isinstance(done, Exception) and isinstance(told, MemlabError)
    assert state(store) != before and store.check().ok


def test_nothing_but_bad_items_writes_nothing() -> None:
    store = diary()
    before = state(store)
    told = store.add_many(list(BAD_ITEMS.values())[:4], on_error="report", progress=False)
    assert all(isinstance(error, InvalidMemory) for error in told)
    assert state(store) == before


def test_items_that_fail_in_the_making_write_nothing() -> None:
    def items() -> Iterator[str]:
        yield "one"
        raise OSError("the disk of the source failed")

    store = diary()
    before = state(store)
    for on_error in ("raise", "report"):
        with pytest.raises(OSError, match="the disk of the source"):
            store.add_many(items(), on_error=on_error, progress=False)
    assert state(store) == before


@pytest.mark.parametrize("items", ["tea", {"content": "tea"}, b"tea", 5, None, True], ids=repr)
def test_one_thing_isnt_many(items: object) -> None:
    store = diary()
    before = state(store)
    for verb in (store.add_many, store.update_many, store.associate_many):
        with pytest.raises(InvalidArgument, match="many items"):
            verb(items)  # type: ignore[operator]
    assert state(store) == before


def test_s03_what_fails_while_it_is_applied_was_written_and_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the commit nothing can be taken back: the store reads it again from the file instead."""
    store = diary()
    store.recall("Ana", method="hybrid")
    monkeypatch.setattr(store._embedder, "put", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.add("tea at four", memory_id="tea")
    monkeypatch.undo()
    assert store.get("tea").content == "tea at four" and store.log()["key"].iloc[-1] == "tea"
    assert found(store, "tea at four", k=1, method="dense") == ["tea"] and store.check().ok


def test_s03_what_fails_before_the_commit_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    store = diary()
    before = state(store)
    monkeypatch.setattr(store._embedder, "keep", lambda made: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.add_many(["one", "two"], progress=False)
    monkeypatch.undo()
    assert state(store) == before and store.check().ok
    assert store.add("one") in store


def test_s05_what_was_answered_survives_a_kill(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import sys
        from memlab.encoders import HashEncoder
        from memlab.store import MemoryStore
        store = MemoryStore.open(sys.argv[1], encoder=HashEncoder(dimension=16))
        for i in range(10**6):
            print(store.add(f"fact {i}"), flush=True)
        """
    )
    path = tmp_path / "s.memlab"
    with subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        told = [child.stdout.readline().strip() for _ in range(20)]
        os.kill(child.pid, signal.SIGKILL)
        told += [line.strip() for line in child.stdout]
    with MemoryStore.open(path) as store:
        assert all(memory_id in store for memory_id in told if len(memory_id) == 36)
        assert store.check().ok and len(store) >= 20


def test_frames_with_repeats_and_strange_columns_are_told() -> None:
    store = MemoryStore(encoder=None)
    with pytest.raises(InvalidMemory, match=r"item 0.*colour"):
        store.add_many(pd.DataFrame({"content": ["a"], "colour": ["red"]}), progress=False)
    with pytest.raises(DuplicateMemory, match="item 1"):
        store.add_many(pd.DataFrame({"content": ["a", "b"], "memory_id": ["x", "x"]}), progress=False)
    assert len(store) == 0
