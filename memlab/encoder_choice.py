"""From a name, a path or a written spec to an encoder."""

import os
from collections.abc import Mapping
from typing import Any

from memlab.encoders import Encoder, HashEncoder, check_encoder
from memlab.errors import EncoderError
from memlab.model_files import DEFAULT_MODEL
from memlab.sentence_encoder import SentenceTransformerEncoder

__all__ = ["default_encoder", "encoder_from", "resolve_encoder"]


def default_encoder() -> SentenceTransformerEncoder:
    """Give the encoder of a new store: all-MiniLM-L6-v2.

    Returns
    -------
    SentenceTransformerEncoder
        Nothing is loaded yet.
    """
    return SentenceTransformerEncoder(DEFAULT_MODEL)


def encoder_from(spec: Mapping[str, Any]) -> Encoder:
    """Make an encoder again from what was written about it.

    Parameters
    ----------
    spec : mapping
        What ``spec`` of a `HashEncoder` or a `SentenceTransformerEncoder` gave.

    Returns
    -------
    Encoder
        The encoder; nothing is loaded yet.

    Raises
    ------
    EncoderError
        When the spec is that of a user's own encoder, or not one that this version knows.

    Examples
    --------
    >>> encoder_from({"kind": "hash", "dimension": 64})
    HashEncoder(dimension=64)
    """
    options = dict(spec)
    kind = options.pop("kind", None)
    if kind == "own":
        raise EncoderError(f"the encoder {options.get('name')!r} is not one of memlab's: give it as encoder=…")
    try:
        if kind == "hash":
            return HashEncoder(**options)
        if kind == "sentence-transformers" and options.pop("normalise", True) is True:
            return SentenceTransformerEncoder(options.pop("name"), **options)
    except (TypeError, KeyError) as error:
        raise EncoderError(f"the encoder spec {dict(spec)} can't be read: {error}") from error
    raise EncoderError(f"the encoder spec {dict(spec)} is of no kind that this memlab knows: give encoder=…")


def resolve_encoder(given: Encoder | str | os.PathLike[str] | Mapping[str, Any]) -> Encoder:
    """See what a user gives as an encoder as one.

    Parameters
    ----------
    given : Encoder, str, path or mapping
        An encoder; the name or folder of a sentence-transformers model; ``"hash"`` or ``"hash-64"`` for
        a `HashEncoder`; or a spec.

    Returns
    -------
    Encoder
        The encoder; nothing is loaded yet.

    Raises
    ------
    EncoderError
        When it is none of these.

    Examples
    --------
    >>> resolve_encoder("hash-64")
    HashEncoder(dimension=64)
    """
    if isinstance(given, Mapping):
        return encoder_from(given)
    if isinstance(given, str) and (given == "hash" or given.removeprefix("hash-").isdecimal()):
        return HashEncoder(int(given[5:])) if given[5:] else HashEncoder()
    if isinstance(given, (str, os.PathLike)):
        return SentenceTransformerEncoder(given)
    check_encoder(given)
    return given
