"""Kind G: another encoder, another dimension.

Law: a file names the encoder of its vectors. Opened by another it is refused at once, in words that name both and the
remedy; vectors of two encoders are never compared, padded or cut; ``reencode`` is the one verb that changes it.
"""

from pathlib import Path

import pytest
from worlds import Given, found, state

from memlab.encoders import HashEncoder
from memlab.errors import EncoderMismatch
from memlab.store import MemoryStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed store, encoded in 32 dimensions."""
    with MemoryStore.open(tmp_path / "s.memlab", encoder=HashEncoder(dimension=32)) as store:
        store.add_many(["tea at four", "rain at five"], progress=False)
    return tmp_path / "s.memlab"


class Second(Given):
    """Another version of an encoder of the same name and dimension."""

    fingerprint = "given, version 2"


def test_g01_another_dimension_is_refused_naming_both_and_the_remedy(path: Path) -> None:
    with pytest.raises(EncoderMismatch) as caught:
        MemoryStore.open(path, encoder=HashEncoder(dimension=64))
    assert all(word in str(caught.value) for word in ("hash-32", "hash-64", "reencode"))
    assert isinstance(caught.value, ValueError)


def test_g05_another_version_of_the_same_encoder_is_another(tmp_path: Path) -> None:
    with MemoryStore.open(tmp_path / "s.memlab", encoder=Given(lambda text: (1, 0))) as store:  # type: ignore[arg-type]
        store.add("tea")
    with pytest.raises(EncoderMismatch):
        MemoryStore.open(tmp_path / "s.memlab", encoder=Second(lambda text: (1, 0)))  # type: ignore[arg-type]


def test_g05_the_file_decides_where_nothing_is_said(path: Path) -> None:
    with MemoryStore.open(path) as store:
        assert store.encoder is not None and store.encoder.name == "hash-32"
        assert store.recall("tea at four", k=1, method="dense")[0].memory.content == "tea at four"


def test_without_an_encoder_the_dense_channel_is_refused_in_words_and_the_words_are_found(path: Path) -> None:
    with MemoryStore.open(path, encoder=None) as store:
        assert len(found(store, "tea", method="lexical")) == 1
        answer = store.recall("tea", method="hybrid")
        assert any("no encoder" in note for note in answer.notes)
        with pytest.raises(EncoderMismatch, match="encoder"):
            store.recall("tea", method="dense")
        made = store.add("cake at six")
    with MemoryStore.open(path) as store:  # what came meanwhile is encoded when needed
        assert found(store, "cake at six", k=1, method="dense") == [made] and store.check().ok


@pytest.mark.parametrize("width", [1, 3, 5])
def test_g04_g06_rows_of_another_width_are_refused_and_nothing_is_padded(width: int) -> None:
    rows = {"good": (1, 0, 0, 0)}
    store = MemoryStore(encoder=Given(lambda text: rows.get(text, (1,) * width), dimension=4))  # type: ignore[arg-type]
    store.add("good")
    before = state(store)
    with pytest.raises(EncoderMismatch, match="never pads or cuts"):
        store.add("bad")
    with pytest.raises(EncoderMismatch, match="never pads or cuts"):
        store.recall("bad", method="dense")
    assert state(store) == before and store.check().ok


def test_reencode_is_the_way_and_a_failing_one_changes_nothing(path: Path) -> None:
    with MemoryStore.open(path) as store:
        before = store.embeddings()
        with pytest.raises(ValueError):
            store.reencode(Given(lambda text: (float("nan"), 1)), progress=False)  # type: ignore[arg-type]
        assert store.embeddings().equals(before) and store.check().ok
        store.reencode(HashEncoder(dimension=64), progress=False)
        assert store.embeddings().shape == (2, 64)
    with MemoryStore.open(path) as store:
        assert store.encoder is not None and store.encoder.name == "hash-64"
    with pytest.raises(EncoderMismatch):
        MemoryStore.open(path, encoder=HashEncoder(dimension=32))
