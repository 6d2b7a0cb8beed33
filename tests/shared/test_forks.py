"""Forks: a child that inherits a store goes on with a connection and a lock of its own, and so does the parent."""

import gc
import multiprocessing
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from children_shared import Child
from worker_shared import opened

from memlab.encoders import HashEncoder
from memlab.errors import StoreBusy, StoreError
from memlab.store import MemoryStore
from memlab.store_forks import PATIENCE

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store is."""
    return tmp_path / "s.memlab"


@pytest.fixture(autouse=True)
def fork_beside_threads() -> Iterator[None]:
    """Python 3.12 warns of any fork beside threads; these tests are about just that."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*multi-threaded.*fork", DeprecationWarning)
        yield


def test_a_forked_child_reads_and_writes_and_both_go_on(path: Path) -> None:
    with opened(path) as store:
        store.add("Tea.", memory_id="tea")
        store.recall("tea")

        def use() -> Any:
            first = [len(store), store.recall("tea")[0].memory_id]
            store.add("Rain.", memory_id="rain")
            return [*first, store.check().faults, store.memories["memory_id"].tolist()]

        child = Child(use)
        store.add("Snow.", memory_id="snow")
        length, found, faults, ids = child.result()
        assert (length in (1, 2), found, faults) == (True, "tea", [])
        assert {"tea", "rain"} <= set(ids)
        assert set(store.memories["memory_id"]) == {"tea", "rain", "snow"}
        assert store.recall("rain", method="lexical")[0].memory_id == "rain"
        store.add("Hail.")
        assert store.check().ok


@pytest.mark.parametrize(
    "first", ["add", "recall", "len", "delete", "calls", "check", "log", "backup", "repr", "prune"]
)
def test_whatever_a_child_does_first_works(path: Path, first: str) -> None:
    with opened(path) as store:
        store.add("Tea.", memory_id="tea")
        store.recall("tea")
        uses: dict[str, Callable[[], Any]] = {
            "add": lambda: store.add("Rain."),
            "recall": lambda: store.recall("tea")[0].memory_id,
            "len": lambda: len(store),
            "delete": lambda: store.delete("tea"),
            "calls": lambda: len(store.calls),
            "check": lambda: store.check().ok,
            "log": lambda: len(store.log()),
            "backup": lambda: str(store.backup(path.with_name("copy"))),
            "repr": lambda: repr(store),
            "prune": store.prune_vectors,
        }
        Child(uses[first]).result()
        assert store.check().ok


def test_multiprocessing_workers_share_one_store(path: Path) -> None:
    with opened(path) as store:
        store.add("Tea.", memory_id="tea")
        workers = [
            multiprocessing.get_context("fork").Process(
                target=lambda n=n: [store.add(f"Worker {n} says {i}.", memory_id=f"{n}-{i}") for i in range(10)]
            )
            for n in range(3)
        ]
        for worker in workers:
            worker.start()
        mine = [store.add(f"Parent says {i}.") for i in range(10)]
        for worker in workers:
            worker.join(60)
            assert worker.exitcode == 0
        there = set(store.memories["memory_id"])
        assert {"tea", *mine, *(f"{n}-{i}" for n in range(3) for i in range(10))} == there
        log = store.log()["seq"].tolist()
        assert log == list(range(1, len(log) + 1))
        assert store.check().ok


def test_the_parents_lock_holds_while_a_child_uses_and_ends(path: Path) -> None:
    with opened(path) as store, opened(path, timeout=0.2) as second:
        store.add("Tea.", memory_id="tea")

        def busy() -> Any:
            ready.wait(20)
            try:
                second.add("Rain.")
            except StoreBusy:
                second.close()  # drops all that the child has of the file
                return "busy"
            return "written"

        context = multiprocessing.get_context("fork")
        ready = context.Event()
        children = [Child(busy) for _ in range(2)]
        with store._journal.transaction():
            ready.set()
            assert [child.result() for child in children] == ["busy"] * 2
            third = Child(lambda: 0)  # one that inherits the store in mid-write and touches nothing
            assert third.result() == 0
            other = second._journal
            with pytest.raises(StoreBusy), other.transaction():
                pass
            store._journal.rows("UPDATE meta SET value=value")
        store.add("Snow.")
        assert len(second) == 2
        assert store.check().ok


def test_a_parent_that_closes_leaves_the_child_its_log(path: Path) -> None:
    store = opened(path)
    store.add("Tea.", memory_id="tea")
    context = multiprocessing.get_context("fork")
    closed, begun = context.Event(), context.Event()

    def use() -> Any:
        store.add("Rain.", memory_id="rain")
        begun.set()
        closed.wait(20)
        store.add("Snow.", memory_id="snow")
        return [len(store), store.check().faults]

    child = Child(use)
    begun.wait(20)
    store.close()  # the last of its own process, and not the last that has the file
    with opened(path) as again:
        closed.set()
        assert child.result() == [3, []]
        assert set(again.memories["memory_id"]) == {"tea", "rain", "snow"}
        assert again.check().ok


def test_events_of_the_parent_are_written_once_and_those_of_the_child_too(path: Path) -> None:
    with opened(path) as store:
        store.add("Tea.", memory_id="tea")
        store.recall("parent tea")

        def use() -> Any:
            waiting = store.recalls["query"].tolist()
            store.recall("child tea")
            until = time.monotonic() + 10
            while not store._journal.rows("SELECT 1 FROM recalls WHERE query='child tea'"):
                assert time.monotonic() < until  # by a thread of its own
                time.sleep(0.02)
            return waiting

        assert Child(use).result() in ([], ["parent tea"])  # written by the parent in the meantime, or not
        store._telemetry.flush()
        assert sorted(store.recalls["query"]) == ["child tea", "parent tea"]
        assert store.get("tea").access_count == 2
        assert store.memories["access_count"].tolist() == [2]


def test_a_child_that_ends_without_closing_writes_what_waits(path: Path) -> None:
    with opened(path) as store:
        store.add("Tea.")

        def use() -> Any:
            nonlocal store
            store.recall("child tea")
            store = None  # type: ignore[assignment]
            gc.collect()

        kept = Child(use)
        kept.result()
        store.recall("parent tea")
        assert len(store.recalls) == 1 or "child tea" in store.recalls["query"].tolist()


@pytest.mark.parametrize("what", ["the lock", "a recall", "an add"])
def test_a_fork_while_another_thread_is_at_work_hangs_neither(path: Path, what: str) -> None:
    release, inside = threading.Event(), threading.Event()

    class Slow(HashEncoder):
        def encode(self, texts: Any, kind: Any = "passage", progress: bool = False) -> Any:
            if "slow" in " ".join(texts) and threading.current_thread() is not threading.main_thread():
                inside.set()
                release.wait(30)
            return super().encode(texts, kind, progress)

    with MemoryStore.open(path, encoder=Slow(16)) as store:
        store.add("Tea.", memory_id="tea")
        store.recall("tea")

        def work() -> None:
            if what == "the lock":
                with store._holding():
                    inside.set()
                    release.wait(30)
            elif what == "a recall":
                store.recall("slow tea")
            else:
                store.add("slow rain")

        thread = threading.Thread(target=work)
        thread.start()
        inside.wait(20)
        begin = time.monotonic()
        child = Child(lambda: [store.add("Rain.", memory_id="rain"), len(store), store.check().faults])
        assert time.monotonic() - begin < PATIENCE + 1
        assert child.result()[::2] == ["rain", []]
        release.set()
        thread.join(20)
        assert "rain" in store
        assert store.check().ok


def test_threads_that_write_and_fork_at_once_lose_nothing(path: Path) -> None:
    with opened(path) as store:
        store.add("Seed.")
        done = threading.Event()
        written: list[str] = []

        def write() -> None:
            while not done.is_set():
                written.append(store.add("From the parent."))
                store.recall("parent")

        threads = [threading.Thread(target=write) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            children = [Child(lambda n=n: store.add("From a child.", memory_id=f"c{n}")) for n in range(8)]
            results = [child.result(60) for child in children]
        finally:
            done.set()
            for thread in threads:
                thread.join(30)
        assert results == [f"c{n}" for n in range(8)]
        assert {*written, *results} < set(store.memories["memory_id"])
        assert store.check().ok


def test_a_child_forked_in_mid_write_is_refused_the_file_in_words(path: Path) -> None:
    with opened(path) as store:
        store.add("Tea.", memory_id="tea")

        def use() -> Any:
            words = []
            for attempt in (lambda: len(store), lambda: store.add("Rain."), lambda: opened(path)):
                try:
                    attempt()
                except StoreError as error:
                    words.append(str(error))
            store.close()
            return words

        with store._journal.transaction():
            store._journal.rows("UPDATE meta SET value=value")
            words = Child(use).result()
        assert len(words) == 3
        assert all("'spawn'" in word for word in words)
        store.add("Snow.")
        assert len(store) == 2
        assert store.check().ok


def test_a_store_in_memory_becomes_two(path: Path) -> None:
    store = MemoryStore(encoder=HashEncoder(16))
    store.add("Tea.", memory_id="tea")
    store.recall("tea")

    def use() -> Any:
        store.add("Rain.")
        return [len(store), store.check().faults, len(store.recalls)]

    assert Child(use).result() == [2, [], 1]
    assert len(store) == 1
    assert store.check().ok


def test_a_child_of_a_child_goes_on(path: Path) -> None:
    with opened(path) as store:
        store.add("Tea.")

        def use() -> Any:
            store.add("Rain.")
            return [Child(lambda: [store.add("Snow.", memory_id="snow"), len(store)]).result(), len(store)]

        assert Child(use).result() == [["snow", 3], 3]
        assert len(store) == 3
        assert store.check().ok
