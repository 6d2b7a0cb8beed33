"""A scan: rough cosines of many memories for some queries, and where the large and small ones are.

Sorting a hundred thousand scores to find ten takes as long as making them. Here memories are laid in groups of
thirty-two or a few more, and of each group the largest and smallest cosine are kept beside the scores: whoever looks
for the best few looks into the few groups that can hold them.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.intp]
DEPTH = 32  # memories in a group, where there are enough


@dataclass(frozen=True, slots=True)
class Scan:
    """Rough cosines of m memories for q queries.

    Parameters
    ----------
    values : ndarray of float32, shape (q, m)
        By query, and memory that has a vector.
    places : ndarray of int, shape (m,), optional
        Which memory of those asked for each is, rising; None where all have a vector.
    error : float
        How far a value can be from the exact one.
    largest, smallest : ndarray of float32, shape (q, g)
        By query and group. Memory i is in group i modulo g.
    """

    values: Floats
    places: Places | None
    error: float
    largest: Floats
    smallest: Floats

    @staticmethod
    def of(values: Floats, places: Places | None, error: float) -> "Scan":
        """Make a scan of cosines by row.

        Parameters
        ----------
        values : ndarray of float32, shape (q, rows)
            By query and row.
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
        >>> found = Scan.of(np.array([[0.25, 0.5, 0.75]], dtype=np.float32), np.array([0, 2, 2]), 0.0)
        >>> found.values.tolist(), found.places.tolist()
        ([[0.25, 0.75]], [0, 2])
        """
        if places is not None and len(places):
            first = np.flatnonzero(np.diff(places, prepend=-1))
            if len(first) < len(places):
                values, places = np.maximum.reduceat(values, first, axis=1), places[first]
        groups = max(1, values.shape[1] // DEPTH)
        whole = values.shape[1] // groups * groups
        piled, rest = values[:, :whole].reshape(len(values), -1, groups), values[:, whole:]
        largest, smallest = piled.max(axis=1, initial=-2), piled.min(axis=1, initial=2)
        some = slice(0, rest.shape[1])
        np.maximum(largest[:, some], rest, out=largest[:, some])
        np.minimum(smallest[:, some], rest, out=smallest[:, some])
        return Scan(values, places, error, largest, smallest)

    def members(self, groups: Places) -> Places:
        """List the memories of groups.

        Parameters
        ----------
        groups : ndarray of int
            Numbers of groups.

        Returns
        -------
        ndarray of int
            Columns of :attr:`values`.
        """
        count, width = self.values.shape[1], self.largest.shape[1]
        found = (groups[:, None] + np.arange(0, count, width)).ravel()
        inside: Places = found[found < count]
        return inside

    def rows(self, places: Places) -> tuple[Places, npt.NDArray[np.bool_]]:
        """Find memories among those that have a vector.

        Parameters
        ----------
        places : ndarray of int
            Which of those asked for.

        Returns
        -------
        rows : ndarray of int
            Their columns of :attr:`values`; any where they have none.
        known : ndarray of bool
            Whether they have one.
        """
        if self.places is None:
            return places, np.ones(len(places), dtype=bool)
        rows = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
        return rows, self.places[rows] == places
