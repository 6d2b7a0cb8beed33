"""Embeddings: made once, kept by text, read back to the last bit."""

from pathlib import Path

import numpy as np
import pytest
from encoders_store import Counting
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts

from memlab.encoders import HashEncoder
from memlab.errors import EncoderMismatch
from memlab.journal import Journal
from memlab.store import MemoryStore
from memlab.store_embedder import Embedder
from memlab.store_vectors import Embedding, text_key


class Windowed(Counting):
    """An encoder that takes ten characters at a time."""

    def windows(self, text: str) -> list[tuple[int, int]]:
        """Spans of ten characters."""
        return [(start, min(start + 10, len(text))) for start in range(0, len(text), 10)]


@given(st.lists(texts(), max_size=8), st.integers(1, 20))
def test_embeddings_come_back_from_the_file_to_the_last_bit(given_texts: list[str], dimension: int) -> None:
    journal = Journal()
    encoder = Counting(dimension)
    made = Embedder(journal, encoder).embed(given_texts)
    with journal.transaction():
        Embedder(journal, encoder).keep(made)
    assert encoder.asked == list(dict.fromkeys(given_texts))
    kept = Embedder(journal, encoder).embed(given_texts)
    assert encoder.asked == list(dict.fromkeys(given_texts))
    assert made.keys() == kept.keys() == set(given_texts)
    for text in given_texts:
        np.testing.assert_array_equal(made[text].vectors, kept[text].vectors)
        assert made[text].spans == kept[text].spans == ((0, len(text)),)


def test_a_long_text_has_a_vector_a_window_and_the_hit_says_which(tmp_path: Path) -> None:
    encoder = Windowed()
    text = "aaaa bbbb cccc dddd eeee ffff"
    with MemoryStore.open(tmp_path / "s.memlab", encoder=encoder) as store:
        long = store.add(text)
        store.add("zzzz")
        first = store.embeddings()
        assert first.index.get_level_values("window").tolist() == [0, 1, 2, 0]
        assert store.check().ok
    with MemoryStore.open(tmp_path / "s.memlab", encoder=encoder) as store:
        assert store.embeddings().equals(first)
        assert store.recall("eeee", method="dense")[0].memory_id == long
        assert store.faiss_index()[1].count(long) == 3
        store.update(long, content="aaaa")
        assert len(store.embeddings()) == 2
        assert store.check().ok
    assert encoder.asked.count("aaaa bbbb ") == 1


def test_vectors_of_another_encoder_are_not_read() -> None:
    journal = Journal()
    one, other = Embedder(journal, HashEncoder(8)), Embedder(journal, HashEncoder(16))
    assert one.fingerprint != other.fingerprint
    with journal.transaction():
        one.keep(one.embed(["Tea."]))
        other.keep(other.embed(["Tea."]))
    assert one.embed(["Tea."])["Tea."].vectors.shape == (1, 8)
    assert other.embed(["Tea."])["Tea."].vectors.shape == (1, 16)


def test_keeping_the_same_again_writes_nothing() -> None:
    journal = Journal()
    embedder = Embedder(journal, HashEncoder(8))
    made = embedder.embed(["Tea."])
    with journal.transaction():
        embedder.keep(made)
    before = journal.connection.total_changes()
    with journal.transaction():
        embedder.keep(made)
    assert journal.connection.total_changes() == before


@pytest.mark.parametrize(("blob", "spans"), [(b"", None), (b"\0" * 12, None), (b"\0" * 16, "[[0,1],[1,2]]")])
def test_what_has_not_the_shape_of_an_embedding_is_none(blob: bytes, spans: str | None) -> None:
    assert Embedding.read(spans, blob, 4, 2) is None


def test_the_key_of_a_text_is_its_sha256() -> None:
    assert text_key("abc").hex().startswith("ba7816bf8f01cfea")


def test_without_an_encoder_nothing_is_embedded() -> None:
    embedder = Embedder(Journal(), None)
    assert embedder.embed(["Tea."]) == {}
    with pytest.raises(EncoderMismatch, match="encoder="):
        embedder.encode_queries(["tea"])


def test_opening_loads_no_model(tmp_path: Path) -> None:
    encoder = Counting()
    with MemoryStore.open(tmp_path / "s.memlab", encoder=encoder) as store:
        store.add("Tea.")
    encoder.asked.clear()
    with MemoryStore.open(tmp_path / "s.memlab", encoder=encoder) as store:
        assert len(store.memories) == 1
        store.recall("tea", method="lexical")
        store.embeddings()
    assert encoder.asked == []
