"""Digests that name things: files, and lists of texts."""

import hashlib
from pathlib import Path

__all__ = ["digest", "file_digest"]


def digest(*parts: str) -> str:
    """Hash several texts, so that no two lists of texts give the same bytes.

    Parameters
    ----------
    *parts : str
        Any texts.

    Returns
    -------
    str
        The SHA-256 of the parts, each with its length before it, as 64 hexadecimal digits.

    Examples
    --------
    >>> digest("ab", "c") == digest("a", "bc")
    False
    """
    hashed = hashlib.sha256()
    for part in parts:
        raw = part.encode()
        hashed.update(len(raw).to_bytes(8, "big"))
        hashed.update(raw)
    return hashed.hexdigest()


def file_digest(path: Path) -> str:
    """Hash the bytes of a file.

    Parameters
    ----------
    path : Path
        A file that can be read; never a store, which nobody but SQLite opens.

    Returns
    -------
    str
        The SHA-256, as 64 hexadecimal digits.

    Raises
    ------
    OSError
        When the file can't be read.
    """
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
