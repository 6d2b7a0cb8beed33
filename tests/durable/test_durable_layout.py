"""Layouts of the file: older ones are brought to this one, all or nothing; newer ones are refused."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from memlab import journal_migrate
from memlab.errors import CorruptStore, NewerStore, ReadOnlyStore, StorageError
from memlab.journal_schema import SCHEMA_VERSION
from memlab.store import MemoryStore

NEXT = {
    SCHEMA_VERSION: "CREATE TABLE moods (name TEXT); INSERT INTO moods SELECT memory_id FROM memories",
    SCHEMA_VERSION + 1: "ALTER TABLE moods ADD COLUMN strength REAL; UPDATE moods SET strength=0.5",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of the layout of today."""
    path = tmp_path / "s.memlab"
    with MemoryStore.open(path, encoder=None) as store:
        store.add_many([{"content": "Tea.", "memory_id": "tea"}, {"content": "Rain.", "memory_id": "rain"}])
    return path


def tomorrow(patch: pytest.MonkeyPatch, steps: dict[int, str]) -> None:
    """Be a memlab of two layouts later."""
    patch.setattr(journal_migrate, "SCHEMA_VERSION", SCHEMA_VERSION + 2)
    patch.setattr(journal_migrate, "MIGRATIONS", steps)


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    """Ask a closed store's file."""
    with contextlib.closing(apsw.Connection(str(path))) as db:
        return db.execute(sql).fetchall()


def test_an_older_file_is_brought_to_this_layout_step_by_step(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        tomorrow(patch, NEXT)
        for _ in range(2):
            with MemoryStore.open(path, encoder=None) as store:
                assert store.memories["content"].tolist() == ["Tea.", "Rain."]
                assert store.check().ok
        assert rows(path, "SELECT * FROM moods ORDER BY name") == [("rain", 0.5), ("tea", 0.5)]
        assert rows(path, "PRAGMA user_version") == [(SCHEMA_VERSION + 2,)]
    # Of today again, that file is a newer memlab's.
    with pytest.raises(NewerStore, match="Upgrade"):
        MemoryStore.open(path, encoder=None)


def test_a_step_may_change_rows_that_carry_checksums(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tomorrow(monkeypatch, NEXT | {SCHEMA_VERSION: f"UPDATE memories SET importance=0.25;{NEXT[SCHEMA_VERSION]}"})
    for _ in range(2):
        with MemoryStore.open(path, encoder=None) as store:
            assert store.memories["importance"].tolist() == [0.25, 0.25]
            assert store.check().ok


def test_two_that_open_an_older_file_at_once_change_it_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tomorrow(monkeypatch, NEXT)
    version, asked = journal_migrate._version, []

    def first_of_two(db: apsw.Connection, name: str) -> int:
        found = version(db, name)
        if not asked:
            asked.append(found)
            MemoryStore.open(path, encoder=None).close()  # the other, between our look and our lock
        return found

    monkeypatch.setattr(journal_migrate, "_version", first_of_two)
    with MemoryStore.open(path, encoder=None) as store:
        assert store.check().ok
    assert rows(path, "SELECT count(*) FROM moods") == [(2,)]


@pytest.mark.parametrize("broken", ["CREATE TABLE memories (x)", "UPDATE moods SET nothing=1", "not SQL"])
def test_a_step_that_fails_leaves_the_older_layout(path: Path, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        tomorrow(patch, NEXT | {SCHEMA_VERSION + 1: f"UPDATE moods SET name='x'; {broken}"})
        with pytest.raises(StorageError, match=r"nothing was changed.*copy"):
            MemoryStore.open(path, encoder=None)
    assert path.read_bytes() == before
    with MemoryStore.open(path, encoder=None) as store:
        assert store.memories["content"].tolist() == ["Tea.", "Rain."]
        assert store.check().ok


def test_a_migration_that_is_killed_leaves_the_older_layout(path: Path) -> None:
    code = f"""
import os, signal, apsw
from memlab import journal_migrate
from memlab.store import MemoryStore
journal_migrate.SCHEMA_VERSION = {SCHEMA_VERSION + 2}
journal_migrate.MIGRATIONS = {NEXT!r}
step = journal_migrate._step
def killed(db, name, version):
    step(db, name, version)
    if version == {SCHEMA_VERSION + 1}:
        os.kill(os.getpid(), signal.SIGKILL)
journal_migrate._step = killed
MemoryStore.open({str(path)!r}, encoder=None)
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL if os.name == "posix" else done.returncode
    with MemoryStore.open(path, encoder=None) as store:
        assert store.memories["content"].tolist() == ["Tea.", "Rain."]
        assert store.check().ok
    assert rows(path, "SELECT name FROM sqlite_schema WHERE name='moods'") == []


def test_an_older_file_isnt_changed_by_who_only_reads(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()
    tomorrow(monkeypatch, NEXT)
    with pytest.raises(ReadOnlyStore, match="without read_only"):
        MemoryStore.open(path, encoder=None, read_only=True)
    assert path.read_bytes() == before


def test_a_layout_that_never_was_is_damage(path: Path) -> None:
    rows(path, "PRAGMA user_version=0")
    with pytest.raises(CorruptStore, match="layout 0"):
        MemoryStore.open(path, encoder=None)


def test_a_missing_column_is_named(path: Path) -> None:
    rows(path, "ALTER TABLE memories DROP COLUMN aliases")
    with pytest.raises(CorruptStore, match="aliases of memories"):
        MemoryStore.open(path, encoder=None)
