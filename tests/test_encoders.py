"""What an encoder is, and the hashing one."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_encoders import hash_row

from memlab.encoders import (
    Encoder,
    HashEncoder,
    check_encoder,
    encode_checked,
    spec_of,
    store_fingerprint,
)
from memlab.errors import EncoderError, EncoderMismatch


class OwnEncoder:
    """What a user may write: four members, no more."""

    name = "letters"
    dimension = 2
    fingerprint = "letters-1"

    def encode(self, texts, kind="passage", progress=False):
        return [[text.count("a"), text.count("b")] for text in texts]


class LazyEncoder(OwnEncoder):
    @property
    def dimension(self):
        raise AssertionError("the dimension was read")

    @property
    def spec(self):
        return {"kind": "lazy"}


def test_a_class_with_four_members_is_an_encoder():
    encoder = OwnEncoder()
    check_encoder(encoder)
    assert isinstance(encoder, Encoder)
    assert isinstance(HashEncoder(), Encoder)
    np.testing.assert_allclose(encode_checked(encoder, ["aaab", "c"])[0], [3 / 10**0.5, 1 / 10**0.5], rtol=1e-6)


def test_checking_an_encoder_reads_none_of_its_properties():
    check_encoder(LazyEncoder())


def test_what_is_no_encoder_is_refused_by_what_it_lacks():
    with pytest.raises(EncoderError, match="str is no encoder: it has no name, dimension, fingerprint"):
        check_encoder("all-MiniLM-L6-v2")
    with pytest.raises(EncoderError, match="HashEncoder is a class"):
        check_encoder(HashEncoder)


def test_no_texts_give_no_rows_and_dont_call_the_encoder():
    class Silent(OwnEncoder):
        def encode(self, texts, kind="passage", progress=False):
            raise AssertionError("called")

    found = encode_checked(Silent(), [])
    assert found.shape == (0, 2)
    assert found.dtype == np.float32


def test_vectors_of_another_size_than_the_encoder_says_are_refused():
    class Liar(OwnEncoder):
        dimension = 3

    with pytest.raises(EncoderMismatch, match="rows of 2 numbers where 3 were expected"):
        encode_checked(Liar(), ["a"])


def test_kind_and_progress_reach_the_encoder():
    seen = []

    class Recorder(OwnEncoder):
        def encode(self, texts, kind="passage", progress=False):
            seen.append((kind, progress))
            return np.ones((len(texts), 2))

    encode_checked(Recorder(), ["a"], "query", True)
    assert seen == [("query", True)]


@pytest.mark.parametrize(
    ("texts", "kind", "message"),
    [
        ("one string", "passage", "put it in a list"),
        (["a", None], "passage", "text 1 is of type NoneType"),
        ([b"a"], "query", "text 0 is of type bytes"),
        (["a"], "document", 'is "passage" or "query", not \'document\''),
    ],
)
def test_texts_that_no_encoder_can_encode_are_refused(texts, kind, message):
    with pytest.raises(EncoderError, match=message):
        encode_checked(OwnEncoder(), texts, kind)
    with pytest.raises(EncoderError, match=message):
        HashEncoder().encode(texts, kind)


def test_an_own_encoder_has_a_spec_that_only_names_it():
    assert spec_of(OwnEncoder()) == {"kind": "own", "name": "letters"}
    assert spec_of(LazyEncoder()) == {"kind": "lazy"}
    assert json.loads(json.dumps(spec_of(HashEncoder(np.int64(8))))) == {"kind": "hash", "dimension": 8}


def test_the_store_fingerprint_covers_encoder_and_template():
    found = {store_fingerprint(HashEncoder(d), t) for d in (8, 16) for t in ("content", "role: content")}
    assert len(found) == 4
    assert store_fingerprint(HashEncoder(8), "content") == store_fingerprint(HashEncoder(8), "content")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), max_size=5), st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_hash_rows_are_those_of_the_plain_twin(texts, dimension):
    found = HashEncoder(dimension).encode(texts)
    expected = np.array([hash_row(text, dimension) for text in texts], dtype=np.float32)
    np.testing.assert_allclose(found, expected.reshape(len(texts), dimension), atol=1e-7)


def test_hash_rows_are_the_same_in_every_process():
    script = (
        "from memlab.encoders import HashEncoder\n"
        "rows = HashEncoder(16).encode(['Ana moved to Oslo.', '猫が好き'])\n"
        "print(rows.tobytes().hex())"
    )
    rows = HashEncoder(16).encode(["Ana moved to Oslo.", "猫が好き"])
    for seed in ("1", "2"):
        found = subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        )
        assert found.stdout.strip() == rows.tobytes().hex()


def test_a_text_without_tokens_has_a_zero_row_and_others_have_length_one():
    rows = HashEncoder().encode(["!!!", "", "fox"])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [0, 0, 1], atol=1e-6)


def test_texts_that_share_words_or_stems_are_nearer():
    same, stem, other = HashEncoder().encode(["the boats sailed", "a boat sails", "tax law"])
    assert same @ stem > same @ other + 0.2


def test_hashing_forgets_old_tokens_and_still_gives_the_same_rows(monkeypatch):
    texts = [f"word{n}" for n in range(50)]
    expected = HashEncoder().encode(texts)
    monkeypatch.setattr("memlab.encoders._REMEMBERED", 10)
    encoder = HashEncoder()
    np.testing.assert_array_equal(encoder.encode(texts), expected)
    assert len(encoder._features) <= 10


@pytest.mark.parametrize("dimension", [0, -3, 1.5, "8", True, None])
def test_a_dimension_that_is_no_count_is_refused(dimension):
    with pytest.raises(EncoderError, match="whole number of at least 1"):
        HashEncoder(dimension)


def test_encoders_load_no_model_library():
    script = (
        "import sys, memlab.encoders, memlab.encoder_choice\n"
        "encoder = memlab.encoder_choice.default_encoder()\n"
        "repr(encoder), encoder.spec\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'tokenizers', 'huggingface_hub', 'tqdm'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
