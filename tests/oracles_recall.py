"""Slow, obvious twins of the recall room: lists, dictionaries and loops, no arrays."""

import math
from collections.abc import Callable, Mapping, Sequence

from oracles_lexical import PlainBM25

from memlab.records import Memory
from memlab.terms import Analyser

Channel = Sequence[float | None]


def plain_normalise(scores: Channel) -> list[float]:
    """Stretch the known scores over [0, 1] from the lower of 0 and the least."""
    known = [score for score in scores if score is not None]
    low, high = min([0.0, *known]), max(known, default=0.0)
    return [0.0 if score is None or high <= low else (score - low) / (high - low) for score in scores]


def plain_ranks(scores: Channel, k: int) -> list[float]:
    """Reciprocal ranks, counting for each score how many are better."""
    known = [score for score in scores if score is not None]
    better = [None if score is None else sum(other > score for other in known) for score in scores]
    return [0.0 if n is None else (k + 1) / (k + 1 + n) for n in better]


def plain_fuse(channels: Mapping[str, Channel], weights: Mapping[str, float], fusion: str, k: int) -> list[float]:
    """The weighted mean of the channels that speak."""
    spoke = {name: scores for name, scores in channels.items() if any(score is not None for score in scores)}
    total = sum(weights[name] for name in spoke)
    fused = [0.0] * len(next(iter(channels.values())))
    for name, scores in spoke.items():
        if name in ("temporal", "salience"):
            values = [score or 0.0 for score in scores]
        else:
            values = plain_normalise(scores) if fusion == "score" else plain_ranks(scores, k)
        fused = [sum_ + weights[name] / total * value for sum_, value in zip(fused, values, strict=True)]
    return fused


def plain_mmr(
    scores: Sequence[float], vectors: Sequence[Sequence[float]], ids: Sequence[str], k: int, weight: float
) -> list[int]:
    """Maximal marginal relevance, every likeness counted anew for every pick."""
    low, high = min(scores), max(scores)
    stretched = [(score - low) / (high - low) if high > low else 1.0 for score in scores]
    left, picked = list(range(len(scores))), []

    def value(at: int) -> float:
        alike = [math.fsum(a * b for a, b in zip(vectors[at], vectors[p], strict=True)) for p in picked]
        return (1 - weight) * stretched[at] - weight * max([0.0, *alike])

    while left and len(picked) < k:
        # Rounded, since the twin adds up in another order: what is equal must tie.
        best = min(left, key=lambda at: (-round(value(at), 5), -scores[at], ids[at]))
        left.remove(best)
        picked.append(best)
    return picked


def plain_heads(start: str, following: Mapping[str, Sequence[str]], active: Callable[[str], bool]) -> set[str]:
    """What stands for a memory: of the active ones it leads to, those from which every other leads back."""
    reach = reachable(start, following)
    alive = {there for there in reach if active(there)}
    final = {x for x in alive if all(x in reachable(y, following) for y in reachable(x, following) if active(y))}
    # Those that lead to each other tie: of each such ring the first.
    return {min(y for y in final if y in reachable(x, following)) for x in final}


def reachable(start: str, following: Mapping[str, Sequence[str]]) -> set[str]:
    """A memory and all that it leads to."""
    seen = {start}
    while more := {there for here in seen for there in following.get(here, ())} - seen:
        seen |= more
    return seen


def plain_closeness(event_time: int, intervals: Sequence[tuple[int | None, int | None]]) -> float | None:
    """Nearness of one time to the nearest of some spans, in microseconds."""
    day = 86_400_000_000
    best = None
    for start, end in intervals:
        if start is not None and event_time < start:
            far = start - event_time
        elif end is not None and event_time >= end:
            far = event_time - (end - 1)
        else:
            far = 0
        scale = 90 * day if start is None or end is None else min(max(end - start, day), 90 * day)
        best = max(best or 0.0, math.exp(-far / scale))
    return best if best is not None and best >= 0.001 else None


def plain_lexical(query: str, memories: Sequence[Memory]) -> list[float | None]:
    """BM25 of each memory among those of its own space, whatever else is filtered."""
    analyser = Analyser()
    terms = [term for term, _ in analyser.query_terms(query)]
    scores: dict[str, float | None] = {}
    for space in {memory.space for memory in memories}:
        here = [memory for memory in memories if memory.space == space]
        model = PlainBM25({row: analyser.terms(memory.text) for row, memory in enumerate(here)})
        for row, memory in enumerate(here):
            scores[memory.memory_id] = math.fsum(model.contribution(term, row) for term in terms) or None
    return [scores[memory.memory_id] for memory in memories]


def plain_dense(query: Sequence[float], vectors: Sequence[Sequence[float]]) -> list[float | None]:
    """Cosines of unit vectors, None for a zero one."""
    if not any(query):
        return [None] * len(vectors)
    return [math.fsum(a * b for a, b in zip(query, v, strict=True)) if any(v) else None for v in vectors]
