"""Put the parts of a disconnected drawing beside each other, tightly and without overlap.

A store's graph is often many small pieces. Each piece is turned into the set of grid cells that it covers, a
*polyomino*; the pieces are then placed one by one, largest first, each at the free place nearest to the
middle [1]_. Distance is measured in the shape of the picture, so that the whole fills a wide page.

References
----------
.. [1] K. Freivalds, U. Dogrusoz, P. Kikusts, "Disconnected graph layout and the polyomino packing approach",
   Graph Drawing 2001, LNCS 2265, 378-391.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]
Cells = npt.NDArray[np.int64]


def pack(pieces: Sequence[Points], outlines: Sequence[Points], *, cell: float, aspect: float) -> list[Points]:
    """Move pieces so that none covers another.

    Parameters
    ----------
    pieces : sequence of float arrays, shape (n_i, 2)
        The points of each piece, in pixels.
    outlines : sequence of float arrays, shape (m_i, 2)
        More points that a piece covers, such as those along its edges; may be empty.
    cell : float
        Side of a grid cell in pixels; points of two pieces come no nearer than about this.
    aspect : float
        Width through height of the whole that is aimed at.

    Returns
    -------
    list of float arrays
        The pieces, moved and otherwise unchanged, in the order given. Equal input gives equal output.

    Examples
    --------
    >>> a, b = pack([np.zeros((1, 2)), np.zeros((1, 2))], [np.zeros((0, 2))] * 2, cell=10.0, aspect=1.0)
    >>> bool(np.abs(a - b).max() >= 10)
    True
    """
    middles = [(p.min(axis=0) + p.max(axis=0)) / 2 for p in pieces]
    covers = (np.vstack([p, o]) - m for p, o, m in zip(pieces, outlines, middles, strict=True))
    shapes = [_cells(points, cell) for points in covers]
    side = _side(shapes)
    while (places := _place(shapes, side, aspect)) is None:
        side *= 2
    return [p - m + at * cell for p, m, at in zip(pieces, middles, places, strict=True)]


def _cells(points: Points, cell: float) -> Cells:
    """The cells within half a cell of a piece's points, as (column, row)."""
    near = np.array([(x, y) for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
    spread = (points[:, None, :] / cell + near).reshape(-1, 2)
    return np.unique(np.floor(spread).astype(np.int64), axis=0)


def _side(shapes: Sequence[Cells]) -> int:
    """Half the side of a grid that most likely has room for all shapes."""
    reach = max((int(np.abs(shape).max()) for shape in shapes), default=0)
    area = sum(len(shape) for shape in shapes)
    return 2 * reach + 2 * int(np.ceil(np.sqrt(area))) + 4


def _place(shapes: Sequence[Cells], side: int, aspect: float) -> list[Cells] | None:
    """Where each shape goes, or None if the grid is too small."""
    places = _from_the_middle(side, aspect)
    taken = np.zeros((2 * side + 1, 2 * side + 1), dtype=bool)
    chosen: dict[int, Cells] = {}
    tried: dict[bytes, int] = {}
    for i in sorted(range(len(shapes)), key=lambda i: (-len(shapes[i]), i)):
        key = shapes[i].tobytes()
        found = _first_free(taken, places + side, shapes[i], tried.get(key, 0))
        if found is None:
            return None
        # Places only fill up, so the next piece of the same shape need not look before this one.
        tried[key] = found
        chosen[i] = places[found]
        spots = places[found] + side + shapes[i]
        taken[spots[:, 0], spots[:, 1]] = True
    return [chosen[i] for i in range(len(shapes))]


def _from_the_middle(side: int, aspect: float) -> Cells:
    """All places whose surroundings stay on the grid, nearest to the middle first."""
    reach = np.arange(-(side // 2), side // 2 + 1)
    x, y = (part.ravel() for part in np.meshgrid(reach, reach, indexing="ij"))
    order = np.lexsort((y, x, (x / aspect) ** 2 + y**2))
    return np.stack([x[order], y[order]], axis=1)


def _first_free(taken: npt.NDArray[np.bool_], places: Cells, shape: Cells, start: int) -> int | None:
    """The number of the first place, from `start` on, where the shape covers no taken cell."""
    for low in range(start, len(places), 256):
        spots = places[low : low + 256, None, :] + shape
        free = ~taken[spots[..., 0], spots[..., 1]].any(axis=1)
        if free.any():
            return low + int(free.argmax())
    return None
