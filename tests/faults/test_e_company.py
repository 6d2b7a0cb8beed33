"""Kind E: several writers.

Law: the threads of a process share one lock, processes queue at the file, and a wait beyond the timeout is StoreBusy.
A reader sees the state before a write or after it, never between; what a write returned is there for everybody.
"""

import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest
from worlds import found

from memlab.encoders import HashEncoder
from memlab.errors import StoreBusy
from memlab.store import MemoryStore


def test_e01_thirty_adds_at_once_are_thirty_memories(tmp_path: Path) -> None:
    with MemoryStore.open(tmp_path / "s.memlab", encoder=HashEncoder(dimension=16), durability="normal") as store:
        store.recall("warm", method="hybrid")
        with ThreadPoolExecutor(8) as pool:
            ids = list(pool.map(lambda i: store.add(f"fact {i}"), range(30)))
        assert len(set(ids)) == len(store) == store.faiss_index()[0].ntotal == 30
        assert store.check().ok and store.log()["seq"].is_monotonic_increasing
    with MemoryStore.open(tmp_path / "s.memlab") as store:
        assert {m.memory_id for m in store} == set(ids)


@pytest.mark.parametrize("verbs", ["one store", "two stores of one file"])
def test_e04_every_way_to_write_takes_the_same_lock(tmp_path: Path, verbs: str) -> None:
    path = tmp_path / "s.memlab"
    with MemoryStore.open(path, encoder=None, durability="normal") as store:
        other = store if verbs == "one store" else MemoryStore.open(path, encoder=None, durability="normal")
        with other, ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda s: [s.add("x") for _ in range(40)], (store, other)))
            assert len(other) == 80
        with MemoryStore.open(path, encoder=None) as third:
            assert len(third) == 80 and third.check().ok


def test_a_pair_written_together_is_never_seen_apart() -> None:
    store, wrong, done = MemoryStore(encoder=None), [], threading.Event()
    a, b = store.add_many(
        [{"content": "x", "metadata": {"n": 0}}, {"content": "x", "metadata": {"n": 0}}], progress=False
    )

    def read() -> None:
        while not done.is_set():
            frame = store.select()
            if len({row["n"] for row in frame["metadata"]}) != 1:
                wrong.append(frame)

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for n in range(1, 60):
            store.update_many([{"memory_id": i, "metadata": {"n": n}} for i in (a, b)], progress=False)
        done.set()
        for reader in readers:
            reader.result()
    assert not wrong


def test_e03_two_processes_lose_nothing(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import sys
        from memlab.encoders import HashEncoder
        from memlab.store import MemoryStore
        with MemoryStore.open(sys.argv[1], encoder=HashEncoder(dimension=16), durability="normal") as store:
            for i in range(100):
                made = store.add(f"{sys.argv[2]} fact {i}")
                assert made in store
        """
    )
    path = tmp_path / "s.memlab"
    runs = [subprocess.Popen([sys.executable, "-c", script, str(path), name]) for name in ("one", "other")]
    assert [run.wait(timeout=120) for run in runs] == [0, 0]
    with MemoryStore.open(path) as store:
        assert len(store) == 200 and store.check().ok
        assert len(store.recall("fact", k=500, method="dense")) == 200


def test_what_one_wrote_the_other_reads_at_once(tmp_path: Path) -> None:
    path = tmp_path / "s.memlab"
    with MemoryStore.open(path, encoder=None) as a, MemoryStore.open(path, encoder=None) as b:
        tea = b.add("tea")
        assert tea in a and len(a) == 1 and found(a, "tea") == [tea] and a.get(tea).content == "tea"
        a.update(tea, content="green tea")
        assert b.get(tea).content == "green tea" and b.memories["content"].tolist() == ["green tea"]
        b.delete(tea)
        assert tea not in a and found(a, "tea") == []


def test_a_wait_beyond_the_timeout_is_store_busy_and_ends(tmp_path: Path) -> None:
    path = tmp_path / "s.memlab"
    with MemoryStore.open(path, encoder=None, timeout=0.2) as store:
        store.add("tea")
        holder = apsw.Connection(str(path))
        try:
            holder.execute("BEGIN IMMEDIATE")
            begin = time.perf_counter()
            with pytest.raises(StoreBusy):
                store.add("rain")
            assert time.perf_counter() - begin < 10
            assert len(store) == 1  # reading goes on
            holder.execute("ROLLBACK")
        finally:
            holder.close()
        store.add("rain")
        assert len(store) == 2


def test_a_reader_of_a_frame_has_it_for_itself() -> None:
    store = MemoryStore(encoder=None)
    store.add("tea", metadata={"n": [1]})
    frame = store.memories
    store.add("rain")
    assert len(frame) == 1
    frame.loc[0, "content"] = "changed"
    assert store.memories["content"].tolist() == ["tea", "rain"]
