"""Several processes on one file: nothing is lost, everyone sees what returned, in one order."""

import contextlib
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from worker_shared import absent, alive, opened, process

from memlab.errors import StoreBusy
from memlab.store import MemoryStore

WRITER = """
import sys
from pathlib import Path
from worker_shared import opened
with opened(Path(sys.argv[1])) as store:
    for line in sys.stdin:
        exec(line)
        print("done", flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store is."""
    return tmp_path / "s.memlab"


class Other:
    """Another process with the store open, which runs lines of Python on it."""

    def __init__(self, path: Path) -> None:
        words = [sys.executable, "-W", "error", "-c", WRITER, str(path)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, cwd=Path(__file__).parent)

    def do(self, line: str) -> None:
        """Run a line and wait until it returned."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"

    def close(self) -> None:
        """End it."""
        self._process.communicate(timeout=60)


@pytest.fixture
def other(path: Path) -> Iterator[Other]:
    """Another process."""
    opened(path).close()
    with contextlib.closing(Other(path)) as other:
        yield other


def test_once_another_processs_add_returned_every_read_has_it(path: Path, other: Other) -> None:
    with opened(path) as store:
        store.add("Seed of all.", memory_id="seed")
        store.recall("seed")
        _ = (store.memories, store.graph, store.recall("seed", method="hybrid"))
        for i in range(15):
            other.do(f"store.add('The word of round {i} is vocable{i}.', memory_id='m{i}')")
            reads = [
                lambda: len(store) == i + 2,  # noqa: B023 - called in this round
                lambda: f"m{i}" in store,  # noqa: B023
                lambda: store.get(f"m{i}").content.endswith(f"vocable{i}."),  # noqa: B023
                lambda: store.memories["memory_id"].iloc[-1] == f"m{i}",  # noqa: B023
                lambda: store.select(where={"memory_id": f"m{i}"})["memory_id"].tolist() == [f"m{i}"],  # noqa: B023
                lambda: store.recall(f"vocable{i}", method="lexical")[0].memory_id == f"m{i}",  # noqa: B023
                lambda: f"m{i}" in {hit.memory_id for hit in store.recall("vocable", method="dense", k=20)},  # noqa: B023
                lambda: f"m{i}" in store.graph,  # noqa: B023
                lambda: [m.memory_id for m in store][-1] == f"m{i}",  # noqa: B023
                lambda: store.log()["key"].iloc[-1] == f"m{i}",  # noqa: B023
                lambda: len(store.history(f"m{i}")) == 1,  # noqa: B023
                lambda: store.describe()["memories"] == i + 2,  # noqa: B023
            ]
            first = reads[i % len(reads)]  # each of them comes first in some round: that one does the catching up
            assert first()
            assert [read() for read in reads] == [True] * len(reads)
        other.do("store.associate('m1', 'LEADS_TO', 'm2'); store.update('m3', importance=0.125); store.delete('m4')")
        assert store.graph.has_edge("m1", "m2", "LEADS_TO")
        assert store.get("m3").importance == 0.125
        assert absent(store, "m4")
        other.do("assert store.check().ok")
        assert store.check().ok


def test_two_processes_that_write_and_read_at_once_lose_nothing(path: Path) -> None:
    opened(path).close()
    both = [process(path, name, 500) for name in ("ana", "bo")]
    said = [worker.communicate(timeout=200) for worker in both]
    assert [worker.returncode for worker in both] == [0, 0], said
    lines = [out.splitlines() for out, _ in said]
    ends = [json.loads(out[-1]) for out in lines]
    assert [end["faults"] for end in ends] == [[], []]
    with opened(path) as store:
        kept, gone = alive(lines[0] + lines[1])
        assert set(store.memories["memory_id"]) == kept
        assert not gone & set(store.memories["memory_id"])
        log = store.log()["seq"].tolist()
        assert log == list(range(1, len(log) + 1))
        assert all(log[: len(end["seq"])] == end["seq"] for end in ends)
        # They did write in turns, not one after the other.
        writers = store.log()["key"].str.partition("-")[0]
        assert (writers != writers.shift()).sum() > 10
        assert store.check().ok


@pytest.mark.soak
def test_two_processes_of_which_some_are_killed_lose_nothing_that_was_acknowledged(path: Path) -> None:
    rng = random.Random(5)
    opened(path).close()
    lines: list[str] = []
    done = {"ana": 0, "bo": 0}
    while min(done.values()) < 5000:
        step = 250
        both = {name: process(path, f"{name}{start}", step, start) for name, start in done.items()}
        victim = rng.choice([*both, None, None])
        if victim:
            time.sleep(rng.uniform(1.5, 6))
            both[victim].kill()
        for name, worker in both.items():
            out, error = worker.communicate(timeout=600)
            assert worker.returncode == 0 or name == victim, error
            # A killed one's last line may be cut.
            lines += [line for line in out.splitlines(keepends=True) if line.endswith("\n")]
            done[name] += step
        with opened(path) as store:
            kept, gone = alive([line.strip() for line in lines])
            there = set(store.memories["memory_id"])
            # What a killed one did last may be written and not said.
            assert len(kept - there) <= len(done)
            assert not gone & there
            assert store.check().ok
    with opened(path) as store:
        log = store.log()["seq"].tolist()
        assert log == list(range(1, len(log) + 1))


@pytest.mark.parametrize("timeout", [0.0, 0.5])
def test_a_lock_held_beyond_the_timeout_is_busy_within_a_second_of_it(path: Path, other: Other, timeout: float) -> None:
    with opened(path, timeout=timeout) as store:
        store.add("Tea.", memory_id="tea")
        other.do("store._journal.connection.execute('BEGIN IMMEDIATE')")
        for write in (
            lambda: store.add("Rain."),
            lambda: store.delete("tea"),
            lambda: store.associate("tea", "LEADS_TO", "tea2"),
            lambda: store.spaces.create("x"),
            store.prune_vectors,
        ):
            begin = time.monotonic()
            with pytest.raises(StoreBusy, match="longer timeout"):
                write()
            assert time.monotonic() - begin < timeout + 1
        assert store.recall("tea")[0].memory_id == "tea"
        other.do("store._journal.connection.execute('ROLLBACK')")
        store.add("Rain.")
        assert store.check().ok


def test_a_file_locked_beyond_the_timeout_cannot_be_opened_to_write_and_says_so(path: Path) -> None:
    opened(path).close()
    with contextlib.closing(apsw.Connection(str(path))) as lock:
        lock.pragma("locking_mode", "exclusive")
        lock.execute("BEGIN EXCLUSIVE")
        begin = time.monotonic()
        with pytest.raises(StoreBusy, match="longer timeout"):
            opened(path, timeout=0.2)
        assert time.monotonic() - begin < 1.2


def test_two_stores_in_one_process_see_each_other_and_closing_one_leaves_the_others_lock(
    path: Path, other: Other
) -> None:
    a, b = opened(path), opened(path)
    a.add("Tea.", memory_id="tea")
    assert "tea" in b
    b.recall("tea")
    b._telemetry.flush()
    assert [len(store.recalls) for store in (a, b)] == [1, 1]
    with b._journal.transaction():
        a.close()  # a file's locks fall when any handle of it is closed, if nobody minds it
        other.do("import pytest; store._journal.connection.set_busy_timeout(100)")
        other.do("with pytest.raises(TimeoutError): store.add('Rain.')")
    other.do("store.add('Rain.', memory_id='rain')")
    assert b.recall("rain", method="lexical")[0].memory_id == "rain"
    b.add("Snow.")
    other.do("assert len(store) == 3 and store.check().ok")
    assert b.check().ok
    b.close()


def test_changes_pruned_from_the_log_before_they_were_read_are_read_from_the_tables(path: Path) -> None:
    with opened(path) as a, opened(path) as b:
        a.add("Tea.", memory_id="tea")
        a.recall("tea", method="hybrid")
        heard: list[int] = []
        a.subscribe(lambda changes: heard.extend(change.seq for change in changes))
        b.add_many([{"content": f"Rain {i}.", "memory_id": f"rain{i}"} for i in range(5)])
        b.associate("tea", "LEADS_TO", "rain3")
        b.delete("rain0")
        newest = int(b.log()["seq"].max())
        b._journal.rows("DELETE FROM log WHERE seq<?", (newest,))
        assert len(a) == 5
        assert a.recall("rain 3", method="lexical")[0].memory_id == "rain3"
        assert a.graph.has_edge("tea", "rain3", "LEADS_TO")
        assert a.check().ok
        a.add("Snow.", memory_id="snow")
        assert "snow" in b
        assert heard[-1] == a.log()["seq"].max()
        assert a.check().ok
        assert b.check().ok


def test_the_background_never_keeps_a_writer_waiting_for_long(path: Path, other: Other) -> None:
    with opened(path, timeout=5) as store:
        store.add("Tea.", memory_id="tea")
        other.do("store._journal.connection.execute('BEGIN IMMEDIATE')")
        begin = time.monotonic()
        for _ in range(300):  # more than a batch, so that it is tried again and again
            store.recall("tea", method="lexical")
        assert time.monotonic() - begin < 8
        waits = []
        for _ in range(10):
            time.sleep(0.05)
            begin = time.monotonic()
            assert len(store) == 1
            waits.append(time.monotonic() - begin)
        assert max(waits) < 1
        other.do("store._journal.connection.execute('ROLLBACK')")
        store.add("Rain.")
        assert len(store.recalls) == 300
        assert store.check().ok


def test_a_store_in_memory_is_open_to_nobody_else(path: Path) -> None:
    assert MemoryStore(encoder=None).describe()["open to"] == "this process, in memory"
    with opened(path) as store:
        assert store.describe()["open to"] == "any process of this machine"
