"""The encoder that knows meaning: any sentence-transformers model.

Nothing heavy happens before it is needed. Making an encoder touches no file; its dimension, limit,
prompts and fingerprint are read from the model's files; windows need the tokenizer alone; torch is
imported and the model loaded by the first `encode`.
"""

import os
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from memlab.encoders import Kind, check_texts
from memlab.errors import EncoderError, ModelUnavailable
from memlab.fingerprints import digest
from memlab.model_facts import check_no_code, dimension_in, limit_in, prompts_for, vector_files
from memlab.model_files import DEFAULT_MODEL, ModelFolder, check_pinned, find_here, find_model, is_default
from memlab.model_loading import load_model, load_tokenizer, tokenizer_of, width_of
from memlab.unit_rows import unit_rows
from memlab.windows import Measure, token_windows

__all__ = ["SentenceTransformerEncoder"]

Precision = Literal["float32", "bfloat16", "float16"]

_PRECISIONS: Final = ("float32", "bfloat16", "float16")
_CHUNK: Final = 8  # batches between two steps of the progress bar
_SPECIAL: Final = 8  # more special tokens than any model puts round a text
_FEWEST: Final = 8  # tokens that a window needs for text, or it would be all prompt


class SentenceTransformerEncoder:
    """Encode with a sentence-transformers model.

    Parameters
    ----------
    name : str or path, default "all-MiniLM-L6-v2"
        A model's name, or the folder of one. The default comes from the package that
        ``memlab[offline]`` installs, with every file checked against its pinned digest; without it, and for
        any other name, the model hub is asked (see `memlab.model_files`).
    query_prompt, passage_prompt : str, optional
        What goes before a question and before a memory. Unless given, the model's own prompts are
        used, else those of its family (e5, bge), else none; give ``""`` for none at all.
    device : str, optional
        Where torch computes, such as ``"cpu"`` or ``"cuda"``; by default the best there is.
    precision : {"float32", "bfloat16", "float16"}, default "float32"
        Numbers that the model computes in. Rows are float32 in any case.
    batch_size : int, default 32
        Texts encoded at a time.
    max_tokens : int, optional
        The most tokens of a text, special tokens and prompt counted; by default what the model says.

    Raises
    ------
    EncoderError
        When an argument makes no sense. The files aren't looked for yet.

    Notes
    -----
    Code beside a model's files is never run. An encoder may be used from several threads.

    Examples
    --------
    >>> encoder = SentenceTransformerEncoder("all-MiniLM-L6-v2", max_tokens=128)
    >>> encoder.spec["name"], encoder.spec["max_tokens"]
    ('all-MiniLM-L6-v2', 128)
    """

    def __init__(
        self,
        name: str | os.PathLike[str] = DEFAULT_MODEL,
        *,
        query_prompt: str | None = None,
        passage_prompt: str | None = None,
        device: str | None = None,
        precision: Precision = "float32",
        batch_size: int = 32,
        max_tokens: int | None = None,
    ) -> None:
        if not isinstance(name, (str, os.PathLike)) or not str(name).strip():
            raise EncoderError(f"a model is named by a string or a path, not {name!r}")
        if precision not in _PRECISIONS:
            raise EncoderError(f"precision is one of {', '.join(_PRECISIONS)}, not {precision!r}")
        if batch_size < 1:
            raise EncoderError(f"batch_size is at least 1, not {batch_size}")
        if max_tokens is not None and max_tokens < 1:
            raise EncoderError(f"max_tokens is at least 1, not {max_tokens}")
        self._given = DEFAULT_MODEL if is_default(name) else name
        self._prompts_given = (query_prompt, passage_prompt)
        self._device, self._precision, self._batch_size = device, precision, batch_size
        self._max_tokens = max_tokens
        self._model: Any = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        try:
            folder = self.__dict__.get("_folder") or find_here(self._given)
            told = self.__dict__.get("dimension") or (dimension_in(folder.path) if folder else None)
            where = (
                f"dimension {told or 'not known before loading'}, from {folder.origin}"
                if folder
                else "on the model hub"
            )
        except ModelUnavailable as error:
            where = f"unavailable: {error}"
        return f"<SentenceTransformerEncoder {self.name!r}, {where}>"

    @property
    def name(self) -> str:
        """The model's name, or that of its folder."""
        if isinstance(self._given, str) and not self._given.startswith((".", "~", os.sep)):
            return self._given
        return Path(self._given).expanduser().resolve().name

    @property
    def spec(self) -> dict[str, Any]:
        """What is needed to make this encoder again, except where and how fast it runs."""
        return {
            "kind": "sentence-transformers",
            "name": self._lasting_name(),
            "normalise": True,
            "query_prompt": self._prompts_given[0],
            "passage_prompt": self._prompts_given[1],
            "precision": self._precision,
            "max_tokens": self._max_tokens,
        }

    def _lasting_name(self) -> str:
        """The name; a folder's as a whole path, so that it holds in another working directory."""
        folder = Path(self._given).expanduser()
        is_folder = folder.is_dir() and not is_default(self._given)
        return str(folder.resolve()) if is_folder or not isinstance(self._given, str) else self._given

    @cached_property
    def _folder(self) -> ModelFolder:
        return find_model(self._given)

    @cached_property
    def _checked_path(self) -> Path:
        """The model's folder, once its files may be loaded."""
        if self._folder.pinned:
            check_pinned(self._folder.path)
        check_no_code(self._folder.path)
        return self._folder.path

    @cached_property
    def prompts(self) -> dict[str, str]:
        """The prompt before each kind of text, "" for none; looks for the model's files."""
        query, passage = self._prompts_given
        own_query, own_passage = prompts_for(self._folder.path, self.name)
        return {
            "query": own_query if query is None else query,
            "passage": own_passage if passage is None else passage,
        }

    @cached_property
    def dimension(self) -> int:
        """Numbers in a row; looks for the model's files, and loads it only where they don't tell."""
        told = dimension_in(self._folder.path)
        return told if told is not None else width_of(self._loaded())

    @cached_property
    def fingerprint(self) -> str:
        """Digest of all that the rows depend on.

        The digests of weights, modules and tokenizer, prompts, length, normalisation and precision. The
        model's name isn't in it: the same files give the same rows wherever they are.
        """
        files = [f"{name} {found}" for name, found in vector_files(self._folder).items()]
        length = self._files_limit
        choices = [self.prompts["query"], self.prompts["passage"], str(length), "normalised", self._precision]
        return digest("sentence-transformers", *choices, *files)

    @cached_property
    def _files_limit(self) -> int | None:
        """The most tokens, as chosen or as the files say; None where they don't."""
        usual, most = limit_in(self._folder.path)
        if self._max_tokens is not None and most is not None and self._max_tokens > most:
            raise EncoderError(f"max_tokens is {self._max_tokens}, but the model {self.name!r} takes at most {most}")
        return self._max_tokens if self._max_tokens is not None else usual

    @cached_property
    def _limit(self) -> int | None:
        """The most tokens; None for a model without a limit."""
        if self._files_limit is not None:
            return self._files_limit
        told = self._loaded().max_seq_length
        return int(told) if told is not None and told < 1_000_000 else None

    def encode(self, texts: Sequence[str], kind: Kind = "passage", progress: bool = False) -> npt.NDArray[np.float32]:
        """Encode texts; the first call loads the model.

        Parameters
        ----------
        texts : sequence of str
            What to encode. Of a text above the limit the rest is left out: encode its `windows`.
        kind : {"passage", "query"}, default "passage"
            Which prompt goes before each text.
        progress : bool, default False
            Whether to show a progress bar when it takes more than a second.

        Returns
        -------
        ndarray of float32, shape (len(texts), dimension)
            Rows of length one, in the order of the texts.

        Raises
        ------
        ModelUnavailable
            When the model can't be found or loaded, or its files aren't the pinned ones.
        EncoderError
            When a text is no string, or the model gives numbers that aren't finite.
        """
        from tqdm.auto import tqdm

        check_texts(texts, kind)
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        # Texts of like length go together, longest first, so that little of a batch is padding.
        order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        step = self._batch_size * _CHUNK
        wait = 1 if self._model is not None else 0  # loading takes seconds, so the bar is there at once
        with tqdm(total=len(texts), desc=self.name, unit=" texts", delay=wait, disable=not (progress and texts)) as bar:
            model = self._loaded() if texts else None
            for start in range(0, len(order), step):
                places = order[start : start + step]
                rows[places] = self._run(model, [texts[place] for place in places], kind)
                bar.update(len(places))
        return rows

    def windows(self, text: str) -> list[tuple[int, int]]:
        """Cut a text into overlapping pieces that the model takes whole.

        Counted in the model's own tokens, with room for special tokens and for the longer of the two
        prompts. An eighth of the room overlaps. A window also has at most twelve characters for each token,
        because a tokenizer may take a run of letters of any length for one unknown token. Needs the
        tokenizer only; short plain texts don't even need that.

        Parameters
        ----------
        text : str
            The text as it will be encoded, without prompt.

        Returns
        -------
        list of (int, int)
            Spans ``text[start:end]`` in order that cover the text, none empty; one for a text that fits,
            and for a model without a limit.

        Raises
        ------
        ModelUnavailable
            When the model can't be found, or its files aren't the pinned ones.
        EncoderError
            When the prompt leaves no room for text.
        """
        limit = self._limit
        prompts = self.prompts.values()
        # A token is one ASCII character at least; other characters can be several tokens each.
        plain = text.isascii() and all(prompt.isascii() for prompt in prompts)
        if limit is None or (plain and len(text) + max(map(len, prompts)) + _SPECIAL <= limit):
            return [(0, len(text))]
        tokenizer = self._tokenizer

        def count(piece: str) -> int:
            return len(tokenizer.encode(piece, add_special_tokens=False)) if tokenizer else len(piece)

        if tokenizer is None:  # then a character counts as a token, which is never too few
            starts, special = list(range(len(text))), _SPECIAL
        else:
            starts = sorted(start for start, _ in tokenizer.encode(text, add_special_tokens=False).offsets)
            special = tokenizer.num_special_tokens_to_add(False)
        prompt = max(prompts, key=count)
        taken = count(prompt)
        room = limit - special - taken
        if room < _FEWEST:
            raise EncoderError(
                f"the model {self.name!r} takes {limit} tokens, and its prompt {prompt!r} leaves {room} for text: "
                "use a shorter prompt or a larger max_tokens"
            )
        return token_windows(text, starts, lambda piece: count(prompt + piece) - taken, Measure.of(room))

    def _run(self, model: Any, texts: list[str], kind: Kind) -> npt.NDArray[np.float32]:
        """Let the model encode some texts."""
        inputs: list[Any] = list(texts)
        if tuple(getattr(model, "modalities", ("text",))) != ("text",):
            # A model for pictures too would take a memory that is nothing but a link for the picture there.
            inputs = [{"text": text} for text in texts]
        run = model.encode_query if kind == "query" else model.encode_document
        given = run(inputs, prompt=self.prompts[kind], batch_size=self._batch_size, show_progress_bar=False)
        return unit_rows(given, len(texts), self.dimension, self.name)

    def _loaded(self) -> Any:
        """The model, loaded once, whichever thread asks first."""
        with self._lock:
            if self._model is None:
                self._model = load_model(self._checked_path, self._device, self._precision, self._files_limit)
            return self._model

    @cached_property
    def _tokenizer(self) -> Any:
        """A tokenizer of our own; None for a model whose tokenizer can't say where its tokens stand."""
        own = load_tokenizer(self._checked_path)
        return own if own is not None else tokenizer_of(self._loaded())
