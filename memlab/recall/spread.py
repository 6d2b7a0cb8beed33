"""Spread: evidence that flows from strong memories to those beside them.

Two kinds of beside. **Session neighbours**: in a conversation the answer often stands in the turn after the one
that matches, so each turn gains a share of the scores of the turns right before and after it. **Associations**:
from the best memories, evidence flows over one association,

    gain(d) = share * max over seeds s and associations s - d of  score(s) * strength * weight(relation)

and the association that gave most becomes the hit's path. Only downhill: a seed lends to those it outranks, so
that a path leads from a stronger hit. Neither kind brings in what the filters cut.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from memlab.recalls import Step
from memlab.records import Association
from memlab.vocabulary import Relation

Scores = npt.NDArray[np.float64]
SEEDS = 30  # memories that evidence flows from


def to_neighbours(
    scores: Scores,
    slots: npt.NDArray[np.intp],
    place: npt.NDArray[np.intp],
    adjacent: Sequence[npt.NDArray[np.int64]],
    share: float,
) -> Scores:
    """Let turns lend their neighbours in the session a share of their score.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
        What the candidates may lend of: their fused scores, 0 without evidence of the query.
    slots : ndarray of int, shape (n,)
        Their slots.
    place : ndarray of int, by slot
        A slot's place among the candidates, -1 for none; its last entry, which stands for "no slot", is -1.
    adjacent : sequence of ndarray of int64, by slot
        The turns right before and right after, -1 for none.
    share : float
        How much of a neighbour's score is added.

    Returns
    -------
    ndarray of float64, shape (n,)
        What each candidate gains.
    """
    padded = np.append(scores, 0.0)  # place -1 reads the 0 at the end
    gain = np.zeros(len(scores))
    for side in adjacent:
        gain += share * padded[place[side[slots]]]
    return gain


def over_associations(
    scores: Scores,
    seeds: Sequence[int],
    name: Callable[[int], str],
    find: Callable[[str], int],
    touching: Callable[[str], list[Association]],
    relations: Mapping[str, Relation],
    share: float,
) -> tuple[Scores, dict[int, Step]]:
    """Let the best memories lend those associated with them a share of their score.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
        Fused scores of the candidates.
    seeds : sequence of int
        Places of the candidates that lend, best first.
    name : callable
        Place to memory id.
    find : callable
        Memory id to place, -1 where it is no candidate.
    touching : callable
        Memory id to its associations.
    relations : mapping of str to Relation
        For the weights.
    share : float
        How much of a seed's score may flow.

    Returns
    -------
    gain : ndarray of float64, shape (n,)
        What each candidate gains.
    paths : dict of int to Step
        By place: the association that gave it most; of equals the one whose triple sorts first.
    """
    gain = np.zeros(len(scores))
    paths: dict[int, Step] = {}
    for at in seeds:
        here = name(at)
        for association in touching(here):
            there = find(association.target if association.source == here else association.source)
            lent = share * scores[at] * association.strength * relations[association.relation].weight
            if there < 0 or scores[there] >= scores[at] or lent <= 0 or lent < gain[there]:
                continue
            step = Step(*association.triple, start=here)
            # Of equal gifts the triple that sorts first, whatever the order in which they were written.
            if lent > gain[there] or _triple(step) < _triple(paths[there]):
                gain[there], paths[there] = lent, step
    return gain, paths


def _triple(step: Step) -> tuple[str, str, str]:
    return step.source, step.relation, step.target
