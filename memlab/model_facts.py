"""What a model's files say about it, read without loading the model.

The embedding's dimension, the most tokens it takes, its prompts, and the digests of the files that
its vectors depend on. Where the files leave something open the answer is None, and the loaded model
has to say it.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from memlab.errors import ModelUnavailable
from memlab.fingerprints import file_digest
from memlab.model_files import PINNED, ModelFolder, read_json

__all__ = ["FAMILY_PROMPTS", "check_no_code", "dimension_in", "limit_in", "lower_cases", "prompts_for", "vector_files"]

FAMILY_PROMPTS: Final = (
    (r"(^|[-_])e5(?!.*(instruct|mistral))([-_]|$)", "query: ", "passage: "),
    (r"^bge-(small|base|large)-en(-v1\.5)?$", "Represent this sentence for searching relevant passages: ", ""),
    (r"^bge-(small|base|large)-zh(-v1\.5)?$", "为这个句子生成表示以用于检索相关文章：", ""),
)
"""Pattern of a model's own name (without its owner, any case), its query prompt, its passage prompt.

For families whose model cards ask for prompts that many copies of the models don't carry.
"""

_CONFIGS: Final = {
    "config.json",
    "modules.json",
    "router_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "adapter_config.json",
    "model.safetensors.index.json",
    "wordembedding_config.json",
    "whitespacetokenizer_config.json",
    "phrasetokenizer_config.json",
}
_VOCABULARIES: Final = {"vocab.txt", "vocab.json", "merges.txt"}  # read only where tokenizer.json is missing
_OTHER: Final = {"onnx", "openvino", "training_args.bin"}  # for other runtimes, and for training
_UNLIMITED: Final = 1_000_000  # tokenizers write an absurd number for "no limit"


def check_no_code(folder: Path) -> None:
    """Refuse a model that needs code from its own folder, or of a third party.

    Parameters
    ----------
    folder : Path
        The model's folder.

    Raises
    ------
    ModelUnavailable
        When a module of it isn't one of sentence-transformers.
    """
    types = [str(module.get("type")) for module in _modules(folder)]
    for config in folder.glob("**/router_config.json"):
        types += [str(kind) for kind in read_json(config).get("types", {}).values()]
    for kind in types:
        if not kind.startswith("sentence_transformers."):
            raise ModelUnavailable(
                f"the model in {folder} is made of {kind}, code from outside sentence-transformers: memlab runs "
                "no such code; load the model yourself and give an encoder of your own"
            )


def _modules(folder: Path) -> list[dict[str, Any]]:
    """The parts that the model is made of, in order; none for a bare transformer."""
    found = read_json(folder / "modules.json")
    if found and not (isinstance(found, list) and all(isinstance(module, dict) for module in found)):
        raise ModelUnavailable(f"{folder / 'modules.json'} holds no list of modules: get the model again")
    return list(found)


def dimension_in(folder: Path) -> int | None:
    """Read the embedding's dimension from a model's configuration.

    Parameters
    ----------
    folder : Path
        The model's folder.

    Returns
    -------
    int or None
        The width that the last of pooling, dense and layers of their kind leaves; None where a
        part says nothing about it.
    """
    width: int | None = None
    for module in _modules(folder):
        kind = str(module.get("type")).rpartition(".")[2]
        config = read_json(folder / str(module.get("path", "")) / "config.json")
        if kind == "Pooling":
            width = _pooled(config)
        elif kind == "Dense":
            width = config.get("out_features")
        elif kind not in ("Transformer", "Normalize", "Dropout", "LayerNorm"):
            return None
    return width


def _pooled(config: dict[str, Any]) -> int | None:
    """Width that a pooling gives: that of a token, once for each way of pooling."""
    token = config.get("embedding_dimension", config.get("word_embedding_dimension"))
    ways = config.get("pooling_mode")
    if ways is None:
        count = sum(bool(on) for key, on in config.items() if key.startswith("pooling_mode_"))
    else:
        count = 1 if isinstance(ways, str) else len(ways)
    return token * max(count, 1) if isinstance(token, int) else None


def limit_in(folder: Path) -> tuple[int | None, int | None]:
    """Read how many tokens a model takes, special tokens counted.

    Parameters
    ----------
    folder : Path
        The model's folder.

    Returns
    -------
    usual : int or None
        What the model cuts at unless told otherwise; None where the files don't say.
    most : int or None
        What it can be told to take: its number of positions; None where there is no such bound.
    """
    positions = read_json(folder / "config.json").get("max_position_embeddings")
    most = positions if isinstance(positions, int) and positions > 0 else None
    for config in sorted(folder.glob("sentence_*_config.json")):
        usual = read_json(config).get("max_seq_length")
        if isinstance(usual, int):
            return usual, most
    length = read_json(folder / "tokenizer_config.json").get("model_max_length")
    known = [n for n in (length, most) if isinstance(n, (int, float)) and 0 < n < _UNLIMITED]
    return (int(min(known)) if known else None), most


def lower_cases(folder: Path) -> bool:
    """Say whether a model lowers the case of its texts beside what its tokenizer does.

    Parameters
    ----------
    folder : Path
        The model's folder.

    Returns
    -------
    bool
        Whether its configuration says ``do_lower_case``.
    """
    return any(read_json(config).get("do_lower_case") is True for config in folder.glob("sentence_*_config.json"))


def prompts_for(folder: Path, name: str) -> tuple[str, str]:
    """Find the prompts that a model wants before its texts.

    Parameters
    ----------
    folder : Path
        The model's folder.
    name : str
        The model's name, or its folder's.

    Returns
    -------
    query : str
        What goes before a question: the prompt ``query`` of ``config_sentence_transformers.json``.
    passage : str
        What goes before a memory: the first of its prompts ``document``, ``passage``, ``corpus``.

    Notes
    -----
    Blank prompts say nothing, because sentence-transformers writes them into each model that it
    saves. A model that has only blank ones, or none, gets those of its family (`FAMILY_PROMPTS`).
    """
    own = read_json(folder / "config_sentence_transformers.json").get("prompts") or {}
    query = own.get("query") or ""
    passage = next((own[key] for key in ("document", "passage", "corpus") if own.get(key)), "")
    if query or passage:
        return query, passage
    bare = name.rpartition("/")[2].lower()
    for pattern, family_query, family_passage in FAMILY_PROMPTS:
        if re.search(pattern, bare):
            return family_query, family_passage
    return "", ""


def vector_files(model: ModelFolder) -> dict[str, str]:
    """Digest the files that a model's vectors depend on.

    Weights, modules, and tokenizer, by exact names, so that a README, a second copy of the weights for
    another runtime or the results of an evaluation make no difference. The prompts aren't among
    them: which ones are used is the encoder's choice.

    Parameters
    ----------
    model : ModelFolder
        The model. For the pinned one the digests are known, and no file is read.

    Returns
    -------
    dict of str to str
        SHA-256 by relative name, in order of the names.
    """
    if model.pinned:
        return {name: PINNED[name] for name in sorted(_matter(PINNED))}
    names = (path.relative_to(model.path).as_posix() for path in model.path.glob("**/*") if path.is_file())
    return {name: file_digest(model.path / name) for name in sorted(_matter(names))}


def _matter(names: Iterable[str]) -> set[str]:
    """Of a model's files those that its vectors depend on."""
    paths = [Path(name) for name in names]
    paths = [p for p in paths if not any(part[0] == "." or part in _OTHER for part in p.parts)]
    tokenized = {p.parent for p in paths if p.name == "tokenizer.json"}
    safe = {p.parent for p in paths if p.suffix == ".safetensors"}
    chosen = set()
    for path in paths:
        vocabulary = path.name in _VOCABULARIES or path.suffix == ".model"
        sentence_config = path.name.startswith("sentence_") and path.name.endswith("_config.json")
        if (
            path.name in _CONFIGS
            or sentence_config
            or path.suffix == ".safetensors"
            or (path.suffix == ".bin" and path.parent not in safe)
            or (vocabulary and path.parent not in tokenized)
        ):
            chosen.add(path.as_posix())
    return chosen
