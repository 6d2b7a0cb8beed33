"""A file that is replaced, moved or removed while it is open: followed or refused, never written to in the dark."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from worker_shared import opened

from memlab.errors import CorruptStore, StorageError
from memlab.store import MemoryStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store is."""
    return tmp_path / "s.memlab"


def contents(path: Path) -> set[str]:
    """What is in a file, by an own look."""
    with opened(path) as store:
        assert store.check().ok
        return set(store.memories["content"])


def test_a_backup_put_in_its_place_is_what_every_read_shows(path: Path, tmp_path: Path) -> None:
    reads: list[Any] = [
        lambda s: len(s) == 1,
        lambda s: "new" not in s,
        lambda s: s.memories["memory_id"].tolist() == ["tea"],
        lambda s: [hit.memory_id for hit in s.recall("tea rain")] == ["tea"],
        lambda s: [hit.memory_id for hit in s.recall("tea rain", method="dense")] == ["tea"],
        lambda s: list(s.graph) == ["tea"],
        lambda s: s.log()["key"].iloc[-1] == "tea",
        lambda s: s.describe()["memories"] == 1,
        lambda s: s.check().ok,
    ]
    for i, first in enumerate(reads):
        place = tmp_path / f"{i}.memlab"
        with opened(place) as store:
            store.add("Tea.", memory_id="tea")
            copy = store.backup(tmp_path / "copy")
            store.add("Rain.", memory_id="new")
            store.recall("tea rain")
            heard: list[Any] = []
            store.subscribe(heard.append)
            copy.replace(place)
            assert first(store)
            assert all(read(store) for read in reads)
            assert not heard
            store.add("Snow.", memory_id="snow")
            assert [change.key for changes in heard for change in changes] == ["snow"]
            assert store.check().ok
        assert contents(place) == {"Tea.", "Snow."}


def test_the_first_thing_after_may_be_a_write(path: Path, tmp_path: Path) -> None:
    with opened(path) as store:
        store.add("Tea.", memory_id="tea")
        copy = store.backup(tmp_path / "copy")
        store.add("Rain.", memory_id="rain")
        copy.replace(path)
        assert store.add("Rain again.", memory_id="rain") == "rain"
        assert set(store.memories["content"]) == {"Tea.", "Rain again."}
    assert contents(path) == {"Tea.", "Rain again."}


def test_a_file_moved_away_keeps_its_last_writes_and_gets_no_more(path: Path, tmp_path: Path) -> None:
    with opened(path) as store:
        store.add("Tea.")
        copy = store.backup(tmp_path / "copy")
        store.add("Rain.")  # in the write-ahead log, which stays behind
        path.rename(tmp_path / "old")
        copy.replace(path)
        store.add("Snow.")
    assert contents(path) == {"Tea.", "Snow."}
    assert contents(tmp_path / "old") == {"Tea.", "Rain."}


@pytest.mark.parametrize("use", ["read", "write", "nothing"])
def test_closing_leaves_no_log_beside_another_file(path: Path, tmp_path: Path, use: str) -> None:
    store = opened(path)
    store.add("Tea.")
    copy = store.backup(tmp_path / "copy")
    store.add_many([f"Rain {i}." for i in range(50)])
    copy.replace(path)
    if use == "read":
        assert len(store) == 1
    elif use == "write":
        store.add("Snow.")
    store.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == [path.name]
    assert contents(path) == {"Tea.", "Snow."} if use == "write" else {"Tea."}


def test_a_removed_file_is_named_at_each_use_and_nothing_is_written_to_it(path: Path, tmp_path: Path) -> None:
    store = opened(path)
    store.add("Tea.", memory_id="tea")
    path.rename(tmp_path / "away")
    for use in (lambda: len(store), lambda: store.add("Rain."), lambda: store.recall("tea"), store.check):
        with pytest.raises(StorageError, match="isn't there any more"):
            use()
    (tmp_path / "away").rename(path)
    assert "tea" in store  # put back: the same file
    store.add("Snow.")
    path.unlink()
    with pytest.raises(StorageError, match="open a backup"):
        store.add("Rain.")
    store.close()
    assert not list(tmp_path.iterdir())


def test_a_file_removed_and_made_anew_is_followed(path: Path, tmp_path: Path) -> None:
    a = opened(path)
    a.add("Tea.", memory_id="tea")
    path.unlink()
    b = opened(path)
    assert len(b) == 0
    assert len(a) == 0
    b.add("Rain.", memory_id="rain")
    assert "rain" in a
    a.add("Snow.", memory_id="snow")
    assert b.check().ok
    assert a.check().ok
    assert a.memories["memory_id"].tolist() == b.memories["memory_id"].tolist() == ["rain", "snow"]
    b.close()
    a.close()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert contents(path) == {"Rain.", "Snow."}


def test_the_log_of_a_removed_file_is_not_read_as_that_of_a_new_one(path: Path, tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom worker_shared import opened\n"
        "opened(Path(sys.argv[1])).add('Tea.'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    words = [sys.executable, "-c", code, str(path)]
    for _ in range(2):
        subprocess.run(words, check=False, timeout=60, cwd=Path(__file__).parent)
        assert path.with_name("s.memlab-wal").stat().st_size
        path.unlink()
        with opened(path) as store:
            assert len(store) == 0
            store.add("Rain.")
        assert contents(path) == {"Rain."}
        # It may belong to a file that was only moved, so the newest is kept.
        assert sorted(file.name for file in tmp_path.iterdir()) == [path.name, f"{path.name}-wal.left"]
        path.unlink()


def test_what_is_no_store_in_its_place_is_refused_and_left_as_it_is(path: Path, tmp_path: Path) -> None:
    with opened(path) as store:
        store.add("Tea.", memory_id="tea")
        copy = store.backup(tmp_path / "copy")
        for wrong in (b"words", b"", b"x" * 10_000):
            (tmp_path / "wrong").write_bytes(wrong)
            (tmp_path / "wrong").replace(path)
            for use in (lambda: len(store), lambda: store.add("Rain.")):
                with pytest.raises(CorruptStore):
                    use()
            assert path.read_bytes() == wrong
        copy.replace(path)
        assert "tea" in store
        assert store.check().ok


def test_what_waits_of_a_file_that_is_gone_is_lost_with_a_warning_and_no_error_in_the_background(path: Path) -> None:
    a = opened(path)
    a.add("Tea.", memory_id="tea")
    a.recall("tea")
    path.unlink()
    with opened(path) as b:
        time.sleep(0.7)
        assert len(b.recalls) == 0
        with pytest.warns(RuntimeWarning, match="1 recalls and 0 calls is lost"):
            a.close()
        assert b.check().ok


def test_two_stores_on_a_replaced_file_both_follow(path: Path, tmp_path: Path) -> None:
    with opened(path) as a, opened(path) as b, opened(path, read_only=True) as c:
        a.add("Tea.", memory_id="tea")
        copy = a.backup(tmp_path / "copy")
        b.add("Rain.", memory_id="rain")
        assert len(c) == 2
        copy.replace(path)
        a.add("Snow.", memory_id="snow")
        b.add("Hail.", memory_id="hail")
        for store in (a, b, c):
            assert store.memories["memory_id"].tolist() == ["tea", "snow", "hail"]
            assert store.check().ok


def test_a_write_that_waited_while_the_file_was_replaced_goes_to_the_new_one(path: Path, tmp_path: Path) -> None:
    with opened(path) as store:
        store.add("Tea.", memory_id="tea")
        copy = store.backup(tmp_path / "copy")
        settle = store._settle
        calls: list[None] = []

        def settle_then_replace() -> None:
            settle()
            calls.append(None)
            if len(calls) == 2:  # right before the write lock
                copy.replace(path)

        store._settle = settle_then_replace  # type: ignore[method-assign]
        store.add("Rain.", memory_id="rain")
        assert len(calls) == 3
    assert contents(path) == {"Tea.", "Rain."}


def test_another_encoders_file_in_its_place_is_named_at_the_first_dense_use(path: Path, tmp_path: Path) -> None:
    from memlab.encoders import HashEncoder
    from memlab.errors import EncoderMismatch

    with MemoryStore.open(tmp_path / "b", encoder=HashEncoder(8)) as store:
        store.add("Tea.")
    with opened(path) as store:
        store.add("Rain.")
        store.recall("rain")
        (tmp_path / "b").replace(path)
        assert store.recall("tea", method="lexical")[0].memory.content == "Tea."
        with pytest.raises(EncoderMismatch):
            store.recall("tea", method="dense")
        with pytest.raises(EncoderMismatch):
            store.add("Snow.")
