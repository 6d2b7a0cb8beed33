"""Forgetting: the text is found nowhere in the bytes that are left."""

import contextlib
import random
import string
from pathlib import Path

import apsw
import pytest

from memlab.encoders import HashEncoder
from memlab.errors import StoreBusy, UnknownChange, UnknownMemory
from memlab.store import MemoryStore


def remains(path: Path) -> bytes:
    """All bytes of a closed store, those of files beside it included."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.iterdir()))


def word(seed: int) -> str:
    """A word that is found by accident nowhere."""
    return "".join(random.Random(seed).choices(string.ascii_lowercase, k=12))


def test_nothing_that_the_memory_ever_said_is_left(tmp_path: Path) -> None:
    path = tmp_path / "s.memlab"
    first, second, reason, tag, query, quoted = map(word, range(6))
    with MemoryStore.open(path, encoder=HashEncoder(dimension=16)) as store:
        store.add("Something else.", memory_id="other")
        store.add(f'The code\n"{first}".', memory_id="m", tags=[tag], happened_at="2024-05-20T00:00Z", role="Ana")
        store.update("m", content=f"Now it is {second}.")
        store.associate("m", "CONTRADICTS", "other", reason=reason)
        store.recall(f"{query} now it is")
        store.recall(f"Now it is {second}.", k=1, where={"source": "x"})
        store._telemetry.called(
            {
                "time": 0,
                "client": "agent",
                "tool": "store_memory",
                "space": None,
                "arguments": {"content": f'The code\n"{first}".', "note": quoted},
                "seconds": 0.1,
                "ok": True,
                "hits": [],
                "error": f'The code\n"{first}". is too long',
            }
        )
        store._telemetry.flush()
        store.recall(f"{query} now it is")
        before = store.get("other")
        assert store.forget("m") == ["m"]
        assert store.get("other") == before
        assert len(store.recalls) == 0
        assert len(store.calls) == 0
        assert store.history("m")["verb"].tolist() == ["forget"]
        assert store.check().ok
    left = remains(path)
    for text in (first, second, reason, tag, query, quoted):
        assert text.encode() not in left
    with MemoryStore.open(path) as store:
        assert store.memories["memory_id"].tolist() == ["other"]
        assert store.check().ok


def test_a_deleted_memory_can_be_forgotten_and_then_not_be_brought_back(tmp_path: Path) -> None:
    secret = word(7)
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        store.add_many([{"content": secret, "memory_id": "m"}, {"content": "Rain.", "memory_id": "rain"}])
        store.associate("m", "LEADS_TO", "rain")
        store.delete(["m", "rain"])
        change = store.log()["change"].max()
        assert store.forget(["m"]) == ["m"]
        store.undo(change)
        assert store.memories["memory_id"].tolist() == ["rain"]
        assert len(store.associations) == 0
        with pytest.raises(UnknownChange):
            store.undo(store.log().query("verb == 'forget'")["change"].iloc[0])
        assert "m" not in store.as_of(store.log()["seq"].iloc[0])
        assert store.check().ok
    assert secret.encode() not in remains(tmp_path / "s.memlab")


def test_what_was_merged_into_a_memory_is_forgotten_with_it(tmp_path: Path) -> None:
    secret = word(8)
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        store.add(secret, memory_id="old")
        store.delete("old")
        store.add("Tea.", memory_id="new", aliases=["old", "never seen"])
        assert store.forget("old") == ["new"]
    assert secret.encode() not in remains(tmp_path / "s.memlab")


def test_an_unknown_id_is_an_error_before_anything_is_forgotten() -> None:
    store = MemoryStore(encoder=None)
    store.add("Tea.", memory_id="tea")
    with pytest.raises(UnknownMemory, match="ghost"):
        store.forget(["tea", "ghost"])
    with pytest.raises(UnknownMemory):
        store.forget("default-space")
    assert "tea" in store
    assert store.forget([]) == []


def test_forgetting_twice_is_fine() -> None:
    store = MemoryStore(encoder=None)
    tea = store.add("Tea.")
    assert store.forget(tea) == store.forget(tea) == [tea]
    assert store.history(tea)["verb"].tolist() == ["forget"]


def test_a_memory_with_the_same_text_keeps_its_vector_or_gets_it_again() -> None:
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    a, b = store.add_many(["Tea.", "Tea."])
    store.recall("tea")
    store.forget(a)
    assert store.embeddings().index.get_level_values(0).tolist() == [b]
    store.check(repair=True)
    assert store.recall("tea", method="dense")[0].memory_id == b
    assert store.check().ok


# Seeds for which secure_delete alone leaves something.
@pytest.mark.parametrize("seed", [11, 19, 22, 24])
def test_pages_that_were_split_and_joined_hold_no_remnant(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    fresh = iter(range(seed * 10_000, (seed + 1) * 10_000))
    secrets: dict[str, list[str]] = {}
    kept: dict[str, str] = {}
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None, durability="normal") as store:
        for _ in range(60):
            for _ in range(4):
                text = f"{word(next(fresh))} " * chance.choice([1, 30, 500])
                kept[store.add(text, memory_id=f"{chance.getrandbits(64):x}")] = text
            for memory_id in chance.sample(sorted(kept), 3):
                secrets.setdefault(memory_id, []).append(kept[memory_id])
                kept[memory_id] = f"{word(next(fresh))} " * chance.choice([1, 200])
                store.update(memory_id, content=kept[memory_id])
            for memory_id in chance.sample(sorted(kept), 3):
                secrets.setdefault(memory_id, []).append(kept.pop(memory_id))
                store.forget(memory_id)
        living = set(kept)
        forgotten = [text.split()[0] for key, texts in secrets.items() if key not in living for text in texts]
        assert store.check().ok
    left = remains(tmp_path / "s.memlab")
    assert [text for text in forgotten if text.encode() in left] == []


def test_what_cannot_be_finished_is_said_and_finished_by_calling_again(tmp_path: Path) -> None:
    path, secret = tmp_path / "s.memlab", word(9)
    with MemoryStore.open(path, encoder=None, timeout=0.1) as store:
        store.add(secret, memory_id="m")
        reader = apsw.Connection(str(path))
        with contextlib.closing(reader):
            reader.execute("BEGIN; SELECT count(*) FROM log").fetchall()
            with pytest.raises(StoreBusy, match="again"):
                store.forget("m")
            assert "m" not in store
            reader.execute("ROLLBACK")
        assert store.forget("m") == ["m"]
        assert store.check().ok
    assert secret.encode() not in remains(path)
