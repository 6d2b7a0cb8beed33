"""A write-ahead log that was shortened afterwards: what is opened is what once was."""

import shutil
from pathlib import Path

from scribbling import Scribble, Twin

from memlab.encoders import HashEncoder
from memlab.errors import CorruptStore
from memlab.store import MemoryStore

ENCODER = HashEncoder(dimension=16)
Seen = dict[int, Twin]


def written(folder: Path, seed: int, steps: int, moved: bool = False) -> tuple[Path, Seen]:
    """Copy file and log of a store as a kill would leave them; and what it held after each of its writes."""
    path = folder / "open" / "s.memlab"
    path.parent.mkdir()
    with MemoryStore.open(path, encoder=ENCODER) as store:
        store._journal.rows("PRAGMA wal_autocheckpoint=0")
        work = Scribble(seed, Twin(), forgets=False)
        seen = {0: Twin()}
        for _ in range(steps):
            work.step(store)
            seen[store._journal.head()] = work.twin.copy()
        if moved:
            store._journal.rows("PRAGMA wal_checkpoint(PASSIVE)")
        left = folder / "left"
        left.mkdir()
        # Read as bytes while it is open, which nobody but a test may do: this store isn't written any more.
        for name in ("s.memlab", "s.memlab-wal"):
            shutil.copy(path.with_name(name), left / name)
    return left / "s.memlab", seen


def cut(left: Path, folder: Path, length: int) -> Path:
    """A copy whose log has this length."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    path = Path(shutil.copy(left, folder / left.name))
    path.with_name(path.name + "-wal").write_bytes(left.with_name(left.name + "-wal").read_bytes()[:length])
    return path


def test_a_log_shortened_at_every_512_bytes_gives_an_exact_prefix(tmp_path: Path) -> None:
    left, seen = written(tmp_path, 1, 5)
    length = left.with_name(left.name + "-wal").stat().st_size
    places = []
    for shorter in [*range(0, length, 512), length]:
        path = cut(left, tmp_path / "cut", shorter)
        # Closing after writing waits for the disk each time, so most are only read.
        for read_only in (True, False)[: 1 + (shorter % 4096 == 0)]:
            with MemoryStore.open(path, encoder=None, read_only=read_only) as store:
                places.append(store._journal.head())
                assert Twin.of(store) == seen[places[-1]]
                assert store.log()["seq"].tolist() == list(range(1, places[-1] + 1))
                assert store.check().ok, store.check()
    assert places == sorted(places)
    assert places[-1] == max(seen)
    assert set(places) == set(seen)


def test_a_log_shortened_after_it_was_moved_into_the_file_is_never_taken_for_whole(tmp_path: Path) -> None:
    # Its older pages now stand beside newer ones of the file, and each page by itself is sound.
    left, seen = written(tmp_path, 3, 20, moved=True)
    length = left.with_name(left.name + "-wal").stat().st_size
    opened, refused = 0, 0
    for shorter in range(0, length + 1, 4120):
        path = cut(left, tmp_path / "cut", shorter)
        try:
            store = MemoryStore.open(path, encoder=None)
        except CorruptStore:
            refused += 1
            continue
        with store:
            opened += 1
            assert Twin.of(store) == seen[store._journal.head()]
            assert store.check().ok, store.check()
    assert opened
    assert refused
