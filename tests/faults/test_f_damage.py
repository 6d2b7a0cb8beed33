"""Kind F: damaged, cut or foreign files.

Law: a damaged store is never replaced by an empty one, and never has fewer memories silently. What is derived is
made anew from the rows; what isn't is CorruptStore, which names the file and leaves it as it is. No file is ever read
as a program, and no copies pile up.
"""

import contextlib
import pickle
from pathlib import Path

import apsw
import pytest
from worlds import found

import memlab
from memlab.encoders import HashEncoder
from memlab.errors import CorruptStore, MemlabError, StoreError
from memlab.store import MemoryStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed store of twenty memories, with vectors and associations."""
    with MemoryStore.open(tmp_path / "s.memlab", encoder=HashEncoder(dimension=16)) as store:
        ids = store.add_many([f"fact {i} " + "about tea " * 40 for i in range(20)], progress=False)
        store.associate(ids[0], "LEADS_TO", ids[1])
    return tmp_path / "s.memlab"


@pytest.mark.parametrize("blob", [b"", b"\x00" * 16, b"\xff" * 16, b"x" * 64, None], ids=repr)
def test_f03_a_broken_vector_costs_no_memory(path: Path, blob: bytes | None) -> None:
    with contextlib.closing(apsw.Connection(str(path))) as db:
        if blob is None:
            db.execute("DELETE FROM vectors")
        else:
            db.execute("UPDATE vectors SET vectors=?", (blob,))
    for count in (21, 22):
        with MemoryStore.open(path) as store:
            store.add("one more")
            assert len(store) == count
            assert len(found(store, "tea", k=99, method="dense")) == count
            store.check(repair=True)
            assert store.check().ok


@pytest.mark.parametrize("where", [0.05, 0.3, 0.5, 0.7, 0.95])
def test_f05_a_damaged_page_is_told_and_leaves_no_copies(path: Path, where: float) -> None:
    data = bytearray(path.read_bytes())
    begin = int(len(data) * where) // 4096 * 4096
    data[begin : begin + 4096] = b"\xa5" * 4096
    path.write_bytes(data)
    for _ in range(5):
        try:
            with MemoryStore.open(path) as store:
                assert len(store) == 20  # the page wasn't one of memories
        except StoreError as error:
            assert "s.memlab" in str(error)
    assert {file.name.removesuffix("-wal").removesuffix("-shm") for file in path.parent.iterdir()} == {"s.memlab"}
    assert len(path.read_bytes()) >= len(data)


@pytest.mark.parametrize("keep", [0, 1, 100, 4096, 0.5, 0.8, 0.99])
def test_a_cut_file_is_refused_and_left_as_it_is(path: Path, keep: float) -> None:
    data = path.read_bytes()
    cut = data[: int(len(data) * keep) if isinstance(keep, float) else keep]
    path.write_bytes(cut)
    with pytest.raises(CorruptStore, match=r"s\.memlab"):
        MemoryStore.open(path)
    assert path.read_bytes() == cut


class Trap:
    """Unpickled, it would run code."""

    def __reduce__(self) -> tuple[object, ...]:
        return (pytest.fail, ("a pickle was read",))


def test_f06_no_pickle_is_ever_read(path: Path) -> None:
    for name in ("s.pkl", "s.memlab.pkl", "index.faiss", "s.npy"):
        (path.parent / name).write_bytes(pickle.dumps(Trap()))
    with MemoryStore.open(path) as store:
        assert len(store) == 20
    with pytest.raises(CorruptStore):
        MemoryStore.open(path.parent / "s.pkl")
    source = "".join(file.read_text("utf-8") for file in Path(memlab.__file__).parent.rglob("*.py"))
    assert not any(word in source for word in ("pickle.load", "allow_pickle=True", "torch.load(", "joblib", "marshal."))


def test_f07_a_full_disk_is_one_clear_error_and_the_old_store_stays(path: Path) -> None:
    with MemoryStore.open(path) as store:
        db = store._journal.connection
        pages = next(iter(db.execute("PRAGMA page_count")))[0]
        db.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(OSError) as caught:
            for i in range(500):
                store.add(f"another {i} " + "word " * 500)
        assert isinstance(caught.value, MemlabError)
        db.execute("PRAGMA max_page_count=1073741823")
        assert len(store) >= 20 and store.check().ok
        assert store.add("room again") in store
    with MemoryStore.open(path) as store:
        assert len(store) >= 21 and store.check().ok


def test_f09_a_fresh_process_adds_to_what_is_there(path: Path) -> None:
    with MemoryStore.open(path) as store:
        store.add("fact 20 about tea")
    with MemoryStore.open(path) as store:
        for method in ("dense", "lexical"):
            assert len(found(store, "tea fact", k=99, method=method)) == 21


@pytest.mark.parametrize("content", [b"", b"{}", b"\x89PNG\r\n", b"SQLite format 3\x00", b"\x00" * 8192], ids=repr)
def test_a_foreign_file_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "other.memlab"
    file.write_bytes(content)
    with pytest.raises(CorruptStore):
        MemoryStore.open(file)
    assert file.read_bytes() == content
