"""Where each memory stands in a drawing: seeded, settled in Python, the same every time.

Each connected piece is drawn so that the distance of any two dots on the page comes near to their distance in
the graph: *stress majorization* [1]_, which lowers

.. math:: \\sum_{i<j} d_{ij}^{-2} \\, (\\lVert x_i - x_j \\rVert - d_{ij})^2

step by step, and never raises it, from a start that pivot multidimensional scaling [2]_ gives. An association
is the longer the less its two ends have in common (after [1]_, section 2.3), which pulls clusters apart and
gives hubs room. Pieces are packed side by side (see :mod:`memlab.views.packing`); memories without an association
stand in rows below.

References
----------
.. [1] E. R. Gansner, Y. Koren, S. North, "Graph drawing by stress majorization", Graph Drawing 2004,
   LNCS 3383, 239-250.
.. [2] U. Brandes, C. Pich, "Eigensolver methods for progressive multidimensional scaling of large data",
   Graph Drawing 2006, LNCS 4372, 42-53.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memlab.views.packing import pack

Points = npt.NDArray[np.float64]
Pairs = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Spacing:
    """The measures of a drawing, in pixels.

    Parameters
    ----------
    edge : float, default 64
        Length of an association whose ends have the same neighbours.
    apart : float, default 34
        The least distance of two dots of one piece.
    cell : float, default 46
        Grid on which pieces are packed.
    strip : float, default 44
        Distance of dots in the rows of memories without an association.
    aspect : float, default 1.5
        Width through height of the whole that is aimed at.
    """

    edge: float = 64.0
    apart: float = 34.0
    cell: float = 46.0
    strip: float = 44.0
    aspect: float = 1.5


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions, and where the rows of unconnected memories begin.

    Parameters
    ----------
    points : float array, shape (n, 2)
        x to the right and y downwards, in pixels, the middle near the origin.
    strip_top : float or None
        y above which no unconnected memory stands; None without any.
    """

    points: Points
    strip_top: float | None


def layout(
    count: int, pairs: Pairs, *, seed: int = 0, start: Points | None = None, spacing: Spacing | None = None
) -> Layout:
    """Lay out a graph.

    Parameters
    ----------
    count : int
        Number of dots. Up to 300 take well under a second, 2,000 in one piece some seconds.
    pairs : int array, shape (m, 2)
        The two ends of each association, as numbers from 0; direction, repeats and loops don't matter.
    seed : int, default 0
        Of the small random moves that part dots in the same place. Equal input gives equal output.
    start : float array, shape (n, 2), optional
        Places from an earlier drawing, NaN for new dots. Those that have a place keep it to the last digit;
        new ones go beside their neighbours, or below everything.
    spacing : Spacing, optional
        The measures; by default those of `Spacing`.

    Returns
    -------
    Layout
        Finite positions, no two the same.

    Raises
    ------
    ValueError
        If a pair names no dot, or `start` isn't of shape (n, 2).

    Examples
    --------
    >>> points = layout(3, np.array([[0, 1]])).points
    >>> bool(points[2, 1] > points[:2, 1].max())  # the third stands below
    True
    """
    pairs = _checked(count, pairs)
    space = spacing or Spacing()
    if start is None:
        points = _fresh(count, pairs, seed, space)
    elif np.shape(start) != (count, 2):
        raise ValueError(f"start has the shape {np.shape(start)}; expected {(count, 2)}, with NaN for new dots")
    elif np.isfinite(start).all(axis=1).any():
        points = _extended(pairs, start, seed, space)
    else:
        points = _fresh(count, pairs, seed, space)
    return Layout(points, _strip_top(points, pairs, space))


def _fresh(count: int, pairs: Pairs, seed: int, space: Spacing) -> Points:
    """A drawing from nothing."""
    points = np.zeros((count, 2))
    labels, pieces = _pieces(count, pairs)
    edges = [pairs[labels[pairs[:, 0]] == label] for label, _ in pieces]
    drawn = [_piece(members, own, seed, space) for (_, members), own in zip(pieces, edges, strict=True)]
    lines = [_along(at, own, members) for at, own, (_, members) in zip(drawn, edges, pieces, strict=True)]
    for (_, members), at in zip(pieces, pack(drawn, lines, cell=space.cell, aspect=space.aspect), strict=True):
        points[members] = at
    bound = np.zeros(count, dtype=bool)
    bound[pairs] = True
    return _with_strip(points, np.flatnonzero(~bound), space)


def _checked(count: int, pairs: Pairs) -> Pairs:
    """Distinct undirected pairs without loops, smaller end first."""
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    if len(pairs) and (pairs.min() < 0 or pairs.max() >= count):
        raise ValueError(f"a pair names dot {pairs.min()} or {pairs.max()}; there are the dots 0 to {count - 1}")
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    return np.unique(pairs, axis=0) if len(pairs) else pairs


def _pieces(count: int, pairs: Pairs) -> tuple[Pairs, list[tuple[int, Pairs]]]:
    """The component of each dot, and the components of two dots or more with their members."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if count == 0:
        return np.zeros(0, dtype=np.int64), []
    ones = np.ones(len(pairs))
    found, labels = connected_components(coo_array((ones, (pairs[:, 0], pairs[:, 1])), (count, count)), False)
    sizes = np.bincount(labels, minlength=found)
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    return labels, [(label, members[label]) for label in range(found) if sizes[label] > 1]


def _piece(members: Pairs, pairs: Pairs, seed: int, space: Spacing) -> Points:
    """One connected piece, wider than high, its first member to the upper left."""
    own = np.searchsorted(members, pairs)
    distance = _folded(_distances(len(members), own)) * space.edge
    points = _upright(_majorize(_pivot_start(distance, seed), distance))
    return _apart(_roomy(points, space) if len(points) > 20 else points, space.apart, seed)


def _roomy(points: Points, space: Spacing) -> Points:
    """Stretch a large piece to the page's shape and, if it is dense, until its dots have room."""
    wide, high = 4 * points.std(axis=0) + 1.0
    stretch = np.sqrt(np.clip(space.aspect * high / wide, 1.0, 1.5))
    room = np.sqrt(max(1.0, len(points) * (1.8 * space.apart) ** 2 / (wide * high)))
    roomy: Points = points * (room * np.array([stretch, 1 / stretch]))
    return roomy


def _distances(count: int, pairs: Pairs) -> Points:
    """Lengths of shortest paths, an edge being longer where its ends share fewer neighbours."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    near = np.eye(count, dtype=bool)
    near[pairs[:, 0], pairs[:, 1]] = near[pairs[:, 1], pairs[:, 0]] = True
    unlike = np.array([np.count_nonzero(near[a] ^ near[b]) for a, b in pairs])
    length = 1.0 + 0.22 * np.sqrt(unlike)
    graph = coo_array((length, (pairs[:, 0], pairs[:, 1])), (count, count))
    found: Points = shortest_path(graph.tocsr(), method="D", directed=False)
    return found


def _folded(distance: Points) -> Points:
    """Distances bent so that a long chain curls up instead of running off the page; edges keep their length."""
    longest, room = float(distance.max()), 3.0 * np.sqrt(len(distance))
    if longest <= room:
        return distance
    bent: Points = distance ** (np.log(room) / np.log(longest))
    return bent


def _pivot_start(distance: Points, seed: int, pivots: int = 50) -> Points:
    """A first drawing from distances to a few dots far from each other, see [2]_."""
    chosen = [0]
    nearest = distance[0].copy()
    while len(chosen) < min(pivots, len(distance)):
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, distance[chosen[-1]])
    square = distance[:, chosen] ** 2
    centred = -0.5 * (square - square.mean(axis=0) - square.mean(axis=1, keepdims=True) + square.mean())
    _, vectors = np.linalg.eigh(centred.T @ centred)
    points = centred @ vectors[:, [-1, -2]] if len(chosen) > 1 else np.zeros((len(distance), 2))
    points *= distance.mean() / max(float(np.abs(points).mean()), 1e-9) / 2
    # Dots with the same distances to all pivots would sit on each other for ever; a little noise parts them.
    noise: Points = np.random.default_rng(seed).normal(scale=0.05 * distance.mean(), size=points.shape)
    return np.asarray(points, dtype=np.float64) + noise


def _majorize(points: Points, distance: Points, *, most: int = 100, tolerance: float = 1e-3) -> Points:
    """Lower the stress by Guttman transforms until no dot moves more than `tolerance` of the mean distance."""
    weight = 1.0 / (distance + np.eye(len(distance))) ** 2
    np.fill_diagonal(weight, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    # Adding the mean to every cell makes the singular Laplacian invertible and fixes the centre.
    inverse = np.linalg.inv(laplacian + weight.mean())
    pull = weight * distance
    enough = tolerance * float(distance.mean())
    for _ in range(most):
        ratio = pull / np.maximum(_between(points), 1e-6)
        moved = inverse @ (ratio.sum(axis=1)[:, None] * points - ratio @ points)
        step = float(np.abs(moved - points).max())
        points = moved
        if step < enough:
            break
    return points


def _between(points: Points) -> Points:
    """All distances between points, by the cosine theorem: fast, and exact enough for a drawing."""
    square = (points**2).sum(axis=1)
    found = points @ (-2.0 * points.T)
    found += square
    found += square[:, None]
    np.maximum(found, 0.0, out=found)
    return np.sqrt(found, out=found)


def _upright(points: Points) -> Points:
    """Turn the long axis level and mirror so that the first dot is to the upper left."""
    points = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(points, full_matrices=False)
    points = points @ axes.T
    sign: Points = np.where(points[0] > 0, -1.0, 1.0)
    return points * sign


def _apart(points: Points, least: float, seed: int, fixed: npt.NDArray[np.bool_] | None = None) -> Points:
    """Push dots apart that are nearer than `least`; the fixed ones stay."""
    from scipy.spatial import KDTree

    points = points + 0.0
    moves = np.ones(len(points), dtype=bool) if fixed is None else ~fixed
    # Dots in the very same place have no direction to part in; a thousandth of a pixel gives them one.
    points[moves] += np.random.default_rng(seed).normal(scale=1e-3, size=(int(moves.sum()), 2))
    for _ in range(60):
        close = KDTree(points).query_pairs(least, output_type="ndarray")
        close = close[moves[close].any(axis=1)]
        if len(close) == 0:
            break
        one, two = close[np.lexsort((close[:, 1], close[:, 0]))].T
        gap = points[one] - points[two]
        away = np.hypot(gap[:, 0], gap[:, 1])[:, None]
        step = gap / away * (1.02 * least - away)
        share = 0.5 + 0.5 * (moves[one] != moves[two])
        np.add.at(points, one, step * (share * moves[one])[:, None])
        np.add.at(points, two, -step * (share * moves[two])[:, None])
    return points


def _along(points: Points, pairs: Pairs, members: Pairs) -> Points:
    """Points along the edges of a piece, so that packing leaves them free."""
    ends = points[np.searchsorted(members, pairs)]
    shares = np.linspace(0.1, 0.9, 9)[:, None, None]
    along: Points = (ends[None, :, 0] * shares + ends[None, :, 1] * (1 - shares)).reshape(-1, 2)
    return along


def _with_strip(points: Points, alone: Pairs, space: Spacing) -> Points:
    """Put the unconnected dots in rows under the rest; if there is nothing else, in a loose grid."""
    others = len(alone) < len(points)
    # A large drawing is seen from far, where dots keep a least size: they need more room here.
    step = space.strip * (max(1.0, np.sqrt(len(points) / 500)) if others else 2.0)
    drawn = np.delete(points, alone, axis=0) if others else np.zeros((1, 2))
    left, right = drawn[:, 0].min(), drawn[:, 0].max()
    area = (right - left) * (drawn[:, 1].max() - drawn[:, 1].min()) + len(alone) * step**2
    width = max(right - left, np.sqrt(space.aspect * area))
    columns = min(max(1, int(width // step)), max(1, len(alone)))
    number = np.arange(len(alone))
    points[alone, 0] = (left + right) / 2 + (number % columns - (columns - 1) / 2) * step
    points[alone, 1] = drawn[:, 1].max() + (1.8 * space.cell if others else 0.0) + number // columns * step
    return points


def _strip_top(points: Points, pairs: Pairs, space: Spacing) -> float | None:
    """The line between the connected dots and the others below them, if there is one."""
    bound = np.zeros(len(points), dtype=bool)
    bound[pairs] = True
    if bound.all() or not bound.any() or points[~bound, 1].min() <= points[bound, 1].max():
        return None
    return float(points[~bound, 1].min()) - space.strip / 2


def _extended(pairs: Pairs, start: Points, seed: int, space: Spacing) -> Points:
    """Old dots where they were; new ones round their neighbours, then the rest below."""
    points = np.array(start, dtype=np.float64)
    old = ~np.isnan(points.sum(axis=1))
    placed = old.copy()
    while len(reach := np.flatnonzero(~placed & _touches(pairs, placed))):
        for dot in reach:
            near = [b if a == dot else a for a, b in pairs if dot in (a, b) and placed[a if b == dot else b]]
            # The golden angle gives each new dot a direction of its own.
            turn = 2.399963 * dot
            points[dot] = points[near].mean(axis=0) + space.edge * np.array([np.cos(turn), np.sin(turn)])
        placed[reach] = True
    points[placed] = _apart(points[placed], space.apart, seed, fixed=old[placed])
    rest = np.flatnonzero(~placed)
    if len(rest):
        own = np.searchsorted(rest, pairs[np.isin(pairs, rest).all(axis=1)])
        fresh = layout(len(rest), own, seed=seed, spacing=space).points
        above = points[placed]
        shift = (above[:, 0].mean() - fresh[:, 0].mean(), above[:, 1].max() - fresh[:, 1].min() + space.cell)
        points[rest] = fresh + np.array(shift)
    return points


def _touches(pairs: Pairs, placed: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which dots have a neighbour that is placed."""
    found = np.zeros(len(placed), dtype=bool)
    found[pairs[placed[pairs[:, 1]], 0]] = True
    found[pairs[placed[pairs[:, 0]], 1]] = True
    return found
