"""The commit path: all or nothing, in order, seen by everyone, never stuck."""

import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from encoders_store import Counting

from memlab.changes import Change
from memlab.encoders import HashEncoder
from memlab.errors import EncoderMismatch, InvalidArgument, StorageError, StoreError
from memlab.store import MemoryStore


class Broken(BaseException):
    """Stands for anything that goes wrong, and for Ctrl-C."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    """A store in a file, with indexes made."""
    with MemoryStore.open(tmp_path / "s.memlab", encoder=HashEncoder(dimension=16)) as store:
        store.add("Tea.", memory_id="tea")
        store.add("Rain.", memory_id="rain")
        store.recall("tea")
        yield store


def is_free(store: MemoryStore) -> bool:
    """Whether another thread, and another connection, can write."""

    def take() -> bool:
        taken = store._lock.acquire(timeout=5)
        if taken:
            store._lock.release()
        return taken

    other = apsw.Connection(str(store.path))
    with contextlib.closing(other), ThreadPoolExecutor(1) as pool:
        other.execute("BEGIN IMMEDIATE; ROLLBACK")
        return pool.submit(take).result()


@pytest.mark.parametrize("error", [Broken, KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("where", ["plan", "encoder", "write", "vectors", "apply the table", "apply the graph"])
def test_whatever_breaks_wherever_nothing_is_half_done(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch, where: str, error: type[BaseException]
) -> None:
    spots: dict[str, tuple[Any, str]] = {
        "plan": (store, "_plan_add"),
        "encoder": (store.encoder, "encode"),
        "write": (store._journal, "_apply"),
        "vectors": (store._embedder, "keep"),
        "apply the table": (store._table, "put"),
        "apply the graph": (store._graph, "put"),
    }
    seen: list[Change] = []
    store.subscribe(seen.extend)

    def broken(*args: Any, **kwargs: Any) -> Any:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(*spots[where], broken)
        with pytest.raises(error):
            store.add("Snow.", memory_id="snow", supersedes="tea")
    written = where.startswith("apply")  # the commit was before
    assert ("snow" in store) == written
    assert len(store.associations) == written
    assert store.check().ok
    assert is_free(store)
    assert bool(seen) == written
    assert [hit.memory_id for hit in store.recall("snow", method="lexical")] == ["snow"] * written
    if not written:
        store.add("Snow.", memory_id="snow", supersedes="tea")
    assert store.check().ok
    assert [change.seq for change in seen] == store.log()["seq"].tolist()[-len(seen) :]


def test_an_interrupt_right_after_the_commit_loses_nothing(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(changes: Any) -> None:
        raise KeyboardInterrupt

    seen: list[Change] = []
    store.subscribe(seen.extend)
    with monkeypatch.context() as patch:
        patch.setattr(store, "_announce", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.add("Snow.", memory_id="snow")
    assert "snow" in store
    assert store.check().ok
    assert [change.key for change in seen] == ["snow"]


@pytest.mark.parametrize("part", ["_load", "embed"])
def test_an_interrupt_while_the_vectors_are_read_leaves_no_half_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        store.add_many(["Tea.", "Rain."])
    with MemoryStore.open(tmp_path / "s.memlab", encoder=HashEncoder(dimension=16)) as store:
        embedder = store._embedder
        work = getattr(embedder, part)

        def interrupted(*args: Any) -> Any:
            work(*args)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(embedder, part, interrupted)
            with pytest.raises(KeyboardInterrupt):
                store.recall("tea", method="dense")
        assert store.embeddings().shape == (2, 16)
        assert store.check().ok


def test_an_interrupt_while_the_words_are_read_leaves_no_half_index(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore(encoder=None)
    store.add_many(["Tea.", "Rain."])

    def interrupted(*args: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("memlab.lexical.LexicalIndex.add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.recall("tea")
    assert store.recall("tea")[0].memory.content == "Tea."
    assert store.check().ok


def test_a_full_disk_keeps_nothing_of_the_write_and_the_store_goes_on(store: MemoryStore) -> None:
    pages = store._journal.rows("PRAGMA page_count")[0][0]
    store._journal.rows(f"PRAGMA max_page_count={pages + 2}")
    with pytest.raises(StorageError, match="free space") as caught:
        store.add_many([f"Memory {i} " * 500 for i in range(50)])
    assert isinstance(caught.value, OSError)
    assert isinstance(caught.value.__cause__, apsw.FullError)
    assert len(store) == 2
    assert store.check().ok
    store._journal.rows("PRAGMA max_page_count=1000000")
    store.add("Snow.")
    assert store.check().ok


def test_a_subscriber_hears_each_commit_once_and_in_order(store: MemoryStore) -> None:
    heard: list[tuple[Change, ...]] = []
    stop = store.subscribe(heard.append)
    store.add_many(["a", "b"])
    store.add("tea", on_duplicate="skip")
    store.update("tea", importance=0.5)
    store.delete("rain")
    assert [[change.verb for change in batch] for batch in heard] == [["add", "add"], ["add"], ["delete"]]
    stop()
    stop()
    store.add("c")
    assert len(heard) == 3


def test_a_function_subscribed_twice_is_ended_once(store: MemoryStore) -> None:
    heard: list[Any] = []
    first, _ = store.subscribe(heard.append), store.subscribe(heard.append)
    first()
    first()
    store.add("a")
    assert len(heard) == 1
    with pytest.raises(InvalidArgument):
        store.subscribe("print")  # type: ignore[arg-type]


def test_a_subscriber_may_read_and_write_the_store(store: MemoryStore) -> None:
    heard: list[int] = []
    others: list[int] = []

    def answer(changes: tuple[Change, ...]) -> None:
        heard.extend(change.seq for change in changes)
        assert len(store) == len(store.memories)
        if len(store) < 6:
            store.add(f"Answer {len(store)}.")
            store.recall("answer")

    store.subscribe(answer)
    store.subscribe(lambda changes: others.extend(change.seq for change in changes))
    store.forget("rain")
    assert len(store) == 6
    assert heard == others == list(range(heard[0], int(store.log()["seq"].max()) + 1))
    assert store.check().ok


def test_a_subscriber_may_wait_for_another_thread_that_writes(store: MemoryStore) -> None:
    def answer(changes: tuple[Change, ...]) -> None:
        if changes[0].key != "other":
            thread = threading.Thread(target=lambda: store.add("Other.", memory_id="other"))
            thread.start()
            thread.join(10)
            assert not thread.is_alive()

    store.subscribe(answer)
    store.add("Snow.")
    assert "other" in store


def test_a_subscriber_that_fails_is_seen_and_stops_nothing(store: MemoryStore) -> None:
    heard: list[Any] = []

    def fail(changes: tuple[Change, ...]) -> None:
        raise ValueError("broken widget")

    store.subscribe(fail)
    store.subscribe(heard.append)
    with pytest.warns(RuntimeWarning, match="broken widget"):
        store.add("Snow.", memory_id="snow")
    assert "snow" in store
    assert len(heard) == 1


def test_an_encoder_that_writes_within_a_write_is_refused_in_words(tmp_path: Path) -> None:
    encoder = Counting()
    with MemoryStore.open(tmp_path / "s.memlab", encoder=encoder) as store:
        encoder.first = lambda: len(store)
        store.add("Tea.", memory_id="tea")  # reading is fine
        store.delete("tea")
        store.prune_vectors()
        encoder.first = lambda: store.spaces.create("x")
        with pytest.raises(StoreError, match="inside another"):
            store.undo(int(store.log()["change"].iloc[-1]))
        encoder.first = lambda: None
        assert store.check().ok
        store.add("Rain.")
        assert store.check().ok


def test_another_process_is_seen_at_once(tmp_path: Path) -> None:
    path = tmp_path / "s.memlab"
    encoder = HashEncoder(dimension=16)
    with MemoryStore.open(path, encoder=encoder) as a, MemoryStore.open(path, encoder=encoder) as b:
        a.add("Tea.", memory_id="tea", session_id="s", sequence=1)
        a.recall("tea")
        b.recall("tea")
        heard: list[str] = []
        a.subscribe(lambda changes: heard.extend(change.verb for change in changes))
        b.add("Green tea.", memory_id="green", session_id="s", sequence=2)
        assert len(a) == 2
        assert "green" in a
        assert a.get("green").content == "Green tea."
        assert a.memories["memory_id"].tolist() == ["tea", "green"]
        assert a.recall("green", method="dense")[0].memory_id == "green"
        b.associate("tea", "LEADS_TO", "green")
        assert len(a.associations) == a.graph.number_of_edges() == 1
        b.spaces.rename("default", "home")
        b.update("tea", content="Black tea.")
        b.register_relation("CITES")
        b.delete("green")
        assert a.get("tea").space == "home"
        assert a.recall("black", space="home", method="lexical")[0].memory_id == "tea"
        assert "CITES" in a.relations
        b.add("Snow.", memory_id="snow", space="home")
        b.forget("snow")
        assert "snow" not in a
        a.add("Rain.", memory_id="rain", space="home")
        assert b.recall("rain", space="home", method="dense")[0].memory_id == "rain"
        b.undo(int(b.log().query("verb == 'delete'")["change"].iloc[-1]))
        assert a.check().ok
        assert b.check().ok
        columns = [name for name in a.memories.columns if not name.startswith("access")]
        assert a.memories[columns].equals(b.memories[columns])
        assert a.log().equals(b.log())
        assert heard[:6] == ["add", "associate", "update", "update", "register", "delete"]
        assert heard[-1] == "undo"


def test_an_id_taken_by_another_process_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "s.memlab"
    with MemoryStore.open(path, encoder=None) as a, MemoryStore.open(path, encoder=None) as b:
        a.add("Tea.", memory_id="m", space="kitchen")
        found = b.add_many(
            [{"content": "x", "memory_id": "m"}, {"content": "y", "space": "kitchen"}], on_error="report"
        )
        assert isinstance(found[0], Exception)
        assert a.spaces.list()["memories"].tolist() == [2]
        assert a.check().ok
        assert b.check().ok


def test_two_processes_cannot_name_two_encoders(tmp_path: Path) -> None:
    path = tmp_path / "s.memlab"
    one, other = HashEncoder(dimension=16), HashEncoder(dimension=8)
    with MemoryStore.open(path, encoder=one) as a, MemoryStore.open(path, encoder=other) as b:
        a.add("Tea.")
        with pytest.raises(EncoderMismatch, match="hash-16"):
            b.add("Rain.")
        with pytest.raises(EncoderMismatch):
            b.recall("tea", method="dense")
        assert b.recall("tea", method="lexical").hits
        assert a.check().ok
        assert len(b) == 1
        a.reencode(other)
        assert b.add("Rain.") in a
        assert a.embeddings().shape == (2, 8)
        assert a.check().ok
        assert b.check().ok


def test_readers_and_writers_in_threads_lose_nothing(tmp_path: Path) -> None:
    with MemoryStore.open(tmp_path / "s.memlab", encoder=HashEncoder(dimension=16), durability="normal") as store:
        store.add("Seed.")
        done = threading.Event()

        def write(writer: int) -> list[str]:
            return [store.add(f"Writer {writer} says {i}.", importance=i / 50) for i in range(50)]

        def read() -> int:
            rounds = 0
            while not done.is_set() or rounds == 0:
                frame = store.memories
                before = frame["importance"].to_numpy().copy()
                found = store.recall("writer says", k=5)
                assert {hit.memory_id for hit in found} <= set(store.memories["memory_id"])
                assert len(store.select()) >= len(frame)
                np.testing.assert_array_equal(frame["importance"].to_numpy(), before)
                rounds += 1
            return rounds

        with ThreadPoolExecutor(6) as pool:
            readers = [pool.submit(read) for _ in range(2)]
            written = [memory_id for ids in pool.map(write, range(4)) for memory_id in ids]
            done.set()
            assert all(reader.result() for reader in readers)
        assert len(set(written)) == 200
        assert set(written) < set(store.memories["memory_id"])
        assert store.log()["seq"].tolist() == list(range(1, len(store.log()) + 1))
        assert len(store.recalls) > 0
        assert store.check().ok


def test_a_busy_writer_makes_a_reader_of_missing_vectors_wait_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.memlab"
    with MemoryStore.open(path, encoder=None) as store:
        store.add("Tea.")
    with MemoryStore.open(path, encoder=HashEncoder(dimension=16), timeout=0.1) as store:
        other = apsw.Connection(str(path))
        with contextlib.closing(other):
            other.execute("BEGIN IMMEDIATE")
            assert store.recall("tea", method="dense").hits
            other.execute("ROLLBACK")
        assert store.check().ok


def test_a_real_other_process_is_seen_without_reopening(tmp_path: Path) -> None:
    path = tmp_path / "s.memlab"
    with MemoryStore.open(path, encoder=HashEncoder(dimension=16)) as store:
        store.add("Tea.", memory_id="tea")
        store.recall("tea")
        code = (
            "from memlab.store import MemoryStore\n"
            f"with MemoryStore.open({str(path)!r}) as store:\n"
            "    store.add('Green tea.', memory_id='green', supersedes='tea')\n"
            "    store.spaces.create('new')\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
        assert "green" in store
        assert [hit.memory_id for hit in store.recall("tea")] == ["green"]
        assert "new" in store.spaces
        assert store.check().ok
