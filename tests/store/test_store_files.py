"""The file: opened, closed, shared, refused in words, and never replaced."""

import contextlib
import gc
import subprocess
import sys
import threading
import warnings
import weakref
from pathlib import Path
from typing import Any

import apsw
import pytest
from encoders_store import Counting

from memlab.encoders import HashEncoder
from memlab.errors import (
    DuplicateMemory,
    EncoderMismatch,
    InvalidArgument,
    ReadOnlyStore,
    StorageError,
    StoreBusy,
    StoreClosed,
)
from memlab.store import MemoryStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be."""
    return tmp_path / "s.memlab"


def python(code: str) -> "subprocess.CompletedProcess[str]":
    """Run code in another process."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)


def test_what_was_written_is_there_when_opened_again(path: Path) -> None:
    encoder = Counting()
    with MemoryStore.open(path, encoder=encoder) as store:
        store.add_many([{"content": "Tea.", "memory_id": "tea", "metadata": {"n": 2**60}}, "Rain."])
        store.associate("tea", "LEADS_TO", list(store)[1].memory_id, strength=0.25)
        store.register_relation("CITES")
        store.spaces.create("empty", "x")
        before = (list(store), store.associations.values.tolist(), dict(store.relations), store.spaces.list())
        log = store.log()
    with MemoryStore.open(path, encoder=encoder) as store:
        assert list(store) == before[0]
        assert store.associations.values.tolist() == before[1]
        assert dict(store.relations) == before[2]
        assert store.spaces.list().equals(before[3])
        assert store.log().equals(log)
        assert store.recall("tea", method="dense")[0].memory_id == "tea"
        assert store.check().ok
    assert encoder.asked == ["Tea.", "Rain.", "tea"]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_an_id_is_not_used_again_after_opening_again(path: Path) -> None:
    with MemoryStore.open(path, encoder=None) as store:
        store.add_many([{"content": "Tea.", "memory_id": m} for m in "abc"])
        store.delete("c")
        store.forget("b")
        seq = store.log()["seq"].max()
    with MemoryStore.open(path, encoder=None) as store:
        for taken in "abc":
            with pytest.raises(DuplicateMemory):
                store.add("Rain.", memory_id=taken)
        store.add("Rain.")
        assert store.log()["seq"].max() == seq + 1


def test_the_file_names_the_encoder_for_the_next_opening(path: Path) -> None:
    with MemoryStore.open(path, encoder=HashEncoder(dimension=32)) as store:
        store.add("Tea.")
    with MemoryStore.open(path) as store:
        assert store.encoder.dimension == 32  # type: ignore[union-attr]
        assert store.recall("tea", method="dense")[0].memory.content == "Tea."
    with pytest.raises(EncoderMismatch, match="32") as caught:
        MemoryStore.open(path, encoder=HashEncoder(dimension=16))
    assert "16" in str(caught.value)
    assert "reencode" in str(caught.value)
    with MemoryStore.open(path, encoder=None) as store:
        assert store.add("Rain.") in store
    with MemoryStore.open(path) as store:
        assert store.embeddings().shape == (2, 32)


def test_a_file_of_an_own_encoder_asks_for_it(path: Path) -> None:
    class Own(HashEncoder):
        spec = property(lambda self: {"kind": "own", "name": "mine"})  # type: ignore[assignment]

    with MemoryStore.open(path, encoder=Own(16)) as store:
        store.add("Tea.")
    with pytest.raises(EncoderMismatch, match="encoder="):
        MemoryStore.open(path)
    with MemoryStore.open(path, encoder=Own(16)) as store:
        assert store.recall("tea", method="dense").hits


def test_a_store_of_memories_without_vectors_gets_them_at_the_first_dense_recall(path: Path) -> None:
    with MemoryStore.open(path, encoder=None) as store:
        store.add("Tea.")
    encoder = Counting()
    with MemoryStore.open(path, encoder=encoder) as store:
        assert store.recall("tea", method="dense").hits
        store.add("Rain.")
        assert len(store.recall("tea rain", method="dense")) == 2
    with MemoryStore.open(path) as store:
        assert store.describe()["encoder"] == "hash-16"
        assert store.embeddings().shape == (2, 16)
    assert [text for text in encoder.asked if text.endswith(".")] == ["Tea.", "Rain."]


def test_read_only_refuses_every_write_and_reads_all(path: Path) -> None:
    with MemoryStore.open(path, encoder=HashEncoder(dimension=16)) as store:
        tea = store.add("Tea.")
    with MemoryStore.open(path, read_only=True) as store:
        assert store.recall("tea")[0].memory_id == tea
        assert len(store.recalls) == 1
        for write in (
            lambda: store.add("x"),
            lambda: store.update(tea, importance=1),
            lambda: store.delete([]),
            lambda: store.undo(1),
            lambda: store.spaces.create("x"),
            lambda: store.forget(tea),
        ):
            with pytest.raises(ReadOnlyStore, match="read_only"):
                write()
        assert store.check().ok
        assert store.backup(path.with_name("copy.memlab")).exists()


def test_a_read_only_store_makes_the_vectors_it_lacks_and_keeps_none(path: Path) -> None:
    with MemoryStore.open(path, encoder=None) as store:
        store.add("Tea.")
    with MemoryStore.open(path, encoder=HashEncoder(dimension=16), read_only=True) as store:
        assert store.recall("tea", method="dense").hits
        assert len(store.log()) == 2


def test_a_missing_file_cannot_be_read_only_and_is_not_made(path: Path) -> None:
    with pytest.raises(StorageError, match="doesn't exist"):
        MemoryStore.open(path, read_only=True)
    assert not path.exists()


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="make it first"):
        MemoryStore.open(tmp_path / "no" / "s.memlab")


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="is a folder"):
        MemoryStore.open(tmp_path)


@pytest.mark.parametrize("wrong", ["", None, 5, b"x"], ids=ascii)
def test_a_path_is_a_name(wrong: Any) -> None:
    with pytest.raises(InvalidArgument, match="path"):
        MemoryStore.open(wrong)


def test_a_path_that_cannot_be_is_refused(tmp_path: Path) -> None:
    for wrong in ("a\x00b", "x" * 5000):
        with pytest.raises(StorageError):
            MemoryStore.open(tmp_path / wrong)


@pytest.mark.parametrize(
    "options", [{"durability": "none"}, {"timeout": -1}, {"timeout": "x"}, {"timeout": float("nan")}], ids=str
)
def test_options_are_checked(path: Path, options: Any) -> None:
    with pytest.raises(InvalidArgument, match=next(iter(options))):
        MemoryStore.open(path, **options)
    assert not path.exists()


def test_closed_is_closed(path: Path) -> None:
    store = MemoryStore.open(path, encoder=HashEncoder(dimension=16))
    tea = store.add("Tea.")
    spaces = store.spaces
    store.close()
    store.close()
    uses = [
        lambda: len(store),
        lambda: tea in store,
        lambda: iter(store),
        lambda: store.get(tea),
        lambda: store.add("x"),
        lambda: store.add_many(["x"]),
        lambda: store.update(tea, importance=1),
        lambda: store.update_many([]),
        lambda: store.delete(tea),
        lambda: store.forget(tea),
        lambda: store.associate(tea, "LEADS_TO", tea),
        lambda: store.recall("tea"),
        store.select,
        lambda: store.memories,
        lambda: store.associations,
        lambda: store.graph,
        lambda: store.relations,
        lambda: store.recalls,
        lambda: store.calls,
        store.log,
        lambda: store.history(tea),
        lambda: store.as_of(0),
        lambda: store.diff(0),
        lambda: store.undo(1),
        store.check,
        store.describe,
        store.embeddings,
        store.faiss_index,
        store.prune_vectors,
        lambda: store.reencode(HashEncoder(dimension=8)),
        lambda: store.backup(path.with_name("copy")),
        lambda: store.subscribe(print),
        spaces.list,
        lambda: spaces.create("x"),
        lambda: "x" in spaces,
    ]
    for use in uses:
        with pytest.raises(StoreClosed, match="open it again"):
            use()
    assert "closed" in repr(store)
    assert "closed" in store._repr_html_()


def test_a_store_shows_itself(path: Path) -> None:
    with MemoryStore.open(path, encoder=HashEncoder(dimension=16)) as store:
        assert "no memories yet" in store._repr_html_()
        store.add("<b>Tea</b>")
        assert repr(store) == f"MemoryStore({path}: 1 memories, 0 associations, 1 spaces, encoder hash-16)"
        assert "<b>Tea" not in store._repr_html_()
        assert store.path == path


def test_a_store_that_nobody_closes_leaves_no_thread_no_warning_and_its_telemetry(path: Path) -> None:
    threads = threading.active_count()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store = MemoryStore.open(path, encoder=None)
        store.add("Tea.")
        store.recall("tea")
        gone = weakref.ref(store)
        del store
        gc.collect()
    assert gone() is None
    with MemoryStore.open(path, encoder=None) as store:
        assert len(store.recalls) == 1
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join(5)
    assert threading.active_count() <= threads


def test_a_process_that_never_closes_keeps_its_writes_and_its_telemetry(path: Path) -> None:
    python(
        "from memlab.store import MemoryStore\n"
        f"store = MemoryStore.open({str(path)!r}, encoder=None)\n"
        "store.add('Tea.'); store.recall('tea')"
    )
    with MemoryStore.open(path, encoder=None) as store:
        assert len(store) == len(store.recalls) == 1


@pytest.mark.parametrize("durability", ["full", "normal"])
def test_what_was_acknowledged_outlives_a_kill(path: Path, durability: str) -> None:
    code = (
        "import os, signal\nfrom memlab.store import MemoryStore\n"
        f"store = MemoryStore.open({str(path)!r}, encoder=None, durability={durability!r})\n"
        "print(store.add('Tea.'), flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    with MemoryStore.open(path, encoder=None) as store:
        assert done.stdout.strip() in store
        assert store.check().ok


def test_durability_is_what_sqlite_is_told(path: Path) -> None:
    for durability, level in (("full", 2), ("normal", 1)):
        with MemoryStore.open(path, encoder=None, durability=durability) as store:
            assert store._journal.rows("PRAGMA synchronous")[0][0] == level
            assert store._journal.rows("PRAGMA journal_mode")[0][0] == "wal"


def test_a_file_locked_beyond_the_timeout_is_busy(path: Path) -> None:
    with MemoryStore.open(path, encoder=None, timeout=0.1) as store:
        store.add("Tea.")
        other = apsw.Connection(str(path))
        with contextlib.closing(other):
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreBusy, match="longer timeout"):
                store.add("Rain.")
            assert len(store) == 1  # reading goes on
            store.recall("tea")
            other.execute("ROLLBACK")
        store.add("Rain.")
        assert len(store) == 2
        assert store.check().ok
