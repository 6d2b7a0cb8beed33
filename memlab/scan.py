"""A scan: rough cosines of many memories for some queries, and where the large and small ones are.

Sorting a hundred thousand scores to find ten costs as much as scoring them. Here memories are laid in groups of
about sixteen, of which only the largest and smallest cosine are kept beside the scores: whoever looks for the best
few looks into the few groups that can hold them.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.intp]
DEPTH = 16  # memories in a group
BLOCK = 131_072  # numbers that are looked through at a time: they stay in the second cache


@dataclass(frozen=True, slots=True)
class Scan:
    """Rough cosines.

    Parameters
    ----------
    values : ndarray of float32, shape (m, q)
        By memory that has a vector, and query.
    places : ndarray of int, shape (m,), optional
        Which memory of those asked for each is, rising; None where all have a vector.
    error : float
        How far a value can be from the exact one.
    largest, smallest : ndarray of float32, shape (g, q)
        By group and query.
    step : int
        Memories in a block, the last one excepted.
    """

    values: Floats
    places: Places | None
    error: float
    largest: Floats
    smallest: Floats
    step: int

    @staticmethod
    def of(values: Floats, places: Places | None, error: float) -> "Scan":
        """Make a scan of cosines by row.

        Parameters
        ----------
        values : ndarray of float32, shape (rows, q)
            By row and query.
        places : ndarray of int, shape (rows,), optional
            The memory of each row, never falling; None where each has one row.
        error : float
            How far a value can be from the exact one.

        Returns
        -------
        Scan
            Of each memory the best row.

        Examples
        --------
        >>> found = Scan.of(np.array([[0.25], [0.5], [0.75]], dtype=np.float32), np.array([0, 2, 2]), 0.0)
        >>> found.values.ravel().tolist(), found.places.tolist()
        ([0.25, 0.75], [0, 2])
        """
        if places is not None and len(places):
            first = np.flatnonzero(np.diff(places, prepend=-1))
            if len(first) < len(places):
                values, places = np.maximum.reduceat(values, first, axis=0), places[first]
        step = max(DEPTH, BLOCK // max(1, values.shape[1]))
        found = [_extremes(values[at : at + step]) for at in range(0, len(values), step)]
        none = values[:0]
        largest, smallest = (np.concatenate(side) for side in zip((none, none), *found, strict=True))
        return Scan(values, places, error, largest, smallest, step)

    def members(self, groups: Places) -> Places:
        """List the memories of groups.

        Parameters
        ----------
        groups : ndarray of int
            Numbers of groups.

        Returns
        -------
        ndarray of int
            Rows of :attr:`values`.
        """
        found = [np.empty(0, dtype=np.intp)]
        for group in groups.tolist():
            block, place = divmod(group, _groups(self.step))
            begin = block * self.step
            end = min(begin + self.step, len(self.values))
            found.append(np.arange(begin + place, end, _groups(end - begin)))
        return np.concatenate(found)


def _groups(rows: int) -> int:
    return max(1, rows // DEPTH)


def _extremes(block: Floats) -> tuple[Floats, Floats]:
    """Give the largest and smallest of each group: of rows as many apart as there are groups."""
    groups, queries = _groups(len(block)), block.shape[1]
    whole = len(block) // groups * groups
    piled, rest = block[:whole].reshape(-1, groups * queries), block[whole:]
    largest, smallest = (side.reshape(groups, queries) for side in (piled.max(axis=0), piled.min(axis=0)))
    largest[: len(rest)] = np.maximum(largest[: len(rest)], rest)
    smallest[: len(rest)] = np.minimum(smallest[: len(rest)], rest)
    return largest, smallest
