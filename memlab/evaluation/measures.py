r"""Measures of a ranking against the graded units of a query.

A unit is *relevant* if its grade :math:`g` is above 0. With :math:`R` the relevant units of a query and
:math:`r_1, r_2, \ldots` the ranking:

===============  ====================================================================  =====================
name             value                                                                 ir_measures calls it
===============  ====================================================================  =====================
recall@k         share of :math:`R` among the first k                                  R@k
success@k        1 if any of :math:`R` is among the first k, else 0                    Success@k
all@k            1 if all of :math:`R` are among the first k, else 0                   (memlab's own)
nDCG@k, nDCG     :math:`\sum_i g(r_i) / \log_2(i + 1)` over the first k (or all),      nDCG@k, nDCG
                 divided by that of the best order of all graded units [1]_
MRR@k, MRR       1 / rank of the first of :math:`R` (among the first k), else 0        RR@k, RR
MAP@k, MAP       mean over :math:`R` of the precision at each one's rank; 0 for those  AP@k, AP
                 that aren't among the first k (or at all)
P@k              share of :math:`R` among the first k, of k                            P@k
judged@k         share of graded units (also of grade 0) among the first k, of those   Judged@k
                 there are
===============  ====================================================================  =====================

What other reports call "R@5" or "recall" can be any of the first three; that is why each is written with its own
name here. The values are computed by ``ir_measures`` [2]_ (trec_eval's code, but for the table's third row), which
is told the ranks, not the scores, so that memlab's order of ties is the one that counts.

References
----------
.. [1] K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002; with
   linear gain, as in trec_eval.
.. [2] S. MacAvaney, C. Macdonald, I. Ounis, "Streamlining evaluation with ir-measures", ECIR 2022.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from memlab.errors import InvalidArgument


@dataclass(frozen=True, slots=True)
class Kind:
    """A row of the table: its name, what ir_measures calls it, and whether it needs a cut-off."""

    name: str
    theirs: str | None
    needs_k: bool = True


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.name.lower(): kind
        for kind in (
            Kind("recall", "R"),
            Kind("success", "Success"),
            Kind("all", None),
            Kind("nDCG", "nDCG", needs_k=False),
            Kind("MRR", "RR", needs_k=False),
            Kind("MAP", "AP", needs_k=False),
            Kind("P", "P"),
            Kind("judged", "Judged"),
        )
    }
)
DEFAULT_MEASURES = ("recall@5", "recall@10", "nDCG@10")
WRITTEN = re.compile(r"([A-Za-z]+)(?:@([1-9][0-9]{0,8}))?")


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure with its cut-off.

    Parameters
    ----------
    kind : Kind
        The row of the table.
    k : int or None
        The cut-off; None looks at the whole ranking.
    """

    kind: Kind
    k: int | None

    @property
    def name(self) -> str:
        """How it is written: ``recall@10``."""
        return self.kind.name if self.k is None else f"{self.kind.name}@{self.k}"

    def __str__(self) -> str:
        return self.name


def parse_measure(text: str) -> Measure:
    """Read a measure's name.

    Parameters
    ----------
    text : str
        A name of the table above, whatever its letter case, with its cut-off.

    Returns
    -------
    Measure
        It prints as the name is written in the table.

    Raises
    ------
    InvalidArgument
        If there is no such measure, or it needs a cut-off and has none.

    Examples
    --------
    >>> parse_measure("ndcg@10").name, parse_measure("MRR").k
    ('nDCG@10', None)
    """
    found = WRITTEN.fullmatch(text) if isinstance(text, str) else None
    kind = KINDS.get(found[1].lower()) if found else None
    if found is None or kind is None:
        known = ", ".join(f"{kind.name}@k" for kind in KINDS.values())
        raise InvalidArgument(f"there is no measure {text!r}; there are {known}, and nDCG, MRR and MAP without @k")
    if found[2] is None and kind.needs_k:
        raise InvalidArgument(f"{text!r} needs a cut-off, such as {kind.name}@10")
    return Measure(kind, None if found[2] is None else int(found[2]))


def score(
    rankings: Mapping[str, Sequence[str]],
    grades: Mapping[str, Mapping[str, int]],
    measures: Iterable[Measure],
) -> dict[str, dict[str, float]]:
    """Take measures of rankings, query by query.

    Parameters
    ----------
    rankings : mapping of str to sequence of str
        Query id to unit ids, best first, each once. Queries without grades aren't looked at.
    grades : mapping of str to (mapping of str to int)
        Query id to unit id to grade; each query has at least one grade above 0.
    measures : iterable of Measure
        What to take.

    Returns
    -------
    dict of str to (dict of str to float)
        Measure's name to query id to value, for every query that has grades. A query without a ranking, or with
        an empty one, has 0 in every measure.

    Examples
    --------
    >>> score({"q1": ["b", "a"]}, {"q1": {"a": 1, "c": 1}, "q2": {"a": 1}}, [parse_measure("recall@2")])
    {'recall@2': {'q1': 0.5, 'q2': 0.0}}
    """
    measures = tuple(measures)
    values = {measure.name: dict.fromkeys(grades, 0.0) for measure in measures}
    theirs: dict[Any, str] = {}
    for measure in measures:
        if measure.kind.theirs is not None:
            theirs[_theirs(measure)] = measure.name
        else:
            for query_id, units in grades.items():
                wanted = {unit for unit, grade in units.items() if grade > 0}
                values[measure.name][query_id] = float(wanted <= set(rankings.get(query_id, ())[: measure.k]))
    # Empty rankings are left out: one provider divides by their length.
    ranked = {
        query_id: {unit: -float(rank) for rank, unit in enumerate(rankings[query_id], 1)}
        for query_id in grades
        if rankings.get(query_id)
    }
    if theirs and ranked:
        import ir_measures

        for found in ir_measures.iter_calc(list(theirs), {q: dict(grades[q]) for q in ranked}, ranked):
            values[theirs[found.measure]][found.query_id] = float(found.value)
    return values


def _theirs(measure: Measure) -> Any:
    """The measure as an object of ir_measures."""
    import ir_measures

    found = getattr(ir_measures, str(measure.kind.theirs))
    return found if measure.k is None else found @ measure.k
