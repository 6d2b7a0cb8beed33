"""A disk that fails while a store is open: one clear error, nothing acknowledged lost, and the store goes on."""

import errno
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import pytest
from faulty_disk import NAME, Fault, FaultyDisk, faulty_disk
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scribbling import Scribble, Twin

from memlab.encoders import HashEncoder
from memlab.errors import MemlabError, StorageError
from memlab.journal import Journal
from memlab.store import MemoryStore

ENCODER = HashEncoder(dimension=16)
ALWAYS = 10**9


class NoSpace(OSError):
    """As Python itself says that a disk is full."""

    def __init__(self, words: str) -> None:
        super().__init__(errno.ENOSPC, words)


ERRORS = [apsw.IOError, apsw.FullError, NoSpace]


@pytest.fixture(scope="module")
def disk() -> Iterator[FaultyDisk]:
    """A disk that fails on demand."""
    with faulty_disk() as disk:
        yield disk


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with something in it, to be copied."""
    path = tmp_path_factory.mktemp("template") / "s.memlab"
    with MemoryStore.open(path, encoder=ENCODER) as store:
        work = Scribble(7, Twin(), forgets=False)
        for _ in range(8):
            work.step(store)
    return path


def opened(path: Path, checkpoint: int = 1000) -> MemoryStore:
    """A store on the faulty disk, that moves its log into the file every so many pages."""
    store = MemoryStore.__new__(MemoryStore)
    store._start(Journal(path, vfs=NAME), ENCODER, None)
    store._journal.rows(f"PRAGMA wal_autocheckpoint={checkpoint}")
    return store


def fresh(template: Path, folder: Path) -> Path:
    """A copy of its own."""
    for left in folder.iterdir():
        left.unlink()
    return Path(shutil.copy(template, folder / "s.memlab"))


@pytest.mark.parametrize("checkpoint", [1000, 2])
@pytest.mark.parametrize("error", ERRORS)
def test_a_disk_that_fails_once_fails_one_call_and_the_store_goes_on(
    disk: FaultyDisk, template: Path, tmp_path: Path, error: type[Exception], checkpoint: int
) -> None:
    path = fresh(template, tmp_path)
    store = opened(path, checkpoint)
    work = Scribble(3, Twin.of(store), forgets=False)
    failed = 0
    for at in range(60):
        disk.fault = Fault(at=at % 30, error=error)
        sure = work.twin.copy()
        try:
            work.step(store)
        except StorageError as caught:
            failed += 1
            assert isinstance(caught, OSError)
            assert isinstance(caught.__cause__, error)
            assert "free space" in str(caught)
            assert str(path) in str(caught)
            if checkpoint == 1000:  # else it may have been the checkpoint after the commit that failed
                assert Twin.of(store) == sure
            work.twin = Twin.of(store)
        disk.fault = Fault()
        assert Twin.of(store) == work.twin
        assert store.check().ok, store.check()
    assert failed > 10
    work.step(store)
    store.close()
    with MemoryStore.open(path, encoder=ENCODER) as again:
        assert Twin.of(again) == work.twin
        assert again.check().ok


@given(
    seed=st.integers(0, 1000), at=st.integers(0, 60), keep=st.integers(0, 4120), error=st.sampled_from(ERRORS),
    checkpoint=st.sampled_from([1000, 1000, 3]),
)  # fmt: skip
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_write_cut_at_any_byte_loses_nothing_acknowledged(
    disk: FaultyDisk,
    template: Path,
    tmp_path: Path,
    seed: int,
    at: int,
    keep: int,
    error: type[Exception],
    checkpoint: int,
) -> None:
    path = fresh(template, tmp_path)
    store = opened(path, checkpoint)
    work = Scribble(seed, Twin.of(store), forgets=False)
    disk.fault = Fault(at=at, keep=keep, error=error, lasts=ALWAYS)
    for _ in range(100):
        sure = work.twin.copy()
        try:
            work.step(store)
        except StorageError:
            break
    else:
        pytest.fail("the disk never failed")
    for _ in range(3):  # it stays so, and says so
        with pytest.raises(StorageError, match="free space"):
            store.add("Is the disk back?")
        assert len(store) == len(Twin.of(store).texts)
    with suppress(MemlabError):
        store.close()
    disk.fault = Fault()
    maybe = Scribble(seed, sure_of(template), forgets=False)
    while maybe.twin != sure:
        maybe.step(None)
    maybe.step(None)
    with MemoryStore.open(path, encoder=ENCODER) as again:
        found = Twin.of(again)
        found.texts = {key: text for key, text in found.texts.items() if text != "Is the disk back?"}
        assert found in (sure, maybe.twin)
        assert again.check().ok, again.check()


def sure_of(template: Path) -> Twin:
    """What the template holds."""
    with MemoryStore.open(template, encoder=None, read_only=True) as store:
        return Twin.of(store)


@pytest.mark.parametrize("error", ERRORS)
def test_forgetting_on_a_failing_disk_is_finished_by_calling_again(
    disk: FaultyDisk, template: Path, tmp_path: Path, error: type[Exception]
) -> None:
    for at in range(0, 90, 3):
        path = fresh(template, tmp_path)
        store = opened(path)
        chosen, *others = sorted(Twin.of(store).texts)
        disk.fault = Fault(at=at, error=error)
        with suppress(StorageError):
            store.forget(chosen)
        disk.fault = Fault()
        assert set(Twin.of(store).texts) - {chosen} == set(others)
        assert store.check().ok, store.check()
        store.forget(chosen)
        store.close()
        with MemoryStore.open(path, encoder=ENCODER) as again:
            assert sorted(Twin.of(again).texts) == others
            assert again.check().ok


@pytest.mark.parametrize("error", ERRORS)
def test_an_opening_on_a_failing_disk_leaves_the_store_as_it_was(
    disk: FaultyDisk, template: Path, tmp_path: Path, error: type[Exception]
) -> None:
    for at in range(6):
        path = fresh(template, tmp_path)
        disk.fault = Fault(at=at, error=error)
        with suppress(StorageError):
            opened(path).close()
        disk.fault = Fault()
        with MemoryStore.open(path, encoder=ENCODER) as again:
            assert Twin.of(again) == sure_of(template)
            assert again.check().ok
