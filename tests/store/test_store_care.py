"""Care: the proof that all parts agree, encoders, copies."""

import contextlib
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from encoders_store import Counting

from memlab.encoders import HashEncoder
from memlab.errors import CorruptStore, EncoderError, EncoderMismatch, InvalidArgument, StorageError
from memlab.records import Association
from memlab.store import MemoryStore


@pytest.fixture
def store(tmp_path: Path) -> Any:
    """A store in a file, with all indexes made."""
    with MemoryStore.open(tmp_path / "s.memlab", encoder=Counting()) as store:
        store.add_many([{"content": "Tea.", "memory_id": "tea"}, {"content": "Rain.", "memory_id": "rain"}])
        store.add("Snow.", memory_id="snow", space="other")
        store.associate("rain", "LEADS_TO", "tea")
        store.recall("tea", space="*")
        yield store


def test_a_sound_store_is_sound(store: MemoryStore) -> None:
    check = store.check()
    assert check
    assert check.ok
    assert dict(check.figures) == {"memories": 3, "associations": 1, "changes": 7, "vectors in memory": 3}
    assert repr(check).startswith("sound: 3 memories")
    assert "sound" in check._repr_html_()


def hide_row(store: MemoryStore) -> None:
    store._journal.rows("UPDATE memories SET importance=1 WHERE memory_id='tea'")


def drop_row(store: MemoryStore) -> None:
    store._journal.rows("DELETE FROM memories WHERE memory_id='snow'")


def add_row(store: MemoryStore) -> None:
    store._table.remove("snow")


def drop_word(store: MemoryStore) -> None:
    store._words()["default"].remove([store._table.slots["tea"]])


def drop_vector(store: MemoryStore) -> None:
    store._dense()["default"].remove(store._table.slots["tea"])


def swap_vector(store: MemoryStore) -> None:
    store._dense()["default"]._matrix[0] *= -1


def dead_vector(store: MemoryStore) -> None:
    store._dense()["default"].add([99], [np.eye(16, dtype=np.float32)[:1]], [[(0, 1)]])


def edge_in_file(store: MemoryStore) -> None:
    store._journal.rows("UPDATE associations SET strength=1")


def edge_in_memory(store: MemoryStore) -> None:
    old = store._graph.get(("rain", "LEADS_TO", "tea"))
    new = Association(
        source="tea", relation="LEADS_TO", target="rain", created_at=old.created_at, updated_at=old.created_at
    )
    store._graph.put(new)


def space_in_file(store: MemoryStore) -> None:
    store._journal.rows("UPDATE spaces SET description='x' WHERE name='other'")


def break_vector(store: MemoryStore) -> None:
    store._journal.rows("UPDATE vectors SET vectors=randomblob(64)")


@pytest.mark.parametrize(
    ("harm", "word"),
    [
        (add_row, "'snow'"),
        (drop_word, "lexical"),
        (drop_vector, "'tea'"),
        (swap_vector, "vector of"),
        (dead_vector, "dense"),
        (edge_in_memory, "tea LEADS_TO rain"),
        (break_vector, "3 rows"),
    ],
)
def test_whatever_disagrees_is_found_and_repaired(store: MemoryStore, harm: Any, word: str) -> None:
    harm(store)
    check = store.check()
    assert not check
    assert word in repr(check)
    assert word in check._repr_html_().replace("&#x27;", "'").replace("&#39;", "'")
    repaired = store.check(repair=True)
    assert repaired.ok
    assert repaired.repaired
    assert store.recall("tea", method="dense", k=1)[0].memory_id == "tea"
    assert store.check().ok


@pytest.mark.parametrize(
    ("harm", "word"),
    [(hide_row, "'tea'"), (drop_row, "'snow'"), (edge_in_file, "'rain'"), (space_in_file, "spaces")],
)
def test_a_file_changed_behind_its_back_is_found_and_never_taken_for_the_truth(
    store: MemoryStore, harm: Any, word: str
) -> None:
    before = list(store)
    harm(store)
    for repair in (False, True):
        check = store.check(repair=repair)
        assert not check
        assert not check.repaired
        assert word in repr(check)
    assert list(store) == before
    with pytest.raises(CorruptStore, match="backup"):
        MemoryStore.open(store.path, encoder=None)  # type: ignore[arg-type]


def test_reencoding_makes_the_new_encoder_the_active_one(store: MemoryStore) -> None:
    path = store.path
    assert path is not None
    store.reencode(HashEncoder(dimension=8))
    assert store.encoder.dimension == 8  # type: ignore[union-attr]
    assert store.embeddings().shape == (3, 8)
    assert store.recall("tea", method="dense")[0].memory_id == "tea"
    store.add("Hail.")
    assert store.check().ok
    with MemoryStore.open(path) as other:
        assert other.embeddings().shape == (4, 8)
    with pytest.raises(EncoderMismatch, match="hash-8"):
        MemoryStore.open(path, encoder=HashEncoder(dimension=16))


def test_going_back_to_an_encoder_uses_what_it_made(store: MemoryStore) -> None:
    encoder = store.encoder
    assert isinstance(encoder, Counting)
    encoder.asked.clear()
    store.reencode(HashEncoder(dimension=8))
    store.reencode(encoder)
    assert encoder.asked == []
    assert store.embeddings().shape == (3, 16)
    before = len(store.log())
    store.reencode(encoder)
    assert len(store.log()) == before
    assert store.check().ok


def test_an_encoder_that_fails_changes_nothing(store: MemoryStore) -> None:
    def fail() -> None:
        raise RuntimeError("no memory")

    with pytest.raises(RuntimeError, match="no memory"):
        store.reencode(Counting(8, fail))
    with pytest.raises(EncoderError):
        store.reencode(5)  # type: ignore[arg-type]
    assert store.embeddings().shape == (3, 16)
    assert store.check().ok


def test_a_store_without_an_encoder_can_get_one() -> None:
    store = MemoryStore(encoder=None)
    store.add("Tea.")
    store.reencode("hash-8")
    assert store.recall("tea", method="dense").hits
    assert store.check().ok


def test_pruning_drops_what_no_memory_needs(store: MemoryStore) -> None:
    assert store.prune_vectors() == 0
    store.update("tea", content="Green tea.")
    store.delete("rain")
    store.reencode(HashEncoder(dimension=8))
    assert store.prune_vectors() == 4
    assert store.check().ok
    assert store.embeddings().shape == (2, 8)
    assert MemoryStore(encoder=None).prune_vectors() == 0


def test_the_faiss_index_is_a_copy_that_finds_what_recall_finds(store: MemoryStore) -> None:
    index, ids = store.faiss_index()
    vector = store.encoder.encode(["tea"], "query")  # type: ignore[union-attr]
    _, places = index.search(vector, 2)
    dense = [hit.memory_id for hit in store.recall("tea", method="dense", k=2)]
    assert [ids[place] for place in places[0]][: len(dense)] == dense
    index.reset()
    assert store.recall("tea", method="dense").hits
    with pytest.raises(EncoderMismatch):
        plain = MemoryStore(encoder=None)
        plain.add("Tea.")
        plain.faiss_index()


def test_a_backup_is_a_store(store: MemoryStore, tmp_path: Path) -> None:
    copy = store.backup(tmp_path / "copy.memlab")
    store.add("Later.")
    with MemoryStore.open(copy) as other:
        assert other.memories["memory_id"].tolist() == ["tea", "rain", "snow"]
        assert other.log().equals(store.log().iloc[:-1])
        assert len(other.recalls) == 1
        assert other._journal.file_id != store._journal.file_id
        assert other._journal.rows("PRAGMA journal_mode") == [("wal",)]
        other.add("Other.")
        assert other.check().ok
    assert sorted(p.name for p in tmp_path.iterdir() if not p.name.startswith("s.")) == ["copy.memlab"]


def test_a_store_in_memory_is_saved_by_a_backup(tmp_path: Path) -> None:
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    tea = store.add("Tea.")
    with MemoryStore.open(store.backup(str(tmp_path / "copy.memlab"))) as other:
        assert list(other) == list(store)
        assert other.recall("tea", method="dense")[0].memory_id == tea


def test_a_backup_is_whole_while_another_process_is_in_the_middle_of_a_write(
    store: MemoryStore, tmp_path: Path
) -> None:
    other = apsw.Connection(str(store.path))
    with contextlib.closing(other):
        other.execute("BEGIN IMMEDIATE; DELETE FROM memories")
        copy = store.backup(tmp_path / "copy.memlab")
        other.execute("ROLLBACK")
    with MemoryStore.open(copy) as saved:
        assert len(saved) == 3
        assert saved.check().ok


def test_a_backup_never_overwrites(store: MemoryStore, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("mine", encoding="utf-8")
    with pytest.raises(StorageError, match="never overwrites"):
        store.backup(there)
    assert there.read_text(encoding="utf-8") == "mine"
    with pytest.raises(StorageError):
        store.backup(store.path)  # type: ignore[arg-type]
    with pytest.raises(StorageError, match="isn't a folder"):
        store.backup(tmp_path / "no" / "copy")
    with pytest.raises(InvalidArgument):
        store.backup("")
    assert store.check().ok
