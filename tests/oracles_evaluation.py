"""The measures again, as slow and plain as their definitions."""

import math
from collections.abc import Mapping, Sequence


def measure(name: str, ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """One measure of one ranking, straight from the table in `memlab.evaluation.measures`."""
    kind, _, cut = name.partition("@")
    k = int(cut) if cut else len(ranking)
    top = list(ranking)[:k]
    relevant = {unit for unit, grade in grades.items() if grade > 0}
    found = [unit for unit in top if unit in relevant]
    if kind == "recall":
        return len(found) / len(relevant)
    if kind == "success":
        return 1.0 if found else 0.0
    if kind == "all":
        return 1.0 if len(found) == len(relevant) else 0.0
    if kind == "P":
        return len(found) / k
    if kind == "judged":
        return sum(unit in grades for unit in top) / len(top) if top else 0.0
    if kind == "MRR":
        return 1 / (1 + top.index(found[0])) if found else 0.0
    if kind == "MAP":
        hits = [place for place, unit in enumerate(top, 1) if unit in relevant]
        return sum(count / place for count, place in enumerate(hits, 1)) / len(relevant)
    if kind == "nDCG":
        ideal = sorted(grades.values(), reverse=True)[: k if cut else None]
        return dcg([grades.get(unit, 0) for unit in top]) / dcg(ideal)
    raise ValueError(name)


def dcg(gains: Sequence[int]) -> float:
    """Gains, each divided by the logarithm of its rank plus one."""
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))
