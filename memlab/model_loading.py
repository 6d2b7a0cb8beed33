"""From a folder of checked files to a model in memory.

This is the one file that imports torch and sentence-transformers.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memlab.errors import EncoderError, EncoderMismatch, ModelUnavailable
from memlab.model_facts import dimension_in, lower_cases

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["load_model", "load_tokenizer", "tokenizer_of", "width_of"]


def load_model(folder: Path, device: str | None, precision: str, limit: int | None) -> Any:
    """Load a model, without any code from its folder and without a word on the screen.

    Parameters
    ----------
    folder : Path
        The model's files.
    device : str or None
        Where torch computes; None for the best there is.
    precision : str
        Name of a torch dtype, such as ``"float32"``.
    limit : int or None
        The most tokens of a text; None leaves it to the model.

    Returns
    -------
    SentenceTransformer
        Ready to encode from several threads.

    Raises
    ------
    ModelUnavailable
        When the files don't make a model.
    EncoderMismatch
        When its rows have another width than the files say.
    EncoderError
        When a limit is given for a model that has none.
    """
    import torch
    from sentence_transformers import SentenceTransformer

    with _quiet():
        try:
            model = SentenceTransformer(
                str(folder),
                device=device,
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"torch_dtype": getattr(torch, precision)},
            )
        except (OSError, ValueError, ImportError, KeyError) as error:
            raise ModelUnavailable(f"the model in {folder} can't be loaded: {error}") from error
    if limit is not None:
        if getattr(model, "max_seq_length", None) == math.inf:
            raise EncoderError(f"the model in {folder} takes texts of any length: leave max_tokens={limit} out")
        model.max_seq_length = limit
    # The first call sets the tokenizer's padding; later ones only read it, which threads may do at once.
    width, told = width_of(model), dimension_in(folder)
    if told not in (None, width):
        raise EncoderMismatch(
            f"the model in {folder} gives rows of {width} numbers, its files say {told}: get the model again"
        )
    return model


def width_of(model: Any) -> int:
    """Encode one letter to see how wide a row is.

    Parameters
    ----------
    model : SentenceTransformer
        The loaded model.

    Returns
    -------
    int
        Numbers in a row.
    """
    return int(model.encode(["a"], show_progress_bar=False).shape[1])


def load_tokenizer(folder: Path) -> "Tokenizer | None":
    """Load a model's tokenizer alone, which takes milliseconds.

    Parameters
    ----------
    folder : Path
        The model's files.

    Returns
    -------
    Tokenizer or None
        Without truncation and padding; None when only the loaded model has it as it is used.
    """
    from tokenizers import Tokenizer

    file = folder / "tokenizer.json"
    if not file.is_file() or lower_cases(folder):
        return None
    return _bare(Tokenizer.from_file(str(file)))


def tokenizer_of(model: Any) -> "Tokenizer | None":
    """Copy a loaded model's tokenizer, so that nothing set on the copy touches the model.

    Parameters
    ----------
    model : SentenceTransformer
        The loaded model.

    Returns
    -------
    Tokenizer or None
        Without truncation and padding; None when it isn't one that tells where its tokens stand.
    """
    from tokenizers import Tokenizer

    found = model.tokenizer
    fast = getattr(found, "backend_tokenizer", found)
    return _bare(Tokenizer.from_str(fast.to_str())) if isinstance(fast, Tokenizer) else None


def _bare(tokenizer: "Tokenizer") -> "Tokenizer":
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the bars and reports of loading from the screen, and put the settings back."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars
    from transformers.utils import logging

    report: Any = logging  # untyped functions
    verbosity, bars, hub_off = report.get_verbosity(), report.is_progress_bar_enabled(), are_progress_bars_disabled()
    report.set_verbosity_error()
    report.disable_progress_bar()
    try:
        yield
    finally:
        report.set_verbosity(verbosity)
        if bars:
            report.enable_progress_bar()
        (disable_progress_bars if hub_off else enable_progress_bars)()
