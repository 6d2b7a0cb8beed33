"""What is asked of a store, and what is relevant to it: TREC's queries and qrels.

A :class:`Query` is one question. :class:`Qrels` grade *units*: memories, or what memories are folded into,
such as the sessions of a conversation. Both are frozen and checked when made.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from numbers import Integral
from types import MappingProxyType
from typing import Any

from memlab.errors import DatasetError
from memlab.text import check_text

NOTHING: Mapping[str, Any] = MappingProxyType({})
# What a query is as a row of a table; a slice of that name would hide a column.
QUERY_COLUMNS = ("query_id", "text", "space", "now", "answerable", "n_relevant", "note")


@dataclass(frozen=True, slots=True)
class Query:
    """One question to a store of memories.

    Parameters
    ----------
    query_id : str
        Names it within its benchmark.
    text : str
        What is asked.
    space : str, optional
        The space it looks in; None is the store's default space, ``"*"`` all of them.
    slices : mapping of str to str, default {}
        What it can be grouped by, such as ``{"category": "temporal"}``.
    now : datetime, optional
        When it is asked: the reference of "last week". Without it the time of the run is taken.
    answerable : bool, default True
        False where the right behaviour is to abstain. Such queries stand in slices, never in the mean of all.
    note : str, default ""
        For the reader: an answer, a reason.

    Raises
    ------
    DatasetError
        If a field isn't as described.

    Examples
    --------
    >>> Query("q1", "Where does Ana live?", slices={"kind": "single-hop"}).answerable
    True
    """

    query_id: str
    text: str
    space: str | None = None
    slices: Mapping[str, str] = field(default_factory=dict)
    now: datetime | None = None
    answerable: bool = True
    note: str = ""

    def __post_init__(self) -> None:
        fix = object.__setattr__
        check_text(self.query_id, "query_id", error=DatasetError)
        place = f"query {self.query_id!r}"
        check_text(self.text, f"the text of {place}", error=DatasetError)
        if self.space is not None:
            check_text(self.space, f"the space of {place}", error=DatasetError)
        if not isinstance(self.answerable, bool):
            raise DatasetError(f"{place}: answerable is {self.answerable!r}; it must be True or False")
        if self.now is not None:
            if not isinstance(self.now, datetime) or self.now.tzinfo is None:
                raise DatasetError(f"{place}: now is {self.now!r}; it must be a datetime with a zone")
            fix(self, "now", self.now.astimezone(UTC))
        for name, value in self.slices.items():
            check_text(name, f"the name of a slice of {place}", error=DatasetError)
            check_text(value, f"slice {name!r} of {place}", error=DatasetError)
            if name in QUERY_COLUMNS:
                raise DatasetError(f"{place}: a slice can't be called {name!r}; queries have that already")
        fix(self, "slices", MappingProxyType(dict(self.slices)))


@dataclass(frozen=True, slots=True, eq=False)
class Qrels(Mapping[str, Mapping[str, int]]):
    """Which units are relevant to which query, and how much.

    Parameters
    ----------
    grades : mapping of str to (mapping of str to int, or iterable of str)
        Query id to unit id to grade. Grades are whole numbers from 0 up: 0 is judged and not relevant, above
        0 is relevant. A list of ids grades each 1, and an id repeated in it counts once.

    Raises
    ------
    DatasetError
        If an id is blank or a grade is anything else; the message names query and unit.

    Examples
    --------
    >>> qrels = Qrels({"q1": {"m1": 2, "m2": 0}, "q2": ["m3", "m3"]})
    >>> qrels.relevant("q1"), qrels["q2"]["m3"], len(qrels)
    (('m1',), 1, 2)
    """

    grades: Mapping[str, Any]

    def __post_init__(self) -> None:
        grades = {}
        for query_id, units in self.grades.items():
            check_text(query_id, "a query id of the qrels", error=DatasetError)
            if isinstance(units, str) or not isinstance(units, Iterable):
                raise DatasetError(f"qrels of {query_id!r} are {units!r}; give {{unit: grade}} or a list of units")
            graded = units if isinstance(units, Mapping) else dict.fromkeys(units, 1)
            for unit in graded:
                check_text(unit, f"a unit of query {query_id!r} in the qrels", error=DatasetError)
            grades[query_id] = MappingProxyType({u: _grade(g, query_id, u) for u, g in graded.items()})
        object.__setattr__(self, "grades", MappingProxyType(grades))

    def __getitem__(self, query_id: str) -> Mapping[str, int]:
        units: Mapping[str, int] = self.grades[query_id]
        return units

    def __iter__(self) -> Iterator[str]:
        return iter(self.grades)

    def __len__(self) -> int:
        return len(self.grades)

    def relevant(self, query_id: str) -> tuple[str, ...]:
        """Units of a grade above 0.

        Parameters
        ----------
        query_id : str
            Any; one without qrels has no relevant units.

        Returns
        -------
        tuple of str
            Unit ids in the order given.
        """
        return tuple(unit for unit, grade in self.grades.get(query_id, NOTHING).items() if grade > 0)


def _grade(grade: Any, query_id: str, unit: str) -> int:
    if isinstance(grade, bool) or not isinstance(grade, Integral) or grade < 0:
        raise DatasetError(
            f"qrels: query {query_id!r} grades {unit!r} with {grade!r}; a grade is a whole number from 0 up"
        )
    return int(grade)
