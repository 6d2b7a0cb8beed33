"""Names, paths and specs become encoders; nothing is loaded for it."""

import json
from pathlib import Path

import pytest

from memlab.encoder_choice import default_encoder, encoder_from, resolve_encoder
from memlab.encoders import HashEncoder, spec_of
from memlab.errors import EncoderError
from memlab.sentence_encoder import SentenceTransformerEncoder


@pytest.mark.parametrize(
    "encoder",
    [
        HashEncoder(12),
        SentenceTransformerEncoder(),
        SentenceTransformerEncoder(
            "intfloat/e5-small-v2", query_prompt="q", passage_prompt="", precision="bfloat16", max_tokens=99
        ),
    ],
)
def test_an_encoder_is_made_again_from_its_spec(encoder):
    again = encoder_from(json.loads(json.dumps(spec_of(encoder))))
    assert type(again) is type(encoder)
    assert spec_of(again) == spec_of(encoder)
    assert again.name == encoder.name


def test_the_default_is_minilm():
    assert default_encoder().name == "all-MiniLM-L6-v2"
    assert default_encoder().spec == SentenceTransformerEncoder("sentence-transformers/all-MiniLM-L6-v2").spec


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"kind": "own", "name": "letters"}, "'letters' is not one of memlab's"),
        ({"kind": "abacus"}, "no kind that this memlab knows"),
        ({}, "no kind that this memlab knows"),
        ({"kind": "hash", "dimension": 8, "seed": 1}, "can't be read.*seed"),
        ({"kind": "sentence-transformers"}, "can't be read.*name"),
        ({"kind": "sentence-transformers", "name": "a", "normalise": False}, "no kind"),
    ],
)
def test_a_spec_that_cant_be_followed_is_refused(spec, message):
    with pytest.raises(EncoderError, match=message):
        encoder_from(spec)


def test_what_users_give_is_resolved(tmp_path):
    own = HashEncoder(4)
    assert resolve_encoder(own) is own
    assert resolve_encoder("hash").dimension == 384
    assert resolve_encoder("hash-16").dimension == 16
    assert resolve_encoder({"kind": "hash", "dimension": 3}).dimension == 3
    assert resolve_encoder("owner/model").name == "owner/model"
    assert resolve_encoder(tmp_path).name == tmp_path.name
    for wrong in (None, 3, HashEncoder):
        with pytest.raises(EncoderError):
            resolve_encoder(wrong)


def test_a_folders_spec_holds_in_another_working_directory(tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    for given in ("mine", "./mine", Path("mine")):
        assert SentenceTransformerEncoder(given).spec["name"] == str(tmp_path.resolve() / "mine")
