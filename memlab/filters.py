"""Filters: what may be recalled, parsed once into one mask.

``where`` is a mapping of names to conditions, all of which must hold::

    {"type": "Decision", "importance": {"ge": 0.7}, "city": {"in": ["Oslo", "Porto"]}}
    {"or": [{"city": "Oslo"}, {"not": {"year": {"lt": 2024}}}]}

A name is a field of a memory or else a key of its metadata; ``a.b`` goes into nested objects (a key that has a
dot or is empty can't be named), and ``metadata.type`` or ``metadata.not`` names a key that is spelt like a field
or a word of this language. A bare value means ``eq``; to compare with an object write ``{"eq": {...}}``. Operators:

========================  =======================================================================
``eq ne``                 equal, not equal; 1 equals 1.0, but True isn't 1
``lt le gt ge``           order of numbers, of texts, of times; other pairs never match
``in nin``                equal to one of a list, to none of it; of an empty list: never, always
``contains``              a text holds this text (letter case and composition aside), a list this item
``exists``                True or False: whether the memory has it; None isn't had, an empty list is
``and or not``            lists of filters, and one filter
========================  =======================================================================

**Missing keys**: a memory that lacks the name fits ``ne``, ``nin`` and ``exists: False``, and nothing else;
``not`` turns any filter round, this included. Nothing compares with None: ask ``exists``.

**Fields**: times are compared with aware datetimes or ISO 8601 texts with an offset. ``tags`` and ``aliases`` are
lists, for ``contains``; a tag is compared by its key (``Project/Tide`` is ``project:tide``).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from memlab.errors import FilterError, MemlabError, shown
from memlab.records import FIELDS, TIMES
from memlab.text import check_text, match_key, tag_key, tag_matches
from memlab.times import utc
from memlab.values import MAX_DEPTH, freeze

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
        What to compare with; a tag's key where a tag is looked for.
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
        if self.path == ("tags",) and self.operator == "contains":
            return self.operand in map(tag_key, value)
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
    return _parse(where, MAX_DEPTH)


def _parse(where: Any, depth: int) -> Test | Group:
    if not isinstance(where, Mapping):
        raise FilterError(f"where is a {type(where).__name__}; give a dict such as {{'type': 'Decision'}}")
    if not where:
        raise FilterError("where is empty, which could mean all or nothing; leave it out to ask for all")
    if depth == 0:
        raise FilterError(f"where is nested deeper than {MAX_DEPTH} levels; flatten it")
    return _all([_parse_entry(name, condition, depth - 1) for name, condition in where.items()])


def _all(members: list[Test | Group]) -> Test | Group:
    return members[0] if len(members) == 1 else Group("and", tuple(members))


def _parse_entry(name: Any, condition: Any, depth: int) -> Test | Group:
    if not isinstance(name, str) or not name:
        raise FilterError(f"{shown(name)} isn't a name; name a field, or a key of the metadata")
    check_text(name, "a name", allow_blank=True, error=FilterError)
    if name == "not":
        return Group("not", (_parse(condition, depth),))
    if name in ("and", "or"):
        if not isinstance(condition, list | tuple) or not condition:
            raise FilterError(f"{name!r} takes a list of filters, at least one; found {shown(condition)}")
        return Group(name, tuple(_parse(member, depth) for member in condition))
    path = _path(name)
    if not isinstance(condition, Mapping):
        return _parse_test(path, "eq", condition)
    if not condition:
        raise FilterError(f"{name!r} has an empty condition; give an operator: {', '.join(OPERATORS)}")
    return _all([_parse_test(path, word, operand) for word, operand in condition.items()])


def _path(name: str) -> tuple[str, ...]:
    if name.startswith("$") or name.lower() in ("and", "or", "not"):
        # Other systems write $or or OR; taken as a key of the metadata it would silently match nothing.
        raise FilterError(
            f"{name!r} isn't a name; the words are and, or, not and {', '.join(OPERATORS)}, "
            f"and a key of the metadata so spelt is 'metadata.{name}'"
        )
    first, *rest = name.split(".")
    if first in FIELDS and first != "metadata":
        return _field(first, name, rest)
    keys = tuple(rest) if first == "metadata" else (first, *rest)
    if not keys or not all(keys):
        raise FilterError(f"{name!r} isn't a name; write a key of the metadata as 'a' or 'a.b'")
    return ("metadata", *keys)


def _field(first: str, name: str, rest: list[str]) -> tuple[str]:
    if rest:
        raise FilterError(f"{name!r}: {first} has no parts; for a key of the metadata write 'metadata.{name}'")
    if first in ("access_count", "accessed_at"):
        raise FilterError(f"{first} is telemetry, which filters don't see; select from store.memories")
    return (first,)


def _parse_test(path: tuple[str, ...], word: Any, operand: Any) -> Test:
    name = ".".join(path)
    if not isinstance(word, str) or word not in OPERATORS:
        raise FilterError(
            f"{name}: {shown(word)} isn't an operator; use one of {', '.join(OPERATORS)}, "
            "or {'eq': {...}} to compare with an object"
        )
    if word == "exists":
        if not isinstance(operand, bool | np.bool_):
            raise FilterError(f"{name}: exists takes True or False, not {shown(operand)}")
        return Test(path, word, bool(operand))
    if word in ("in", "nin"):
        if not isinstance(operand, list | tuple | set | frozenset):
            raise FilterError(f"{name}: {word} takes a list, not {shown(operand)}")
        return Test(path, word, tuple(_operand(path, word, item) for item in operand))
    value = _operand(path, word, operand)
    if word in _ORDERED and (isinstance(value, bool) or not isinstance(value, str | int | float | datetime)):
        raise FilterError(f"{name}: {word} compares numbers, texts or times, not {shown(operand)}")
    return Test(path, word, value)


def _operand(path: tuple[str, ...], word: str, value: Any) -> Any:
    name = ".".join(path)
    if value is None:
        raise FilterError(f"{name}: nothing compares with None; ask {{{name!r}: {{'exists': False}}}}")
    if path[0] in TIMES:
        try:
            return utc(value, what=name)
        except MemlabError as error:
            raise FilterError(str(error)) from error
    if path[0] in ("tags", "aliases") and isinstance(value, str) != (word == "contains"):
        raise FilterError(f"{name} is a list of texts, so {word} {shown(value)} never holds; ask contains 'a text'")
    if isinstance(value, Mapping) and path[0] != "metadata":
        raise FilterError(f"{name} is never an object; compare it with a plain value")
    frozen = freeze(value, name, FilterError)
    return tag_key(frozen) if path == ("tags",) and word == "contains" else frozen


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
    joined: Mask = (np.logical_or if expression.word == "or" else np.logical_and).reduce(members)
    return ~joined if expression.word == "not" else joined


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
        """Say whether a memory's tags, as written, fit: the wanted ones are there, and no unwanted one."""
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
    TimeError
        If a bound has no zone.

    Examples
    --------
    >>> parse_filter(tags="Project/Tide").tagged(["project:tide"])
    True
    """
    if not isinstance(tag_mode, str) or tag_mode not in ("any", "all"):
        raise FilterError(f"tag_mode is {shown(tag_mode)}; it is 'any' or 'all'")
    if not isinstance(tag_match, str) or tag_match not in ("exact", "prefix"):
        raise FilterError(f"tag_match is {shown(tag_match)}; it is 'exact' or 'prefix'")
    since = None if since is None else utc(since, what="since")
    until = None if until is None else utc(until, what="until")
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
    if isinstance(tags, Mapping | bytes) or not isinstance(tags, Iterable):
        raise FilterError(f"{what} is {shown(tags)}; give a tag, or a list of tags")
    return tuple(tag_key(check_text(tag, f"an item of {what}", error=FilterError)) for tag in tags)
