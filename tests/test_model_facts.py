"""What a model's files say, read from files written for the test."""

import json

import pytest

from memlab.errors import ModelUnavailable
from memlab.model_facts import check_no_code, dimension_in, limit_in, lower_cases, prompts_for, vector_files
from memlab.model_files import ModelFolder

ST = "sentence_transformers.models."


def write(folder, **files):
    """Write JSON files; a double underscore stands for a folder."""
    for name, content in files.items():
        path = folder / (name.replace("__", "/") + ".json")
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))
    return folder


def modules(*parts):
    return [{"idx": i, "name": str(i), "path": path, "type": ST + kind} for i, (kind, path) in enumerate(parts)]


PLAIN = modules(("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize"))


@pytest.mark.parametrize(
    ("pooling", "width"),
    [
        ({"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True}, 384),
        ({"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, 16),
        ({"embedding_dimension": 384, "pooling_mode": "mean"}, 384),
        ({"embedding_dimension": 8, "pooling_mode": ["mean", "max", "cls"]}, 24),
        ({"pooling_mode": "mean"}, None),
    ],
)
def test_the_dimension_is_that_of_the_pooling(tmp_path, pooling, width):
    write(tmp_path, modules=PLAIN, **{"1_Pooling__config": pooling})
    assert dimension_in(tmp_path) == width


def test_a_dense_layer_has_the_last_word_on_the_dimension(tmp_path):
    parts = modules(("Transformer", ""), ("Pooling", "1_Pooling"), ("Dense", "2_Dense"))
    pooling, dense = {"embedding_dimension": 384}, {"in_features": 384, "out_features": 64}
    write(tmp_path, modules=parts, **{"1_Pooling__config": pooling, "2_Dense__config": dense})
    assert dimension_in(tmp_path) == 64


def test_a_part_that_says_nothing_leaves_the_dimension_open(tmp_path):
    assert dimension_in(tmp_path) is None
    write(tmp_path, modules=modules(("StaticEmbedding", "0_StaticEmbedding")))
    assert dimension_in(tmp_path) is None


@pytest.mark.parametrize(
    ("files", "limits"),
    [
        ({"sentence_bert_config": {"max_seq_length": 256}, "config": {"max_position_embeddings": 512}}, (256, 512)),
        ({"tokenizer_config": {"model_max_length": 128}, "config": {"max_position_embeddings": 512}}, (128, 512)),
        ({"tokenizer_config": {"model_max_length": 1e30}, "config": {"max_position_embeddings": 512}}, (512, 512)),
        ({"config": {"max_position_embeddings": -1}}, (None, None)),
        ({}, (None, None)),
    ],
)
def test_the_limit_is_the_models_own_or_its_tokenizers(tmp_path, files, limits):
    assert limit_in(write(tmp_path, **files)) == limits


def test_lower_case_is_told(tmp_path):
    assert not lower_cases(tmp_path)
    assert lower_cases(write(tmp_path, sentence_bert_config={"do_lower_case": True}))


@pytest.mark.parametrize(
    ("own", "prompts"),
    [
        ({"query": "ask: ", "passage": "tell: "}, ("ask: ", "tell: ")),
        ({"query": "ask: ", "document": "doc: ", "passage": "tell: "}, ("ask: ", "doc: ")),
        ({"query": "", "document": "", "corpus": "all: "}, ("", "all: ")),
        ({"query": "ask: "}, ("ask: ", "")),
    ],
)
def test_a_models_own_prompts_come_before_those_of_its_family(tmp_path, own, prompts):
    write(tmp_path, config_sentence_transformers={"prompts": own})
    assert prompts_for(tmp_path, "intfloat/e5-small-v2") == prompts


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("intfloat/e5-small-v2", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("BAAI/bge-base-en", "Represent this sentence for searching relevant passages: ", ""),
        ("BAAI/bge-large-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
        ("BAAI/bge-m3", "", ""),
        ("intfloat/multilingual-e5-large-instruct", "", ""),
        ("intfloat/e5-mistral-7b-instruct", "", ""),
        ("all-MiniLM-L6-v2", "", ""),
        ("sentence-t5-base", "", ""),
        ("the5-model", "", ""),
    ],
)
def test_known_families_have_their_prompts_where_the_files_have_none(tmp_path, name, query, passage):
    assert prompts_for(tmp_path, name) == (query, passage)
    # sentence-transformers writes blank prompts into each model that it saves.
    write(tmp_path, config_sentence_transformers={"prompts": {"query": "", "document": ""}})
    assert prompts_for(tmp_path, name) == (query, passage)


def test_code_from_outside_sentence_transformers_is_refused(tmp_path):
    write(tmp_path, modules=PLAIN)
    check_no_code(tmp_path)
    write(tmp_path, modules=[*PLAIN, {"path": "", "type": "custom_st.Model"}])
    with pytest.raises(ModelUnavailable, match=r"custom_st\.Model"):
        check_no_code(tmp_path)
    write(tmp_path, modules=PLAIN, router_config={"types": {"q": "evil.Module"}})
    with pytest.raises(ModelUnavailable, match=r"evil\.Module"):
        check_no_code(tmp_path)


def test_modules_that_are_no_list_are_refused(tmp_path):
    with pytest.raises(ModelUnavailable, match="no list of modules"):
        dimension_in(write(tmp_path, modules={"a": 1}))


def test_only_what_the_vectors_depend_on_is_digested(tmp_path):
    matter = ["config.json", "modules.json", "tokenizer.json", "model.safetensors", "1_Pooling/config.json"]
    rest = [
        "README.md", "pytorch_model.bin", "vocab.txt", "onnx/config.json", "onnx/model.onnx", ".cache/config.json",
        "eval.json", "config_sentence_transformers.json", "training_args.bin",
    ]  # fmt: skip
    for name in matter + rest:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    found = vector_files(ModelFolder(tmp_path, "folder"))
    assert list(found) == sorted(matter)
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / "tokenizer.json").unlink()
    assert {"pytorch_model.bin", "vocab.txt"} < set(vector_files(ModelFolder(tmp_path, "folder")))
