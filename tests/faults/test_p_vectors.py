"""Kind P: zero and NaN vectors, shapes of arrays, encoders that lie.

Law: what goes into the index, and what is looked for in it, is finite float32 of the right shape and unit length,
made so or refused in one place before native code sees it. A text without anything to encode has a vector of zeros:
it is kept and found by its words, and near nothing. Nothing is padded or cut to fit.
"""

from collections.abc import Callable

import numpy as np
import pytest
from worlds import METHODS, Given, found, state

from memlab.encoders import HashEncoder
from memlab.errors import EncoderError, EncoderMismatch, EncoderOutput, MemlabError
from memlab.store import MemoryStore

LIES: dict[str, Callable[[int], object]] = {
    "P06 NaN": lambda n: np.full((n, 4), np.nan),
    "infinity": lambda n: np.full((n, 4), np.inf),
    "one NaN": lambda n: np.where(np.eye(n, 4) == 1, np.nan, 1.0),
    "too narrow": lambda n: np.ones((n, 3)),
    "too wide": lambda n: np.ones((n, 5)),
    "P07 one dimension": lambda n: np.ones(4),
    "three dimensions": lambda n: np.ones((n, 1, 4)),
    "a row too many": lambda n: np.ones((n + 1, 4)),
    "a row too few": lambda n: np.ones((max(0, n - 1), 4)),
    "turned": lambda n: np.ones((4, n)) if n != 4 else np.ones((5, 4)),
    "ragged": lambda n: [[1.0] * (3 + i % 2) for i in range(2 * n)],
    "texts": lambda n: [["1"] * 4] * n,
    "complex": lambda n: np.ones((n, 4), dtype=complex),
    "objects": lambda n: np.full((n, 4), None),
    "bools": lambda n: np.ones((n, 4), dtype=bool),
    "None": lambda n: None,
    "a number": lambda n: 1.0,
}
FORMS: dict[str, Callable[[np.ndarray], object]] = {
    "float64": lambda rows: rows.astype(np.float64),
    "float16": lambda rows: rows.astype(np.float16),
    "whole numbers": lambda rows: rows.astype(int),
    "lists": lambda rows: rows.tolist(),
    "Fortran order": np.asfortranarray,
    "a view": lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
    "big-endian": lambda rows: rows.astype(">f4"),
    "read-only": lambda rows: np.broadcast_to(rows, rows.shape),
    "very large": lambda rows: rows.astype(np.float64) * 1e300,
    "very small": lambda rows: rows.astype(np.float64) * 1e-300,
}


class Lying:
    """An encoder that tells the truth until it is told to lie."""

    name = fingerprint = "lying"
    dimension = 4
    lie: Callable[[int], object] | None = None

    def encode(self, texts: list[str], kind: str = "passage", progress: bool = False) -> object:
        """Encode, or lie."""
        return self.lie(len(texts)) if self.lie else np.array([[len(t), 1, 0, 0] for t in texts], dtype=np.float32)


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_lie_is_refused_when_writing_and_when_asking(lie: Callable[[int], object]) -> None:
    encoder = Lying()
    store = MemoryStore(encoder=encoder)  # type: ignore[arg-type]
    store.add("tea", memory_id="tea")
    store.recall("tea", method="hybrid")
    before = state(store)
    encoder.lie = lie
    for call in (
        lambda: store.add("rain"),
        lambda: store.add_many(["a", "b"], progress=False),
        lambda: store.update("tea", content="green tea"),
        lambda: store.recall("never asked before", method="dense"),
        lambda: store.recall(["never asked", "nor this"], method="default"),
    ):
        with pytest.raises((EncoderOutput, EncoderMismatch)) as caught:
            call()
        assert isinstance(caught.value, ValueError)
    encoder.lie = None
    assert state(store) == before and store.check().ok
    assert found(store, "tea", method="dense") == ["tea"]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_of_a_true_matrix_is_taken(form: Callable[[np.ndarray], object]) -> None:
    encoder = Lying()
    encoder.lie = lambda n: form(np.array([[3.0, 4.0, 0.0, 0.0]] * n))
    store = MemoryStore(encoder=encoder)  # type: ignore[arg-type]
    store.add("tea")
    assert store.embeddings().to_numpy()[0] == pytest.approx([0.6, 0.8, 0, 0], abs=1e-6)
    assert store.recall("rain", method="dense")[0].parts["dense"].score == pytest.approx(1.0)


def test_p01_a_text_of_zeros_is_kept_and_found_by_its_words() -> None:
    store = MemoryStore(encoder=Given(lambda text: (0, 0) if "!" in text else (1, 0)))  # type: ignore[arg-type]
    loud = store.add("tea !!!")
    calm = store.add("rain")
    assert found(store, "tea", method="lexical") == [loud]
    assert found(store, "anything", method="dense") == [calm]
    assert all(np.isfinite(hit.score) for hit in store.recall("tea", method="hybrid"))
    assert store.check().ok and store.faiss_index()[0].ntotal == 1
    store.update(loud, content="calm tea")
    assert set(found(store, "anything", method="dense")) == {loud, calm}
    store.update(calm, content="rain !")
    assert found(store, "anything", method="dense") == [loud]


@pytest.mark.parametrize("method", METHODS)
def test_p02_a_query_of_zeros_leaves_the_others_to_answer(method: str) -> None:
    store = MemoryStore(encoder=Given(lambda text: (0, 0) if text.startswith("?") else (1, 0)))  # type: ignore[arg-type]
    tea = store.add("tea")
    answer = store.recall("? tea", method=method)
    assert [hit.memory_id for hit in answer] == ([] if method == "dense" else [tea])
    assert all(np.isfinite([hit.score, hit.relevance]).all() for hit in answer)


def test_a_store_of_nothing_but_zeros_answers() -> None:
    store = MemoryStore(encoder=Given(lambda text: (0, 0)))  # type: ignore[arg-type]
    tea = store.add("tea")
    assert found(store, "tea", method="dense") == []
    assert found(store, "tea", method="hybrid") == [tea]
    assert store.embeddings().shape == (0, 2) and store.faiss_index()[0].ntotal == 0


class NoEncoder:
    """Lacks what an encoder needs."""


@pytest.mark.parametrize("thing", [NoEncoder(), NoEncoder, 5, b"x", [], HashEncoder, lambda texts: texts, True, {}])
def test_what_is_no_encoder_is_refused_at_once(thing: object) -> None:
    with pytest.raises(MemlabError) as caught:
        MemoryStore(encoder=thing)  # type: ignore[arg-type]
    assert isinstance(caught.value, EncoderError)


def test_an_encoder_that_raises_writes_nothing() -> None:
    class Broken(Lying):
        """Fails in its own way."""

        def encode(self, texts: list[str], kind: str = "passage", progress: bool = False) -> object:
            """Fail."""
            raise ConnectionError("no such host")

    store = MemoryStore(encoder=Broken())  # type: ignore[arg-type]
    with pytest.raises(ConnectionError):
        store.add("tea")
    assert len(store) == len(store.spaces) == len(store.log()) == 0
