"""The short list: a few memories that the best ones are among, found without fusing the scores of all.

Where a recall fuses scores of the dense and the lexical channel alone, and nothing spreads, a memory's score is

    f(d) = w n(c(d)) + v n(b(d))

with its cosine c, its BM25 score b, and n from :mod:`memlab.recall.fuse`. Cosines are known roughly, |c' - c| <= e,
so n(c) is known to 4e / (max c' - m'), and f to E = w 4e / (max c' - m'). Let t be the k-th largest f' of any k
memories. Then k memories have f >= t - E, and one with f' < t - 2E isn't among the k best. Most memories share no
word with the query, so their f' is w n(c'), and whole groups of them are passed over by their largest cosine.

The list also holds the memories that can have the largest or smallest cosine and the largest BM25 score, so that
scores normalised over the list are those normalised over all. Whoever ranks the list by exact scores gets what
ranking all would give, to the last digit.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from memlab.recall.fuse import proportions
from memlab.scan import Scan

Scores = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
# Scores that are nearer to each other than this can be equal when rounded to the six digits that rank.
ROUNDING = 2e-6
COSINE = 1e-6  # more than cosines lose when written with 24 bits
MANY = 4096  # from so many scores up it pays to look for the best in groups
DEPTH = 16  # scores in such a group


def shortlist(
    scan: Scan | None, query: int, words: tuple[Places, Scores], weights: Mapping[str, float], k: int
) -> Places | None:
    """List the memories that can be among the k best.

    Parameters
    ----------
    scan : Scan, optional
        Rough cosines of the candidates; None where the query or no candidate has a vector.
    query : int
        Which query of the scan.
    words : (ndarray of int, ndarray of float64)
        Places of the candidates that share a word with the query, and their BM25 scores.
    weights : mapping of str to float
        Of "dense" and "lexical".
    k : int
        How many are looked for.

    Returns
    -------
    ndarray of int or None
        Places, rising; None where nothing can be left out: all cosines are as good as alike.
    """
    places, scores = words
    spoke = {"dense": scan is not None, "lexical": len(places) > 0}
    shares = proportions({name: weight for name, weight in weights.items() if spoke[name]})
    largest = scores.max(initial=0.0)
    rough = shares.get("lexical", 0.0) * scores / (largest or 1.0)
    if scan is None:
        return np.sort(places[(rough >= _bar(rough, k) - ROUNDING) | (scores == largest)])
    tops, bottoms = scan.largest[query], scan.smallest[query]
    high, least = float(tops.max()), float(bottoms.min())
    low = min(0.0, least)
    if high - low <= 4 * scan.error or not shares["dense"]:
        return None
    weight = shares["dense"] / (high - low)
    if len(places):
        rows, known = scan.rows(places)
        rough += np.where(known, weight * (scan.values[query, rows].astype(np.float64) - low), 0.0)
    bar = max(weight * (_bar(tops, k) - low), _bar(rough, k)) - 8 * weight * scan.error - ROUNDING
    # The bar in cosines, a little lower, since they have fewer digits.
    least_top = min(low + bar / weight, high - 2 * scan.error) - COSINE
    most_bottom = least + 2 * scan.error
    rows = scan.members(np.flatnonzero((tops >= least_top) | (bottoms <= most_bottom)))
    cosines = scan.values[query, rows]
    rows = rows[(cosines >= least_top) | (cosines <= most_bottom)]
    near = places[(rough >= bar) | (scores == largest)]
    return np.unique(np.concatenate([near, rows if scan.places is None else scan.places[rows]]))


def contenders(scores: Scores, k: int) -> Places:
    """Find those that can be among the k best when rounded.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
        Higher is better; -inf for what can't be chosen.
    k : int
        How many are looked for.

    Returns
    -------
    ndarray of int
        Places, rising: the k best and those that are as good to six digits, and maybe more.
    """
    some = scores
    if len(scores) >= MANY:
        # The k-th largest of the groups' largest scores is no larger than the k-th largest of all.
        some = scores[: len(scores) // DEPTH * DEPTH].reshape(DEPTH, -1).max(axis=0)
    bar = _bar(some, k)
    return np.flatnonzero((scores >= bar - ROUNDING) & (scores > -np.inf))


def _bar(scores: npt.NDArray[np.floating], k: int) -> float:
    """Give the k-th largest score, -inf where there are fewer."""
    return float(np.partition(scores, len(scores) - k)[len(scores) - k]) if k <= len(scores) else -np.inf
