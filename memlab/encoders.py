"""What an encoder is, and the one that needs no model.

An encoder turns texts into the rows of a matrix. memlab needs four things of it (`Encoder`), and
looks at what it gives (`encode_checked`) before the rest of memlab sees it.

`HashEncoder` is here; `memlab.sentence_encoder` has the encoder that knows meaning.
"""

import hashlib
import inspect
from collections.abc import Sequence
from itertools import chain
from typing import Any, Final, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from memlab.errors import EncoderError
from memlab.fingerprints import digest
from memlab.text import tokens
from memlab.unit_rows import unit_rows

__all__ = [
    "Encoder",
    "HashEncoder",
    "Kind",
    "check_encoder",
    "check_texts",
    "encode_checked",
    "spec_of",
    "store_fingerprint",
]

Kind = Literal["passage", "query"]

_HASH_VERSION: Final = 1  # goes up when HashEncoder, or what it takes for a token, changes
_REMEMBERED: Final = 100_000  # tokens whose hashes are kept
_BLOCK: Final = 4096  # texts hashed at a time


@runtime_checkable
class Encoder(Protocol):
    """What memlab asks of an encoder; any class with these four members is one.

    Two more members are used where they are there: ``windows(text)`` gives the character spans of
    overlapping pieces that fit the encoder (without it a text is one piece), and ``spec`` is a
    JSON-able dict from which `memlab.sentence_encoder.encoder_from` makes the encoder again (without
    it, a store of this encoder has to be opened with ``encoder=``).

    Notes
    -----
    ``isinstance(x, Encoder)`` reads the attributes of `x`, and an encoder may have to look for its
    files to answer; `check_encoder` asks without reading them.
    """

    @property
    def name(self) -> str:
        """What people call the encoder."""

    @property
    def dimension(self) -> int:
        """Numbers in a row."""

    @property
    def fingerprint(self) -> str:
        """Text that differs whenever the encoder would give other rows."""

    def encode(self, texts: Sequence[str], kind: Kind = "passage", progress: bool = False) -> npt.NDArray[np.float32]:
        """Encode texts.

        Parameters
        ----------
        texts : sequence of str
            What to encode.
        kind : {"passage", "query"}, default "passage"
            Whether the texts are memories or questions; many encoders put another prompt before each.
        progress : bool, default False
            Whether to show a progress bar when it takes long.

        Returns
        -------
        ndarray of float32, shape (len(texts), dimension)
            One row a text, of length one, or all zero where there is nothing to encode.
        """


class HashEncoder:
    """Rows from hashed words: the same on every machine, at once, and without any meaning.

    Each token of a text, and each run of three characters in it, is hashed to one of `dimension`
    places and a sign (the hashing trick [1]_); a whole token weighs 1, a run of three 1/2. Texts that
    share words or stems are near each other, and no others. It shows that the plumbing works: nothing
    about dense recall can be learnt from it.

    Parameters
    ----------
    dimension : int, default 384
        Numbers in a row.

    Raises
    ------
    EncoderError
        When the dimension is no whole number of at least 1.

    Notes
    -----
    All sums are of halves, hence exact, so that the rows are the same to the last bit whatever the
    platform. ``kind`` makes no difference, and no text is too long.

    References
    ----------
    .. [1] K. Weinberger et al., "Feature hashing for large scale multitask learning", ICML 2009.

    Examples
    --------
    >>> rows = HashEncoder(dimension=64).encode(["the red fox", "a red fox", "tax law"])
    >>> bool(rows[0] @ rows[1] > rows[0] @ rows[2])
    True
    """

    name: str
    dimension: int
    fingerprint: str

    def __init__(self, dimension: int = 384) -> None:
        if isinstance(dimension, bool) or not isinstance(dimension, (int, np.integer)) or dimension < 1:
            raise EncoderError(f"a dimension is a whole number of at least 1, not {dimension!r}")
        self.dimension = int(dimension)
        self.name = f"hash-{self.dimension}"
        self.fingerprint = digest("hash", str(_HASH_VERSION), str(self.dimension))
        self._features: dict[str, tuple[tuple[int, ...], tuple[float, ...]]] = {}

    def __repr__(self) -> str:
        return f"HashEncoder(dimension={self.dimension})"

    @property
    def spec(self) -> dict[str, Any]:
        """What is needed to make this encoder again."""
        return {"kind": "hash", "dimension": self.dimension}

    def encode(self, texts: Sequence[str], kind: Kind = "passage", progress: bool = False) -> npt.NDArray[np.float32]:
        """Encode texts.

        Parameters
        ----------
        texts : sequence of str
            What to encode.
        kind : {"passage", "query"}, default "passage"
            Makes no difference here.
        progress : bool, default False
            Whether to show a progress bar when it takes more than a second.

        Returns
        -------
        ndarray of float32, shape (len(texts), dimension)
            Rows of length one; zeros for a text without any token.

        Raises
        ------
        EncoderError
            When a text is no string or `kind` is neither of the two.
        """
        from tqdm.auto import tqdm

        check_texts(texts, kind)
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        with tqdm(total=len(texts), desc=self.name, unit=" texts", delay=1, disable=not progress) as bar:
            for start in range(0, len(texts), _BLOCK):
                block = texts[start : start + _BLOCK]
                sums = self._sums(block)
                rows[start : start + _BLOCK] = unit_rows(sums, len(block), self.dimension, self.name)
                bar.update(len(block))
        return rows

    def _sums(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Add up the signed weights of each text's features, one row a text."""
        found = [[self._hashed(token) for token in tokens(text)] for text in texts]
        counts = [sum(len(places) for places, _ in features) for features in found]
        places = np.fromiter(chain.from_iterable(p for f in found for p, _ in f), np.int64, sum(counts))
        weights = np.fromiter(chain.from_iterable(w for f in found for _, w in f), np.float64, sum(counts))
        cells = np.repeat(np.arange(len(texts)) * self.dimension, counts) + places
        sums = np.asarray(np.bincount(cells, weights, len(texts) * self.dimension), dtype=np.float64)
        return sums.reshape(len(texts), self.dimension)

    def _hashed(self, token: str) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Places and signed weights of a token and its runs of three characters, remembered."""
        known = self._features.get(token)
        if known is None:
            framed = f"<{token}>"
            parts = [token, *(f"3{framed[i : i + 3]}" for i in range(len(framed) - 2))]
            hashes = [_hash(part) for part in parts]
            signs = [1.0 if value & 1 else -1.0 for value in hashes]
            weights = (signs[0], *(sign / 2 for sign in signs[1:]))
            known = (tuple((value >> 1) % self.dimension for value in hashes), weights)
            if len(self._features) >= _REMEMBERED:  # a bound, so that a long life doesn't fill the memory
                self._features.clear()
            self._features[token] = known
        return known


def _hash(part: str) -> int:
    """Hash to 64 bits, alike in every process (Python's own hash of a string isn't)."""
    return int.from_bytes(hashlib.blake2b(part.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def check_encoder(encoder: object) -> None:
    """Refuse what isn't an encoder, without making it load anything.

    Parameters
    ----------
    encoder : object
        What was given as one.

    Raises
    ------
    EncoderError
        When one of ``name``, ``dimension``, ``fingerprint``, ``encode`` is missing, or a class was
        given instead of an object of it.
    """
    if isinstance(encoder, type):
        raise EncoderError(f"{encoder.__name__} is a class: give an encoder made from it, {encoder.__name__}(…)")
    missing = [name for name in ("name", "dimension", "fingerprint", "encode") if not _has(encoder, name)]
    if missing:
        raise EncoderError(
            f"{type(encoder).__name__} is no encoder: it has no {', '.join(missing)}; an encoder has "
            "name, dimension, fingerprint and encode(texts, kind, progress)"
        )


def _has(thing: object, name: str) -> bool:
    """Whether an attribute is there, seen without running a property."""
    try:
        inspect.getattr_static(thing, name)
    except AttributeError:
        return False
    return True


def check_texts(texts: Sequence[str], kind: str) -> None:
    """Refuse what no encoder can encode.

    Parameters
    ----------
    texts : sequence of str
        What is to be encoded.
    kind : str
        What the texts are.

    Raises
    ------
    EncoderError
        When `texts` is one bare string, one of them is no string, or `kind` is neither "passage" nor
        "query".
    """
    if kind not in ("passage", "query"):
        raise EncoderError(f'a kind of text is "passage" or "query", not {kind!r}')
    if isinstance(texts, str):
        raise EncoderError("encode takes a list of texts, and got one string: put it in a list")
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise EncoderError(f"text {place} is of type {type(text).__name__}: a string was expected")


def encode_checked(
    encoder: Encoder, texts: Sequence[str], kind: Kind = "passage", progress: bool = False
) -> npt.NDArray[np.float32]:
    """Encode texts and hold the encoder to its word.

    Parameters
    ----------
    encoder : Encoder
        Any encoder, memlab's or the user's own.
    texts : sequence of str
        What to encode. No texts give an array of shape (0, dimension), and the encoder isn't called.
    kind : {"passage", "query"}, default "passage"
        Whether the texts are memories or questions.
    progress : bool, default False
        Passed on to the encoder.

    Returns
    -------
    ndarray of float32, shape (len(texts), dimension)
        C-contiguous and finite; each row of length one, or all zero.

    Raises
    ------
    EncoderMismatch
        When the rows are not as long as ``encoder.dimension``.
    EncoderError
        When a text is no string, or what comes back is no array of numbers, has another number of
        rows, or holds NaN or infinity.

    Examples
    --------
    >>> encode_checked(HashEncoder(dimension=8), ["a red fox", "???"]).any(axis=1).tolist()
    [True, False]
    """
    check_texts(texts, kind)
    if not len(texts):
        return np.zeros((0, encoder.dimension), dtype=np.float32)
    given = encoder.encode(texts, kind=kind, progress=progress)
    return unit_rows(given, len(texts), encoder.dimension, encoder.name)


def spec_of(encoder: Encoder) -> dict[str, Any]:
    """Give what is needed to make an encoder again.

    Parameters
    ----------
    encoder : Encoder
        Any encoder.

    Returns
    -------
    dict
        The encoder's own ``spec``, JSON-able; for one without it ``{"kind": "own", "name": …}``, from
        which nobody but its author can make it.
    """
    if _has(encoder, "spec"):
        return dict(encoder.spec)  # type: ignore[attr-defined]
    return {"kind": "own", "name": encoder.name}


def store_fingerprint(encoder: Encoder, template: str) -> str:
    """Name what a store's vectors depend on: the encoder, and how a memory is put into words.

    Parameters
    ----------
    encoder : Encoder
        Its fingerprint covers weights, pooling, prompts, length, normalisation and precision.
    template : str
        The store's text template, such as ``"role (date): content"``.

    Returns
    -------
    str
        64 hexadecimal digits. Vectors of different fingerprints are never compared.

    Examples
    --------
    >>> one, other = (store_fingerprint(HashEncoder(), t) for t in ("content", "role: content"))
    >>> len(one), one == other
    (64, False)
    """
    return digest("store", encoder.fingerprint, template)
