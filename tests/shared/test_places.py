"""Places that can't take a shared store: network folders, read-only folders, full disks."""

import errno
import os
import stat
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from children_shared import Child
from worker_shared import opened

from memlab import journal_company
from memlab.errors import ReadOnlyStore, StorageError, StoreBusy, StoreError
from memlab.journal_place import NETWORK, file_system, mounted_as

MOUNTS = r"""
/dev/sda1 / ext4 rw 0 0
tmpfs /tmp tmpfs rw 0 0
server:/home /home nfs4 rw,vers=4.2 0 0
/dev/sdb1 /home/local xfs rw 0 0
//box/share /mnt/my\040share cifs rw 0 0
me@host: /home/local/far fuse.sshfs rw 0 0
overlay /over overlay rw 0 0
/dev/sdc1 /over ext4 rw 0 0
""".strip().splitlines()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store is."""
    return tmp_path / "s.memlab"


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say that every folder is an NFS one."""
    monkeypatch.setattr(journal_company, "file_system", lambda path: "nfs4")
    monkeypatch.setattr(journal_company, "_TOLD", set())


def quietly(path: Path, **options: Any) -> Any:
    """Open a store without its warning of a network folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return opened(path, **options)


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("/etc/x", "ext4"),
        ("/tmp/x", "tmpfs"),
        ("/tmpx", "ext4"),
        ("/home/ana/x", "nfs4"),
        ("/home", "nfs4"),
        ("/homes/x", "ext4"),
        ("/home/local/x", "xfs"),
        ("/home/local/far/x", "fuse.sshfs"),
        ("/mnt/my share/x", "cifs"),
        ("/over/x", "ext4"),
    ],
)
def test_the_mount_with_the_longest_name_counts(place: str, kind: str) -> None:
    assert mounted_as(MOUNTS, place) == kind
    assert (kind in NETWORK) == (kind in {"nfs4", "cifs", "fuse.sshfs"})


def test_the_folder_of_the_tests_is_on_this_machine(tmp_path: Path) -> None:
    assert file_system(tmp_path) not in NETWORK
    assert file_system(tmp_path / "no" / "such") == file_system(tmp_path)


@pytest.mark.usefixtures("network")
def test_on_a_network_folder_one_process_has_the_file_with_a_rollback_journal_and_is_told_once(path: Path) -> None:
    with pytest.warns(UserWarning, match="network folder .nfs4.") as told:
        store = opened(path)
    assert len(told) == 1
    assert told[0].filename == str(Path(__file__).with_name("worker_shared.py"))
    with store:
        assert store.describe()["open to"] == "this process alone (nfs4)"
        store.add("Tea.", memory_id="tea")
        assert store.recall("tea")[0].memory_id == "tea"
        assert store._journal.rows("PRAGMA journal_mode") == [("truncate",)]
        assert not {file.name for file in path.parent.iterdir()} & {f"{path.name}-wal", f"{path.name}-shm"}
        assert store.backup(path.with_name("copy")).exists()
        assert store.check().ok
        store.forget("tea")
    with opened(path) as store:  # no second warning
        assert len(store) == 0


@pytest.mark.usefixtures("network")
def test_a_second_process_on_a_network_folder_is_busy_in_words(path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom memlab import journal_company\n"
        "journal_company.file_system = lambda path: 'nfs4'\n"
        "from memlab.errors import StoreBusy\nfrom worker_shared import opened\n"
        "try: opened(Path(sys.argv[1]), timeout=0.2, read_only=sys.argv[2] == 'r')\n"
        "except StoreBusy as error: print(error)\n"
    )
    with quietly(path) as store:
        store.add("Tea.")
        for mode in "wr":
            words = [sys.executable, "-c", code, str(path), mode]
            done = subprocess.run(
                words, capture_output=True, text=True, check=True, timeout=60, cwd=Path(__file__).parent
            )
            assert "one at a time" in done.stdout
            assert "folder of this machine" in done.stdout
        begin = time.monotonic()
        with pytest.raises(StoreBusy, match="one at a time"):
            quietly(path, timeout=0.2)
        assert time.monotonic() - begin < 1.2
        store.add("Rain.")
        assert store.check().ok
    with quietly(path) as store:
        assert len(store) == 2


def test_a_store_moves_between_a_network_folder_and_this_machine(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(path) as store:
        store.add("Tea.")
    with monkeypatch.context() as patch:
        patch.setattr(journal_company, "file_system", lambda path: "cifs")
        with quietly(path, read_only=True) as store:
            assert len(store) == 1
        with quietly(path) as store:
            store.add("Rain.")
        with quietly(path, read_only=True) as store:
            assert len(store) == 2
    with opened(path) as a, opened(path) as b:
        a.add("Snow.")
        assert len(b) == 3
        assert a._journal.rows("PRAGMA journal_mode") == [("wal",)]
        assert a.check().ok


@pytest.mark.usefixtures("network")
def test_a_process_that_ends_on_a_network_folder_frees_the_file(path: Path) -> None:
    store = quietly(path)
    store.add("Tea.")
    store.close()
    with quietly(path, timeout=0) as store:
        store.add("Rain.")
        assert store.check().ok


# Read-only places. Root may write anywhere, so the reader is a child that becomes nobody.

NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everyone can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


def as_nobody(function: Callable[[], Any]) -> Any:
    """Run a function as a user who owns nothing, or as oneself where that is no root."""
    return Child(function, None if os.getuid() else NOBODY).result()


def locked(folder: Path) -> None:
    """Let nobody write in a folder, nor in what is in it."""
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)


def error_of(function: Callable[[], Any]) -> list[str]:
    """What a function raises."""
    try:
        function()
    except StoreError as error:
        return [type(error).__name__, str(error)]
    return ["nothing", ""]


unix = pytest.mark.skipif(not hasattr(os, "setuid"), reason="permissions are another matter on this system")


@unix
def test_a_store_in_a_folder_that_cannot_be_written_is_read_and_followed(folder: Path) -> None:
    path = folder / "s.memlab"
    with opened(path) as store:
        store.add("Tea.", memory_id="tea")
        store.recall("tea")
    locked(folder)

    def read() -> Any:
        with opened(path, read_only=True) as store:
            refused = error_of(lambda: store.add("Rain."))
            found = [hit.memory_id for hit in store.recall("tea")]
            return [found, len(store), store.check().faults, store.describe()["open to"], refused[0]]

    assert as_nobody(read) == [["tea"], 1, [], "read as a file that nobody writes", "ReadOnlyStore"]
    assert [file.name for file in folder.iterdir()] == [path.name]


@unix
def test_a_reader_of_a_frozen_file_sees_that_it_was_written_after_all(folder: Path) -> None:
    path = folder / "s.memlab"
    with opened(path) as store:
        store.add("Tea.", memory_id="tea")
    locked(folder)
    if os.getuid():
        pytest.skip("only root can write what its other self can't")
    begun, go = os.pipe(), os.pipe()

    def read() -> Any:
        with opened(path, read_only=True) as store:
            first = len(store)
            os.write(begun[1], b"x")
            os.read(go[0], 1)
            return [first, len(store), store.recall("rain", method="lexical")[0].memory_id, store.check().faults]

    reader = Child(read, NOBODY)
    os.read(begun[0], 1)
    with opened(path) as store:
        store.add("Rain.", memory_id="rain")
    os.write(go[1], b"x")
    assert reader.result() == [1, 2, "rain", []]


@unix
def test_a_store_whose_log_is_there_is_read_beside_its_writer_or_refused_in_words(folder: Path) -> None:
    path = folder / "s.memlab"
    with opened(path) as store:
        store.add("Tea.", memory_id="tea")
        locked(folder)

        def read() -> Any:
            with opened(path, read_only=True) as other:
                return [len(other), other.check().faults, other.describe()["open to"]]

        assert as_nobody(read) == [1, [], "any process of this machine"]
        assert as_nobody(lambda: error_of(lambda: opened(path)))[0] == "ReadOnlyStore"
        folder.chmod(0o755)


@unix
def test_what_cannot_be_written_is_refused_at_opening_with_the_way_out(folder: Path) -> None:
    path = folder / "s.memlab"
    with opened(path) as store:
        store.add("Tea.")
    path.chmod(0o444)
    kind, words = as_nobody(lambda: error_of(lambda: opened(path)))
    assert kind == ReadOnlyStore.__name__
    assert "read_only=True" in words
    path.chmod(0o666)
    folder.chmod(0o555)
    kind, words = as_nobody(lambda: error_of(lambda: opened(path)))
    assert kind == StorageError.__name__
    assert "folder has to be writable" in words
    assert "read_only=True" in words
    kind, words = as_nobody(lambda: error_of(lambda: opened(folder / "new.memlab")))
    assert kind == StorageError.__name__
    assert "permissions" in words
    path.chmod(0)
    kind, words = as_nobody(lambda: error_of(lambda: opened(path, read_only=True)))
    assert kind == StorageError.__name__
    assert stat.S_IMODE(path.stat().st_mode) == 0


def test_a_full_disk_is_one_clear_error_and_reading_goes_on(path: Path) -> None:
    with opened(path) as store:
        store.add("Tea.", memory_id="tea")
        store.recall("tea")
        pages = store._journal.rows("PRAGMA page_count")[0][0]
        store._journal.rows(f"PRAGMA max_page_count={pages}")
        big = [f"Memory {i} " * 300 for i in range(100)]
        for write in (
            lambda: store.add_many(big),
            lambda: store.update("tea", content=big[0] * 30),
            lambda: store.add(big[0] * 30),
        ):
            with pytest.raises(StorageError, match="free space") as caught:
                write()
            assert isinstance(caught.value, OSError)
            assert isinstance(caught.value.__cause__, apsw.FullError)
        assert store.recall("tea")[0].memory.content == "Tea."
        for _ in range(300):  # telemetry that can't be written waits, and nothing is raised in the background
            store.recall("tea", method="lexical")
        time.sleep(0.7)
        assert len(store.recalls) == 302
        assert store.check().ok
        store._journal.rows("PRAGMA max_page_count=1000000")
        store.add_many(big)
        assert store.check().ok
    with opened(path) as store:
        assert len(store) == 101
        assert len(store.recalls) == 302


def test_a_file_system_that_cannot_be_asked_is_taken_for_this_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memlab.journal_place.MOUNTS", f"/no/such/{errno.ENOENT}")
    assert file_system(Path("/")) is None
