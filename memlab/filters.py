"""Filters: what may be recalled, parsed once into one mask.

``where`` is a mapping of names to conditions, all of which must hold::

    {"type": "Decision", "importance": {"ge": 0.7}, "city": {"in": ["Oslo", "Porto"]}}
    {"or": [{"city": "Oslo"}, {"not": {"year": {"lt": 2024}}}]}

A name is a field of a memory or else a key of its metadata; ``a.b`` goes into nested objects, and ``metadata.type``
names a key that is spelt like a field. A bare value means ``eq``. Operators:

========================  =======================================================================
``eq ne``                 equal, not equal; 1 equals 1.0, but True isn't 1
``lt le gt ge``           order of numbers, of texts, of times; other pairs never match
``in nin``                equal to one of a list, to none of it
``contains``              a text holds this text (letter case and composition aside), a list this item
``exists``                True or False: whether the memory has it; None counts as not having it
``and or not``            lists of filters, and one filter
========================  =======================================================================

**Missing keys**: a memory that lacks the name fits ``ne``, ``nin`` and ``exists: False``, and nothing else;
``not`` turns any filter round, this included. Nothing compares with None: ask ``exists``.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from memlab.errors import FilterError, MemlabError
from memlab.records import FIELDS, TIMES
from memlab.text import check_text, match_key, tag_key, tag_matches
from memlab.times import utc
from memlab.values import FrozenDict, freeze

Mask = npt.NDArray[np.bool_]
# Path to codes by slot and the values they stand for: what the memory table offers.
Columns = Callable[[tuple[str, ...]], tuple[npt.NDArray[np.int32], list[Any]]]

OPERATORS = ("eq", "ne", "lt", "le", "gt", "ge", "in", "nin", "contains", "exists")
_NUMBER, _ORDERED = (int, float), ("lt", "le", "gt", "ge")


@dataclass(frozen=True, slots=True)
class Test:
    """One condition on one name.

    Parameters
    ----------
    path : tuple of str
        A field, or ``("metadata", key, ...)``.
    operator : str
        One of :data:`OPERATORS`.
    operand : object
        What to compare with.
    """

    __test__ = False  # pytest: not a test class

    path: tuple[str, ...]
    operator: str
    operand: Any

    def holds(self, value: Any, missing: bool) -> bool:
        """Say whether a value fits.

        Parameters
        ----------
        value : object
            The memory's value.
        missing : bool
            True where the memory has none.

        Returns
        -------
        bool
            Whether it fits.
        """
        if self.operator == "exists":
            return missing is not self.operand
        if missing:
            return self.operator in ("ne", "nin")
        return _HOLDS[self.operator](value, self.operand)


@dataclass(frozen=True, slots=True)
class Group:
    """Filters joined by a word.

    Parameters
    ----------
    word : {"and", "or", "not"}
        How.
    members : tuple
        The filters; one for ``not``.
    """

    word: str
    members: tuple["Test | Group", ...]


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return isinstance(a, bool) and isinstance(b, bool) and a == b
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    return bool(a == b)


def _comparable(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return False
    return any(isinstance(a, kind) and isinstance(b, kind) for kind in (_NUMBER, str, datetime))


def _contains(value: Any, wanted: Any) -> bool:
    if isinstance(value, str):
        return isinstance(wanted, str) and match_key(wanted) in match_key(value)
    return isinstance(value, list | tuple) and any(_equal(item, wanted) for item in value)


_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": _equal,
    "ne": lambda a, b: not _equal(a, b),
    "lt": lambda a, b: _comparable(a, b) and a < b,
    "le": lambda a, b: _comparable(a, b) and a <= b,
    "gt": lambda a, b: _comparable(a, b) and a > b,
    "ge": lambda a, b: _comparable(a, b) and a >= b,
    "in": lambda a, b: any(_equal(a, item) for item in b),
    "nin": lambda a, b: not any(_equal(a, item) for item in b),
    "contains": _contains,
}


def parse_where(where: Any) -> Test | Group:
    """Read a ``where`` filter.

    Parameters
    ----------
    where : mapping
        As this module's head says; not empty.

    Returns
    -------
    Test or Group
        For :func:`mask`.

    Raises
    ------
    FilterError
        If it can't be read; the message names the place and what is allowed.

    Examples
    --------
    >>> parse_where({"a.b": {"ge": 2}})
    Test(path=('metadata', 'a', 'b'), operator='ge', operand=2)
    """
    if not isinstance(where, Mapping):
        raise FilterError(f"where is a {type(where).__name__}; give a dict such as {{'type': 'Decision'}}")
    if not where:
        raise FilterError("where is empty, which could mean all or nothing; leave it out to ask for all")
    tests = [_parse_entry(name, condition) for name, condition in where.items()]
    return tests[0] if len(tests) == 1 else Group("and", tuple(tests))


def _parse_entry(name: Any, condition: Any) -> Test | Group:
    if not isinstance(name, str) or not name:
        raise FilterError(f"{name!r} isn't a name; name a field, or a key of the metadata")
    if name == "not":
        return Group("not", (parse_where(condition),))
    if name in ("and", "or"):
        if not isinstance(condition, list | tuple) or not condition:
            raise FilterError(f"{name!r} takes a list of filters, at least one; found {condition!r}")
        return Group(name, tuple(map(parse_where, condition)))
    path = _path(name)
    if not isinstance(condition, Mapping):
        return _parse_test(path, "eq", condition)
    tests = [_parse_test(path, word, operand) for word, operand in condition.items()]
    if not tests:
        raise FilterError(f"{name!r} has an empty condition; give an operator: {', '.join(OPERATORS)}")
    return tests[0] if len(tests) == 1 else Group("and", tuple(tests))


def _path(name: str) -> tuple[str, ...]:
    first, *rest = name.split(".")
    if first in FIELDS and first != "metadata":
        if rest:
            raise FilterError(f"{name!r}: {first} has no parts; for a key of the metadata write 'metadata.{name}'")
        if first in ("access_count", "accessed_at"):
            raise FilterError(f"{first} is telemetry, which filters don't see; select from store.memories")
        return (first,)
    keys = tuple(rest) if first == "metadata" else (first, *rest)
    if not keys or not all(keys):
        raise FilterError(f"{name!r} isn't a name; write a key of the metadata as 'a' or 'a.b'")
    return ("metadata", *keys)


def _parse_test(path: tuple[str, ...], word: Any, operand: Any) -> Test:
    name = ".".join(path)
    if word not in OPERATORS:
        raise FilterError(f"{name}: {word!r} isn't an operator; use one of {', '.join(OPERATORS)}")
    if word == "exists":
        if not isinstance(operand, bool):
            raise FilterError(f"{name}: exists takes True or False, not {operand!r}")
        return Test(path, word, operand)
    if word in ("in", "nin"):
        if not isinstance(operand, list | tuple | set | frozenset):
            raise FilterError(f"{name}: {word} takes a list, not {operand!r}")
        return Test(path, word, tuple(_operand(path, item) for item in operand))
    value = _operand(path, operand)
    if word in _ORDERED and (isinstance(value, bool) or not isinstance(value, str | int | float | datetime)):
        raise FilterError(f"{name}: {word} compares numbers, texts or times, not {operand!r}")
    if path == ("tags",) and word == "contains":
        raise FilterError("tags have their own filter: use tags=[...], tag_mode=, tag_match=, exclude_tags=")
    return Test(path, word, value)


def _operand(path: tuple[str, ...], value: Any) -> Any:
    name = ".".join(path)
    if value is None:
        raise FilterError(f"{name}: nothing compares with None; ask {{{name!r}: {{'exists': False}}}}")
    if path[0] in TIMES:
        try:
            return utc(value, what=name)
        except MemlabError as error:
            raise FilterError(f"{name}: {error}") from error
    if isinstance(value, Mapping) and path[0] != "metadata":
        raise FilterError(f"{name} is never an object; compare it with a plain value")
    return freeze(value, name, FilterError)


def mask(expression: Test | Group, columns: Columns, absent: Any) -> Mask:
    """Evaluate a filter for all slots.

    Parameters
    ----------
    expression : Test or Group
        What :func:`parse_where` gave.
    columns : callable
        Path to codes by slot and the values they stand for.
    absent : object
        What stands among the values where a memory lacks the name.

    Returns
    -------
    ndarray of bool
        By slot. Empty slots get some value; the caller leaves them out.
    """
    if isinstance(expression, Test):
        codes, values = columns(expression.path)
        fits = np.fromiter((expression.holds(v, v is absent) for v in values), dtype=bool, count=len(values))
        return fits[codes] if len(values) else np.zeros(len(codes), dtype=bool)
    members = [mask(member, columns, absent) for member in expression.members]
    if expression.word == "not":
        return ~members[0]
    joined: Mask = np.logical_and.reduce(members) if expression.word == "and" else np.logical_or.reduce(members)
    return joined


@dataclass(frozen=True, slots=True)
class Filter:
    """Everything that bounds a reading but its spaces, parsed.

    Parameters
    ----------
    where : Test or Group, optional
        On fields and metadata.
    tags, exclude_tags : tuple of str
        Keys of the tags wanted and unwanted.
    tag_mode : {"any", "all"}
        Whether one tag or each must be there.
    tag_match : {"exact", "prefix"}
        Whether a tag must equal the wanted one or start with it.
    since, until : datetime, optional
        Bounds on the event time, from since (inclusive) until until (exclusive).
    """

    where: Test | Group | None = None
    tags: tuple[str, ...] = ()
    tag_mode: str = "any"
    tag_match: str = "exact"
    exclude_tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    def tagged(self, tags: Iterable[str]) -> bool:
        """Say whether a memory's tags fit.

        Parameters
        ----------
        tags : iterable of str
            As written.

        Returns
        -------
        bool
            Whether they fit.
        """
        keys = [tag_key(tag) for tag in tags]
        found = [any(tag_matches(key, want, self.tag_match) for key in keys) for want in self.tags]
        unwanted = any(tag_matches(key, bad, self.tag_match) for bad in self.exclude_tags for key in keys)
        return not unwanted and (not found or (all(found) if self.tag_mode == "all" else any(found)))


def parse_filter(
    *,
    where: Any = None,
    tags: Any = None,
    tag_mode: str = "any",
    tag_match: str = "exact",
    exclude_tags: Any = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Filter:
    """Check everything that bounds a reading.

    Parameters
    ----------
    where : mapping, optional
        As this module's head says.
    tags, exclude_tags : str or iterable of str, optional
        Tags wanted and unwanted; letter case doesn't count, ``/`` and ``:`` are the same.
    tag_mode : {"any", "all"}, default "any"
        Whether one wanted tag is enough.
    tag_match : {"exact", "prefix"}, default "exact"
        How tags are compared, the unwanted ones too.
    since, until : datetime, optional
        Aware bounds on the event time, half-open.

    Returns
    -------
    Filter
        For :func:`memlab.table.Table`.

    Raises
    ------
    FilterError
        If a part can't be read.
    """
    if tag_mode not in ("any", "all"):
        raise FilterError(f"tag_mode is {tag_mode!r}; it is 'any' or 'all'")
    if tag_match not in ("exact", "prefix"):
        raise FilterError(f"tag_match is {tag_match!r}; it is 'exact' or 'prefix'")
    if since and until and since >= until:
        raise FilterError(f"since {since.isoformat()} isn't before until {until.isoformat()}; swap them")
    return Filter(
        None if where is None else parse_where(where),
        _tag_keys(tags, "tags"),
        tag_mode,
        tag_match,
        _tag_keys(exclude_tags, "exclude_tags"),
        since,
        until,
    )


def _tag_keys(tags: Any, what: str) -> tuple[str, ...]:
    if tags is None:
        return ()
    tags = [tags] if isinstance(tags, str) else tags
    if isinstance(tags, FrozenDict | Mapping) or not isinstance(tags, Iterable):
        raise FilterError(f"{what} is {tags!r}; give a list of tags")
    return tuple(tag_key(check_text(tag, f"an item of {what}", error=FilterError)) for tag in tags)
