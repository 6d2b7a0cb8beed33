"""Recall with the real all-MiniLM-L6-v2, where meaning counts."""

import pytest

from memlab.store import MemoryStore

PRESETS = ("lexical", "dense", "hybrid", "default")
NOW = "2024-06-12T10:00Z"

pytestmark = pytest.mark.model


def test_meaning_is_found_where_no_word_matches(minilm):
    with MemoryStore(encoder=minilm) as store:
        store.add_many(
            [
                {"memory_id": "doctor", "content": "The physician told her to rest for a week."},
                {"memory_id": "car", "content": "The car needs new tyres."},
                {"memory_id": "cake", "content": "They baked a lemon cake on Sunday."},
            ]
        )
        found = store.recall("medical advice", method="dense")
        assert found.ids[0] == "doctor"
        assert store.recall("medical advice", method="lexical").ids == []
        assert store.recall("medical advice").ids[0] == "doctor"
        assert 0 <= found[2].relevance < found[0].relevance < 1


def test_the_end_of_a_long_memory_is_found_and_named(minilm):
    filler = "We talked about the weather and the garden and what the neighbours had planted this year. " * 30
    answer = "Then Ana said that the spare key lies under the blue flower pot."
    with MemoryStore(encoder=minilm) as store:
        store.add(filler + answer, memory_id="long", role="Ana", happened_at="2024-05-03T09:00Z")
        store.add("They baked a lemon cake on Sunday.", memory_id="cake")
        hit = store.recall("Where is the spare key hidden?", method="dense")[0]
        start, end = hit.parts["dense"].detail["window"]
        assert hit.memory_id == "long"
        assert answer in hit.memory.content[start:end]
        assert start > len(filler) / 2


def test_a_batch_ranks_as_single_queries_do(minilm):
    texts = ["Ana moved to Oslo.", "Bo plays the cello.", "They sail on Sundays.", "The lab studies salmon."]
    queries = ["who makes music?", "fish", "what do they do at the weekend, when the weather is fine?", "Norway"]
    with MemoryStore(encoder=minilm) as store:
        store.add_many(texts)
        for method in PRESETS:
            for query, found in zip(queries, store.recall(queries, method=method, now=NOW), strict=True):
                alone = store.recall(query, method=method, now=NOW)
                assert found.ids == alone.ids
                assert [h.score for h in found] == pytest.approx([h.score for h in alone], abs=2e-6)


def test_a_long_query_is_not_cut(minilm):
    with MemoryStore(encoder=minilm) as store:
        store.add_many(["The cello is being repaired.", "The salmon swam up the river to spawn."])
        query = "The cello is being repaired. " * 3 + "The salmon swam up the river to spawn. " * 60
        found = store.recall(query, method="dense")
        assert found[0].memory.content.startswith("The salmon")
        assert "windows stands for it" in found.notes[0]
