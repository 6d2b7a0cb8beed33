"""Evidence: what is said of each hit, and how relevant it is.

**Relevance** says how well a memory fits its query on a scale that means the same across queries, so that a
threshold can cut on it. With c the cosine (0 where negative or unknown) and v the coverage, the share of the
query's idf that the memory's words hold,

    relevance = 1 - (1 - c^2) (1 - v^2)

It is 1 where every word of the query is there or the vectors are the same, it grows with either, and one strong
reason is enough. The squares keep the low cosines that any two texts have from adding up. It is a documented map,
not yet a calibrated probability, and it is never stretched by what else was found.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from memlab.phrases import Found
from memlab.recall.channels import Parts
from memlab.recalls import Part
from memlab.records import Memory
from memlab.text import snippet

Scores = npt.NDArray[np.float64]


def relevance(cosine: Scores | None, coverage: Scores | None) -> Scores:
    """Say how relevant memories are, on one scale for all queries.

    Parameters
    ----------
    cosine : ndarray of float64, shape (n,), optional
        NaN where unknown; None where the method has no dense channel.
    coverage : ndarray of float64, shape (n,), optional
        In [0, 1]; None where the method has no lexical channel.

    Returns
    -------
    ndarray of float64, shape (n,)
        In [0, 1].

    Raises
    ------
    ValueError
        If both are None.

    Examples
    --------
    >>> relevance(np.array([0.6, -0.2]), np.array([0.5, 0.0])).round(2).tolist()
    [0.52, 0.0]
    """
    if cosine is None and coverage is None:
        raise ValueError("relevance needs cosine or coverage; both are None")
    doubt: Scores | float = 1.0
    if cosine is not None:
        doubt = doubt * (1 - np.square(np.minimum(np.fmax(cosine, 0), 1)))  # fmax takes 0 before NaN
    if coverage is not None:
        doubt = doubt * (1 - np.square(coverage))
    return np.asarray(1 - doubt, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Witness:
    """Finds the words for one query's evidence.

    Each channel's detail has the sentence ``says``. Dense adds ``window`` for a memory that is encoded in several:
    the characters of its content that fit best. Lexical adds ``terms``, the query's words and what each adds;
    temporal ``phrases``, the dates of the query.

    Parameters
    ----------
    parts : Parts
        The store's.
    query : str
        The query.
    vector : ndarray of float32, optional
        Its embedding.
    phrases : list of Found
        Its date phrases.
    """

    parts: Parts
    query: str
    vector: npt.NDArray[np.float32] | None
    phrases: list[Found]

    def part(self, channel: str, slot: int, score: float, share: float) -> Part:
        """Say what a channel says of a memory.

        Parameters
        ----------
        channel : str
            The channel.
        slot : int
            The memory's slot.
        score : float
            The channel's own score.
        share : float
            What it adds to the hit's score.

        Returns
        -------
        Part
            With its evidence.
        """
        memory = self.parts.table.at(slot)
        detail = getattr(self, f"_{channel}")(memory, slot)
        return Part(round(float(score), 6), round(float(share), 9), detail)

    def _dense(self, memory: Memory, slot: int) -> dict[str, Any]:
        span = None if self.vector is None else self.parts.dense[memory.space].best_window(self.vector, slot)
        if span is None:
            return {"says": "cosine"}
        # Windows count from the rendered text; a reader has the content in hand.
        before = len(memory.text) - len(memory.content)
        window = max(span[0] - before, 0), max(span[1] - before, 0)
        said = snippet(memory.content[window[0] : window[1]], 60)
        return {
            "says": f"cosine of its best window, characters {window[0]} to {window[1]}, {said!r}",
            "window": window,
        }

    def _lexical(self, memory: Memory, slot: int) -> dict[str, Any]:
        found = self.parts.lexical[memory.space].explain(self.query, slot)
        words = ", ".join(f"{term.surface} ({term.contribution:.2f})" for term in found)
        terms = {term.surface: round(term.contribution, 6) for term in found}
        return {"says": f"BM25 of {words}", "terms": terms}

    def _temporal(self, memory: Memory, slot: int) -> dict[str, Any]:
        asked = ", ".join(f"{phrase.text!r} = {phrase.interval}" for phrase in self.phrases)
        known = "happened" if memory.happened_at else "was written"
        return {"says": f"{asked}; it {known} {memory.event_time.date().isoformat()}", "phrases": asked}

    def _salience(self, memory: Memory, slot: int) -> dict[str, Any]:
        return {
            "says": f"importance {memory.importance:.2f}, confidence {memory.confidence:.2f}, "
            f"{memory.event_time.date().isoformat()}"
        }
