"""What new memories wait for: the indexes take them in when a recall needs it, and none is missed or half there."""

from pathlib import Path
from typing import Any

import pytest
from encoders_store import Counting

from memlab.encoders import HashEncoder
from memlab.index import DenseIndex
from memlab.lexical import LexicalIndex
from memlab.store import MemoryStore


@pytest.fixture
def store() -> MemoryStore:
    """A store with indexes made."""
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    store.add("Tea.", memory_id="tea")
    store.add("Rain.", memory_id="rain")
    store.recall("tea", method="hybrid")
    return store


@pytest.mark.parametrize("index", [LexicalIndex, DenseIndex])
def test_an_interrupt_while_new_memories_are_brought_into_an_index_leaves_it_whole(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch, index: Any
) -> None:
    store.recall("tea", method="hybrid")
    store.add("Snow.", memory_id="snow", space="winter")
    store.add("Sleet.", memory_id="sleet")
    add = index.add
    rounds: list[None] = []

    def interrupted(*args: Any) -> None:
        add(*args)
        rounds.append(None)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(index, "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.recall("snow", space="*", method="hybrid")
    assert rounds
    found = store.recall("snow sleet", space="*", method="hybrid")
    assert {hit.memory_id for hit in found} >= {"snow", "sleet"}
    assert store.check().ok


@pytest.mark.parametrize("recalled", [False, True])
def test_what_waits_for_a_recall_follows_edits_renamings_and_deletions(store: MemoryStore, recalled: bool) -> None:
    store.recall("tea", method="hybrid")
    store.add_many([{"content": word, "memory_id": word, "space": "winter"} for word in ("snow", "sleet", "hail")])
    if recalled:
        store.recall("snow", space="winter", method="hybrid")
    store.update("snow", content="ice")
    store.spaces.rename("winter", "summer")
    store.update("sleet", content="drizzle")
    store.delete("hail")
    assert store.check().ok
    for query, expected in (("ice", "snow"), ("drizzle", "sleet")):
        for method in ("dense", "lexical"):
            assert store.recall(query, space="summer", method=method)[0].memory_id == expected
    assert "hail" not in {hit.memory_id for hit in store.recall("hail", space="*", method="hybrid")}
    assert len(store.embeddings()) == len(store)


def test_a_text_that_was_seen_is_not_encoded_again(tmp_path: Path) -> None:
    encoder = Counting()
    with MemoryStore.open(tmp_path / "s.memlab", encoder=encoder) as store:
        store.add_many(["Tea.", "Rain."])
    with MemoryStore.open(tmp_path / "s.memlab", encoder=encoder) as store:
        store.recall("tea", method="dense")
        encoder.asked.clear()
        store.add("Tea.", space="other")
        store.add("Snow.")
        store.add("Snow.")
    assert encoder.asked == ["Snow."]
