"""Backups: made while others write, whole or not at all, and restored by opening them."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest
from faulty_disk import Fault, faulty_disk
from scribbling import Scribble, Twin

from memlab.encoders import HashEncoder
from memlab.errors import CorruptStore, StorageError
from memlab.store import MemoryStore

ENCODER = HashEncoder(dimension=16)

WRITER = """
import sys
from memlab.store import MemoryStore
store = MemoryStore.open(sys.argv[1], durability="normal")
while True:
    ids = store.add_many([f"Writer {sys.argv[2]} says {len(store)} {part}." for part in "abc"], progress=False)
    store.associate(ids[0], "LEADS_TO", ids[1])
    store.delete(ids[2])
    print(end=".", flush=True)
"""


def filled(path: Path, seed: int = 1, steps: int = 15) -> Twin:
    """Make a store; gives what it holds."""
    with MemoryStore.open(path, encoder=ENCODER, durability="normal") as store:
        work = Scribble(seed, Twin(), forgets=False)
        for _ in range(steps):
            work.step(store)
    return work.twin


def test_a_backup_made_while_threads_write_is_a_moment_of_the_store(tmp_path: Path) -> None:
    filled(tmp_path / "s.memlab")
    with MemoryStore.open(tmp_path / "s.memlab", encoder=ENCODER, durability="normal") as store:
        done = threading.Event()

        def write(writer: int) -> int:
            count = 0
            while not done.is_set():
                store.add_many([f"Writer {writer} says {count} {part}." for part in "abc"], progress=False)
                count += 1
            return count

        with ThreadPoolExecutor(2) as pool:
            writers = [pool.submit(write, number) for number in range(2)]
            try:
                copies = [store.backup(tmp_path / f"{number}.memlab") for number in range(5)]
            finally:
                done.set()
            assert all(writer.result() for writer in writers)
        for copy in copies:
            with MemoryStore.open(copy, encoder=ENCODER) as other:
                assert other.check().ok
                place = int(other.log()["seq"].max())
                with store.as_of(place) as then:
                    assert Twin.of(other) == Twin.of(then)


def test_a_backup_made_while_processes_write_is_a_moment_of_the_store(tmp_path: Path) -> None:
    filled(tmp_path / "s.memlab")
    command = [sys.executable, "-c", WRITER, str(tmp_path / "s.memlab")]
    writers = [subprocess.Popen([*command, str(seed)], stdout=subprocess.PIPE) for seed in (3, 6)]
    try:
        for writer in writers:
            assert writer.stdout
            assert writer.stdout.read(1) == b"."  # it is writing
        with MemoryStore.open(tmp_path / "s.memlab", encoder=ENCODER) as store:
            copies = [store.backup(tmp_path / f"{number}.memlab") for number in range(5)]
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    heads, moments = [], []
    for copy in copies:
        with MemoryStore.open(copy, encoder=ENCODER) as other:
            assert other.check().ok, other.check()
            heads.append(other._journal.head())
            other.recall("tea", method="dense")
            assert other.check().ok
            moments.append(Twin.of(other))
    assert heads == sorted(heads)
    with MemoryStore.open(tmp_path / "s.memlab", encoder=ENCODER) as store:
        assert store._journal.head() >= heads[-1]
        assert store.check().ok
        for head, moment in zip(heads, moments, strict=True):
            with store.as_of(head) as then:
                assert Twin.of(then) == moment


def test_a_backup_of_a_backup_is_the_same_store(tmp_path: Path) -> None:
    twin = filled(tmp_path / "s.memlab")
    files, logs = [tmp_path / "s.memlab"], []
    for number in range(3):
        with MemoryStore.open(files[-1], encoder=ENCODER) as store:
            assert Twin.of(store) == twin
            assert store.check().ok
            logs.append(store.log())
            files.append(store.backup(tmp_path / f"{number}.memlab"))
            assert store.embeddings().shape[0] >= len(twin.texts)
    assert logs[0].equals(logs[1])
    assert logs[0].equals(logs[2])
    with MemoryStore.open(files[-1], encoder=ENCODER) as store:  # and it goes on by itself
        store.add("Only here.", memory_id="here")
    with MemoryStore.open(files[0], encoder=ENCODER) as store:
        assert "here" not in store


@pytest.mark.parametrize("error", [apsw.IOError, apsw.FullError])
def test_a_backup_that_cannot_be_finished_leaves_no_half_file(tmp_path: Path, error: type[Exception]) -> None:
    twin = filled(tmp_path / "s.memlab", steps=8)
    target = tmp_path / "copy.memlab"
    with faulty_disk(default=True) as disk:
        with MemoryStore.open(tmp_path / "s.memlab", encoder=ENCODER) as store:
            disk.fault = Fault(at=10**9)
            store.backup(tmp_path / "whole.memlab")
            operations = disk.fault.count
            for at in range(0, operations, 2):
                disk.fault = Fault(at=at, error=error, lasts=1 if at % 4 else operations)
                with pytest.raises(StorageError, match=r"copy\.memlab"):
                    store.backup(target)
                disk.fault = Fault()
                assert {file.name.split("-")[0] for file in tmp_path.iterdir()} == {"s.memlab", "whole.memlab"}
            assert Twin.of(store) == twin
            store.backup(target)
            assert store.check().ok
        with MemoryStore.open(target, encoder=ENCODER) as other:
            assert Twin.of(other) == twin
            assert other.check().ok


def test_a_new_store_that_cannot_be_finished_leaves_no_half_file(tmp_path: Path) -> None:
    for at in range(0, 60, 3):
        with faulty_disk(default=True) as disk:
            disk.fault = Fault(at=at, error=apsw.FullError)
            try:
                MemoryStore.open(tmp_path / "s.memlab", encoder=None).close()
            except StorageError:
                assert [file.name for file in tmp_path.iterdir()] in ([], ["s.memlab"])
            disk.fault = Fault()
        with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
            assert store.check().ok
        (tmp_path / "s.memlab").unlink()


def test_a_damaged_store_makes_no_backup_that_looks_whole(tmp_path: Path) -> None:
    filled(tmp_path / "s.memlab")
    with MemoryStore.open(tmp_path / "s.memlab", encoder=ENCODER) as store:
        store._journal.rows("UPDATE memories SET content='other' WHERE number=(SELECT max(number) FROM memories)")
        copy = store.backup(tmp_path / "copy.memlab")
    with pytest.raises(CorruptStore, match="damaged"):
        MemoryStore.open(copy, encoder=ENCODER)


def test_five_openings_of_a_damaged_store_leave_no_other_file_and_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.memlab"
    filled(path)
    with path.open("r+b") as file:
        file.seek(4096 * 2)
        file.write(bytes(4096))
    before = path.read_bytes()
    for _ in range(5):
        with pytest.raises(CorruptStore, match="backup"):
            MemoryStore.open(path, encoder=ENCODER)
        assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == before
