"""Diversify: hits that aren't all the same thing said again.

Maximal marginal relevance picks one hit after another, each time the candidate with the largest

    (1 - w) * score(d) - w * max over picked p of cosine(d, p)

where scores are stretched over [0, 1] first, and a cosine below 0 counts as 0. w = 0 keeps the ranking; w = 1 looks
at difference alone, after the first, which is the best.

References
----------
J. Carbonell, J. Goldstein, "The use of MMR, diversity-based reranking for reordering documents and producing
summaries", SIGIR 1998.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


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
        Ties go by score, then id.
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
    order = sorted(range(len(scores)), key=lambda at: (-scores[at], ids[at]))
    near = vectors[order]
    worth = (1 - weight) * _stretch(scores[order])
    likeness = np.zeros(len(order))
    picked: list[int] = []
    while len(picked) < min(k, len(order)):
        # argmax takes the first of equals, and they stand in the order that breaks ties.
        best = int(np.argmax(worth - weight * likeness))
        picked.append(order[best])
        worth[best] = -np.inf
        likeness = np.maximum(likeness, near @ near[best])
    return picked


def _stretch(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Bring the scores to [0, 1], all 1 where they are equal."""
    low, high = (scores.min(), scores.max()) if len(scores) else (0.0, 0.0)
    return (scores - low) / (high - low) if high > low else np.ones(len(scores))
