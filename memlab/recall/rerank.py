"""Diversify: hits that aren't all the same thing said again.

Maximal marginal relevance picks one hit after another, each time the candidate with the largest

    (1 - w) * score(d) - w * max over picked p of cosine(d, p)

where scores are stretched over [0, 1] first. w = 0 keeps the ranking, w = 1 looks at difference alone.

References
----------
J. Carbonell, J. Goldstein, "The use of MMR, diversity-based reranking for reordering documents and producing
summaries", SIGIR 1998.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memlab.recall.fuse import normalise


def diversify(
    scores: npt.NDArray[np.float64], vectors: npt.NDArray[np.float32], ids: Sequence[str], k: int, weight: float
) -> list[int]:
    """Order candidates by score and by difference from those above.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
        Higher is better.
    vectors : ndarray of float32, shape (n, dimension)
        Unit rows; a zero row is like nothing.
    ids : sequence of str
        Ties go by id.
    k : int
        How many to pick.
    weight : float
        From 0 to 1.

    Returns
    -------
    list of int
        Positions of at most k candidates, best first.

    Examples
    --------
    >>> same, other = [1.0, 0.0], [0.0, 1.0]
    >>> diversify(np.array([1.0, 0.9, 0.5]), np.array([same, same, other], dtype="float32"), "abc", 2, 0.5)
    [0, 2]
    """
    worth = (1 - weight) * normalise(scores)
    likeness = np.zeros(len(scores))
    left = sorted(range(len(scores)), key=lambda at: ids[at])
    picked: list[int] = []
    while left and len(picked) < k:
        best = max(left, key=lambda at: worth[at] - weight * likeness[at])
        left.remove(best)
        picked.append(best)
        likeness = np.maximum(likeness, vectors @ vectors[best])
    return picked
