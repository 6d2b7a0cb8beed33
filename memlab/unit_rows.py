"""What an encoder gave, as rows of length one, or a sentence that says what is wrong with it.

This is the one place where numbers from outside become vectors: finite, real, C-contiguous float32 of
the right shape. Native code behind it (FAISS, BLAS) checks none of that.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from memlab.errors import EncoderMismatch, EncoderOutput

__all__ = ["unit_rows"]

_BLOCK: Final = 4096  # rows worked on at a time: the float64 copy stays small


def unit_rows(given: Any, rows: int, dimension: int, name: str) -> npt.NDArray[np.float32]:
    """Check a matrix and bring each of its rows to length one.

    Lengths are computed in double precision, after division by the largest number of the row, so that
    neither very small nor very large numbers are lost. A row of zeros stays zero: a text without
    anything to encode is near nothing. Nothing is ever padded or cut to fit.

    Parameters
    ----------
    given : array_like
        What the encoder gave.
    rows : int
        How many rows were asked for.
    dimension : int
        How many numbers a row has to have.
    name : str
        The encoder's name, for the message.

    Returns
    -------
    ndarray of float32, shape (rows, dimension)
        C-contiguous and finite, never the memory that was given; each row of length one, or all zero.

    Raises
    ------
    EncoderMismatch
        When rows are not `dimension` numbers long.
    EncoderOutput
        When it is no matrix of real numbers, has another number of rows, or holds NaN or infinity.

    Examples
    --------
    >>> unit_rows([[3, 4], [0, 0]], rows=2, dimension=2, name="hand-made").tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    found = _matrix(given, dimension, name)
    if found.shape[1] != dimension:
        raise EncoderMismatch(
            f"the encoder {name!r} gave rows of {found.shape[1]} numbers where {dimension} were expected: "
            f"give it the dimension it really has, or use the encoder of dimension {dimension}; "
            "memlab never pads or cuts a vector"
        )
    if found.shape[0] != rows:
        raise EncoderOutput(
            f"the encoder {name!r} gave {found.shape[0]} rows for {rows} texts: one row a text was expected"
        )
    unit = np.empty(found.shape, dtype=np.float32)
    for start in range(0, rows, _BLOCK):
        unit[start : start + _BLOCK] = _normalised(found[start : start + _BLOCK], start, name)
    return unit


def _matrix(given: Any, dimension: int, name: str) -> npt.NDArray[Any]:
    """See what an encoder gave as a matrix of real numbers, or say why it is none."""
    try:
        found = np.asarray(given)
    except (ValueError, TypeError) as error:
        raise EncoderOutput(
            f"the encoder {name!r} gave a {type(given).__name__} that is no matrix ({error}): "
            f"rows of {dimension} numbers each were expected"
        ) from error
    if found.dtype.kind not in "fiu":
        raise EncoderOutput(
            f"the encoder {name!r} gave an array of dtype {found.dtype}: real numbers were expected, best float32"
        )
    if found.ndim != 2:
        raise EncoderOutput(
            f"the encoder {name!r} gave an array of shape {found.shape}: "
            f"(number of texts, {dimension}) was expected, also for one text"
        )
    return found


def _normalised(block: npt.NDArray[Any], start: int, name: str) -> npt.NDArray[np.float64]:
    """Divide each row by its length; `start` is the place of the first row, for the message."""
    exact = block.astype(np.float64)
    bad = ~np.isfinite(exact).all(axis=1)
    if bad.any():
        place = start + int(bad.argmax())
        raise EncoderOutput(
            f"the encoder {name!r} gave NaN or infinity for text {place}: finite numbers were expected; "
            "if the model runs in half precision, try float32"
        )
    largest = np.abs(exact).max(axis=1, keepdims=True)
    exact /= np.where(largest > 0.0, largest, 1.0)
    lengths = np.sqrt(np.einsum("ij,ij->i", exact, exact))[:, np.newaxis]
    exact /= np.where(lengths > 0.0, lengths, 1.0)
    return exact
