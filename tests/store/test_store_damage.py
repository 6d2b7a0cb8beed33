"""Files that are no store, or a damaged one: refused in words, left as they are, and no memory lost."""

import contextlib
import sqlite3
from pathlib import Path

import apsw
import pytest
from encoders_store import Counting

from memlab.encoders import HashEncoder
from memlab.errors import CorruptStore, NewerStore
from memlab.store import MemoryStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be."""
    return tmp_path / "s.memlab"


def changed(path: Path, sql: str) -> None:
    """Change a closed store's file behind memlab's back."""
    db = apsw.Connection(str(path))
    with contextlib.closing(db):
        db.execute(sql)


@pytest.mark.parametrize("content", [b"", b"not a database, but long enough to be one " * 50, b"SQLite format 3\x00"])
def test_a_file_that_is_no_store_is_refused_and_left_as_it_is(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for _ in range(3):
        with pytest.raises(CorruptStore, match=path.name):
            MemoryStore.open(path)
    assert path.read_bytes() == content
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_another_programs_database_is_refused_and_left_as_it_is(path: Path, mode: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA journal_mode={mode}")
        db.execute("CREATE TABLE memories (x)")
        db.commit()
    before = path.read_bytes()
    with pytest.raises(CorruptStore, match="not a memlab store"):
        MemoryStore.open(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_newer_file_is_refused_in_words(path: Path) -> None:
    MemoryStore.open(path, encoder=None).close()
    changed(path, "PRAGMA user_version=99")
    with pytest.raises(NewerStore, match="Upgrade"):
        MemoryStore.open(path)


def test_a_file_that_lacks_a_table_is_damaged(path: Path) -> None:
    MemoryStore.open(path, encoder=None).close()
    changed(path, "DROP TABLE vectors")
    with pytest.raises(CorruptStore, match="vectors"):
        MemoryStore.open(path)


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        ("UPDATE memories SET metadata='{' WHERE memory_id='tea'", "tea"),
        ("UPDATE memories SET metadata='[1]' WHERE memory_id='tea'", "tea"),
        ("UPDATE memories SET importance='x' WHERE memory_id='tea'", "tea"),
        ("UPDATE memories SET importance=7 WHERE memory_id='tea'", "tea"),
        ("UPDATE memories SET content=NULL WHERE memory_id='tea'", "tea"),
        ("UPDATE memories SET content='' WHERE memory_id='tea'", "tea"),
        ("UPDATE memories SET content=x'ff00' WHERE memory_id='tea'", "tea"),
        ("UPDATE memories SET archived=5 WHERE memory_id='tea'", "tea"),
        ("UPDATE memories SET happened_at='noon' WHERE memory_id='tea'", "tea"),
        ("UPDATE memories SET happened_at=9223372036854775807 WHERE memory_id='tea'", "tea"),
        ("UPDATE memories SET space='nowhere' WHERE memory_id='tea'", "tea"),
        ("UPDATE associations SET strength=-1", "rain"),
        ("UPDATE associations SET properties='x'", "rain"),
        ("UPDATE spaces SET created_at='x'", "default"),
        ("UPDATE relations SET definition='{}'", "CITES"),
        ("DELETE FROM spaces", "tea"),
    ],
)
def test_a_damaged_row_is_named_and_nothing_is_lost(path: Path, damage: str, named: str) -> None:
    with MemoryStore.open(path, encoder=None) as store:
        store.add_many([{"content": "Tea.", "memory_id": "tea"}, {"content": "Rain.", "memory_id": "rain"}])
        store.associate("rain", "LEADS_TO", "tea")
        store.register_relation("CITES")
        space_id = store.spaces.describe("default").space_id
    changed(path, damage)
    before = path.read_bytes()
    for _ in range(3):
        with pytest.raises(CorruptStore) as caught:
            MemoryStore.open(path, encoder=None)
    assert named in str(caught.value) or space_id in str(caught.value)
    assert "backup" in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE vectors SET vectors=randomblob(16)",
        "UPDATE vectors SET vectors=randomblob(length(vectors))",
        "UPDATE vectors SET vectors=zeroblob(length(vectors))",
        "UPDATE vectors SET vectors='text'",
        "UPDATE vectors SET vectors=x''",
        "UPDATE vectors SET spans='[[0,'",
        "UPDATE vectors SET spans='[[0,2],[2,4]]'",
        "UPDATE vectors SET checksum=0",
        "UPDATE vectors SET key=randomblob(32)",
        "DELETE FROM vectors",
    ],
)
def test_a_damaged_vector_is_made_anew_and_costs_no_memory(path: Path, damage: str) -> None:
    with MemoryStore.open(path, encoder=HashEncoder(dimension=16)) as store:
        store.add("Tea.", memory_id="tea")
        before = store.embeddings()
    changed(path, damage)
    encoder = Counting()
    with MemoryStore.open(path, encoder=encoder) as store:
        assert store.recall("tea", method="dense")[0].memory_id == "tea"
        assert store.embeddings().equals(before)
        assert encoder.asked == ["tea", "Tea."]
        assert store.check().ok
    with MemoryStore.open(path, encoder=encoder) as store:
        assert store.embeddings().equals(before)
    assert encoder.asked == ["tea", "Tea."]
