"""Fusion: one score from the scores of several channels.

Channels count in different units, so each is brought to [0, 1] first. With a channel's scores s of the candidates,

    score:            n(d) = (s(d) - m) / (max s - m),    m = min(0, min s)
    reciprocal rank:  n(d) = (k + 1) / (k + rank(d))

and the fused score is the mean of n by the channels' weights. The floor is 0, which a text without a word in common
and a vector at a right angle have, rather than the least score found: else the worse of two candidates would get
nothing, however near it comes. Score fusion keeps how much better one memory fits than the next, which ranks throw
away; on conversations it recalls a tenth more. Channels whose scale is already the same for every query (temporal,
salience) are taken as they are. A memory of which a channel has no evidence (NaN) gets 0 from it; a channel that
has none of any memory drops out, its weight with it.

References
----------
G. V. Cormack, C. L. A. Clarke, S. Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
learning methods", SIGIR 2009. S. Bruch, S. Gai, A. Ingber, "An analysis of fusion functions for hybrid
retrieval", ACM TOIS 42 (2023).
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]

# Channels in units of their own, which no query stretches.
ABSOLUTE = frozenset({"temporal", "salience"})


def normalise(scores: Scores) -> Scores:
    """Stretch scores over [0, 1].

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
        NaN where there is no evidence.

    Returns
    -------
    ndarray of float64, shape (n,)
        1 for the best, unless no score is above the floor; 0 for the floor and where there is no evidence.

    Examples
    --------
    >>> normalise(np.array([2.0, 4.0, np.nan, 3.0])).tolist()
    [0.5, 1.0, 0.0, 0.75]
    >>> normalise(np.array([0.75, -0.25, 0.25])).tolist()
    [1.0, 0.0, 0.5]
    """
    low = min(0.0, float(np.fmin.reduce(scores, initial=np.inf)))
    high = float(np.fmax.reduce(scores, initial=-np.inf))
    if high <= low:
        return np.zeros(len(scores))
    out = (scores - low) / (high - low)
    out[np.isnan(out)] = 0.0
    return out


def reciprocal_ranks(scores: Scores, k: int) -> Scores:
    """Score by rank alone; equal scores share the best of their ranks.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
        NaN where there is no evidence.
    k : int
        The constant; larger means flatter.

    Returns
    -------
    ndarray of float64, shape (n,)
        1 for the best, falling with the rank; 0 where there is no evidence.

    Examples
    --------
    >>> reciprocal_ranks(np.array([5.0, np.nan, 7.0, 5.0]), k=1).round(2).tolist()
    [0.67, 0.0, 1.0, 0.67]
    """
    out = np.zeros(len(scores))
    known = np.flatnonzero(~np.isnan(scores))
    values = -scores[known]
    ranks = np.searchsorted(np.sort(values), values, side="left") + 1
    out[known] = (k + 1) / (k + ranks)
    return out


def proportions(weights: Mapping[str, float]) -> dict[str, float]:
    """Divide weights by their sum.

    Parameters
    ----------
    weights : mapping of str to float
        Above 0.

    Returns
    -------
    dict of str to float
        Adding up to 1.

    Examples
    --------
    >>> proportions({"dense": 1e308, "lexical": 1e308})
    {'dense': 0.5, 'lexical': 0.5}
    """
    # Against the largest first: the sum of weights that are huge or tiny is still a number.
    most = max(weights.values(), default=1.0)
    total = sum(weight / most for weight in weights.values())
    return {name: weight / most / total for name, weight in weights.items()}


def fuse(
    channels: Mapping[str, Scores], weights: Mapping[str, float], fusion: str, rrf_k: int
) -> tuple[dict[str, Scores], dict[str, float]]:
    """Weigh the channels against one another.

    Parameters
    ----------
    channels : mapping of str to ndarray, shape (n,)
        Scores of the candidates by channel, NaN where there is no evidence.
    weights : mapping of str to float
        By channel, above 0.
    fusion : {"score", "rrf"}
        How scores are made comparable.
    rrf_k : int
        The constant of reciprocal ranks.

    Returns
    -------
    shares : dict of str to ndarray, shape (n,)
        What each channel that spoke adds; their sum is the fused score, in [0, 1].
    weights : dict of str to float
        The weights of those channels, adding up to 1.

    Examples
    --------
    >>> shares, weights = fuse(
    ...     {"dense": np.array([0.2, 0.4]), "lexical": np.array([np.nan, 3.0])},
    ...     {"dense": 1, "lexical": 1}, "score", 60)
    >>> (shares["dense"] + shares["lexical"]).tolist()
    [0.25, 1.0]
    """
    spoke = {name: scores for name, scores in channels.items() if not np.isnan(scores).all()}
    shares, kept = {}, proportions({name: weights[name] for name in spoke})
    for name, scores in spoke.items():
        if name in ABSOLUTE:
            values = np.nan_to_num(scores, nan=0.0)
        else:
            values = normalise(scores) if fusion == "score" else reciprocal_ranks(scores, rrf_k)
        shares[name] = kept[name] * values
    return shares, kept
