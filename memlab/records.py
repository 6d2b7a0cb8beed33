"""The nouns a store holds: memories, associations and spaces.

All are frozen and checked when made, so that what exists is valid. A memory's plain form, a *row*, is a dict of
JSON values with times as whole microseconds since 1970 in UTC: the one codec behind the file's columns, the
change log and exports.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from memlab.errors import InvalidArgument, InvalidAssociation, InvalidMemory, MemlabError
from memlab.markup import table
from memlab.text import check_text, tag_key
from memlab.times import from_micros, to_micros, utc
from memlab.values import EMPTY, FrozenDict, distinct_texts, flag, freeze, share, thaw, whole

_Made = TypeVar("_Made")

DEFAULT_SPACE = "default"

# How a memory reads to an encoder and to the lexical index. Who said it, and when, in the text is worth more to
# dense recall than any other choice; the pattern is part of every vector's fingerprint.
TEMPLATE = "{role} ({date}): {content}"
# English whatever the process's locale, since the text decides the vector.
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory.

    Parameters
    ----------
    memory_id : str
        Names this memory for ever; any text that isn't blank.
    content : str
        What is remembered; any text that isn't blank, of any length.
    space : str, default "default"
        The name of the space it lives in.
    type : str, optional
        Its kind, such as ``"Decision"`` (see :data:`memlab.vocabulary.MEMORY_TYPES`) or a word of your own.
    tags : iterable of str, default ()
        Labels; ``project:x/y`` reads as a path. A tag given twice counts once, in its first spelling: letter
        case doesn't count, and ``/`` is the same as ``:``.
    importance, confidence : float, default 0.5 and 1.0
        From 0 to 1.
    metadata : mapping, default {}
        A JSON object, nesting allowed.
    role : str, optional
        Who says it: ``"user"``, ``"assistant"`` or a speaker's name.
    session_id : str, optional
        The conversation it belongs to.
    sequence : int, optional
        Its place in the session, from 0 or 1; neighbours differ by one.
    content_type : str, default "text"
        How the content is written, such as ``"markdown"``.
    source : str, optional
        Where it came from.
    happened_at : datetime, optional
        Event time: when what it tells happened.
    created_at, updated_at : datetime
        Record time: when it was written and last changed.
    valid_from, valid_until : datetime, optional
        From when, and until when (exclusive), it holds.
    archived, protected : bool, default False
        Put away; kept from forgetting.
    access_count : int, default 0
        How often it was recalled.
    accessed_at : datetime, optional
        When it was last recalled.
    aliases : iterable of str, default ()
        Ids of memories that were merged into it.

    Raises
    ------
    InvalidMemory
        If a field can't be stored; the message names it.
    TimeError
        If a time has no zone, or record time is missing.

    Examples
    --------
    >>> from datetime import datetime, timezone
    >>> now = datetime(2024, 5, 20, tzinfo=timezone.utc)
    >>> m = Memory(memory_id="m1", content="Ana moved to Oslo.", created_at=now, updated_at=now)
    >>> m.importance, m.event_time == now
    (0.5, True)
    """

    memory_id: str
    content: str
    space: str = DEFAULT_SPACE
    type: str | None = None
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    confidence: float = 1.0
    metadata: Mapping[str, Any] = EMPTY
    role: str | None = None
    session_id: str | None = None
    sequence: int | None = None
    content_type: str = "text"
    source: str | None = None
    happened_at: datetime | None = None
    created_at: datetime
    updated_at: datetime
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    archived: bool = False
    protected: bool = False
    access_count: int = 0
    accessed_at: datetime | None = None
    aliases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, check, optional in _CHECKS:
            given = getattr(self, name)
            if given is None and optional:
                continue
            checked = check(given, name)
            if checked is not given:  # writing to a frozen object is dear, and most values are as they should be
                object.__setattr__(self, name, checked)
        if self.valid_from and self.valid_until and self.valid_from >= self.valid_until:
            raise InvalidMemory(
                f"valid_from {self.valid_from.isoformat()} isn't before valid_until "
                f"{self.valid_until.isoformat()}; swap them or leave one out"
            )

    @property
    def event_time(self) -> datetime:
        """When it happened or, where that isn't known, when it was written."""
        return self.happened_at or self.created_at

    def _repr_html_(self) -> str:
        known = ((name, getattr(self, name)) for name in FIELDS)
        rows = [(name, value) for name, value in known if value not in (None, "", (), {}, 0, False)]
        return table(("field", "value"), rows, align=("left", "left"))

    @property
    def text(self) -> str:
        """What encoders and the lexical index read: ``role (8 May 2023): content``, unknown parts left out."""
        when = self.happened_at
        date = f"({when.day} {MONTHS[when.month - 1]} {when.year})" if when else ""
        head = " ".join(part for part in (self.role, date) if part)
        return f"{head}: {self.content}" if head else self.content


TIMES = ("happened_at", "created_at", "updated_at", "valid_from", "valid_until", "accessed_at")
FIELDS = tuple(f.name for f in dataclasses.fields(Memory))
# What a row of the file and of the log holds; counting accesses is telemetry and never touches a memory.
STORED = tuple(name for name in FIELDS if name not in ("access_count", "accessed_at"))


def _instant(value: Any, what: str) -> datetime:
    return utc(value, what=what)


def _object(value: Any, what: str, error: type[MemlabError]) -> FrozenDict:
    """Freeze a JSON object; one that is frozen was checked when it was."""
    if isinstance(value, FrozenDict):
        return value
    if not isinstance(value, Mapping):
        raise error(f"{what} is a {type(value).__name__}; it must be a dict (a JSON object)")
    frozen: FrozenDict = freeze(value, what, error)
    return frozen


# How each field of a memory is checked, and whether it may be None; in the order in which faults are named.
_CHECKS: tuple[tuple[str, Callable[[Any, str], Any], bool], ...] = (
    *((name, check_text, False) for name in ("memory_id", "content", "space", "content_type")),
    *((name, check_text, True) for name in ("type", "role", "session_id", "source")),
    *((name, _instant, name not in ("created_at", "updated_at")) for name in TIMES),
    *((name, share, False) for name in ("importance", "confidence")),
    *((name, flag, False) for name in ("archived", "protected")),
    ("tags", partial(distinct_texts, key=tag_key), False),
    ("aliases", partial(distinct_texts, key=str), False),
    ("sequence", whole, True),
    ("access_count", whole, False),
    ("metadata", partial(_object, error=InvalidMemory), False),
)


def _made(cls: Callable[..., _Made], row: Mapping[str, Any], times: tuple[str, ...], error: type[MemlabError]) -> _Made:
    """Make a record of a row; whatever a damaged row trips over is the one error that says so."""
    try:
        fields = dict(row)
        for name in times:
            if fields.get(name) is not None:
                fields[name] = from_micros(fields[name])
        return cls(**fields)
    except TypeError as problem:
        raise error(f"the row isn't as it was written ({problem}); restore it from a backup") from problem


def memory_row(memory: Memory) -> dict[str, Any]:
    """Turn a memory into its plain row.

    Parameters
    ----------
    memory : Memory
        The memory.

    Returns
    -------
    dict
        :data:`STORED` fields to JSON values, times as whole microseconds.

    Examples
    --------
    >>> from datetime import datetime, timezone
    >>> t = datetime(1970, 1, 1, 0, 0, 1, tzinfo=timezone.utc)
    >>> memory_row(Memory(memory_id="m", content="x", created_at=t, updated_at=t))["created_at"]
    1000000
    """
    row = {name: getattr(memory, name) for name in STORED}
    for name in TIMES:
        if row.get(name) is not None:
            row[name] = to_micros(row[name])
    row["tags"], row["aliases"] = list(memory.tags), list(memory.aliases)
    row["metadata"] = thaw(memory.metadata)
    return row


def memory_from(row: Mapping[str, Any]) -> Memory:
    """Make a memory of its row: the inverse of :func:`memory_row`.

    Parameters
    ----------
    row : mapping
        As :func:`memory_row` gives.

    Returns
    -------
    Memory
        Checked like any other.

    Raises
    ------
    InvalidMemory, TimeError
        If the row is damaged.

    Examples
    --------
    >>> memory_from({"memory_id": "m", "content": "x", "created_at": 1_000_000, "updated_at": 1_000_000}).content
    'x'
    """
    return _made(Memory, row, TIMES, InvalidMemory)


@dataclass(frozen=True, slots=True, kw_only=True)
class Association:
    """A typed, directed association of two memories of one space; the triple is its identity.

    Parameters
    ----------
    source : str
        The id of the memory it starts from.
    relation : str
        The name of a relation, such as ``"LEADS_TO"``.
    target : str
        The id of the memory it leads to; another than the source.
    strength : float, default 0.5
        From 0 to 1.
    properties : mapping, default {}
        Those that the relation lists.
    origin : {"authored", "derived"}, default "authored"
        Written by someone, or found by memlab.
    created_at, updated_at : datetime
        Record time.

    Raises
    ------
    InvalidAssociation
        If a field can't be stored, or both ends are the same.
    """

    source: str
    relation: str
    target: str
    strength: float = 0.5
    properties: Mapping[str, Any] = EMPTY
    origin: str = "authored"
    created_at: datetime
    updated_at: datetime

    def __post_init__(self) -> None:
        fix = object.__setattr__
        for name in ("source", "relation", "target"):
            fix(self, name, check_text(getattr(self, name), name, error=InvalidAssociation))
        if self.source == self.target:
            raise InvalidAssociation(f"{self.source!r} can't be associated with itself; give two memories")
        if self.origin not in ("authored", "derived"):
            raise InvalidAssociation(f"origin is {self.origin!r}; it is 'authored' or 'derived'")
        fix(self, "strength", share(self.strength, "strength", InvalidAssociation))
        for name in ("created_at", "updated_at"):
            fix(self, name, utc(getattr(self, name), what=name))
        fix(self, "properties", _object(self.properties, "properties", InvalidAssociation))

    @property
    def triple(self) -> tuple[str, str, str]:
        """Source, relation and target."""
        return self.source, self.relation, self.target


ASSOCIATION_FIELDS = tuple(f.name for f in dataclasses.fields(Association))


def association_row(association: Association) -> dict[str, Any]:
    """Turn an association into its plain row.

    Parameters
    ----------
    association : Association
        The association.

    Returns
    -------
    dict
        Field to JSON value, times as whole microseconds.
    """
    row = {name: getattr(association, name) for name in ASSOCIATION_FIELDS}
    row["properties"] = thaw(association.properties)
    row["created_at"], row["updated_at"] = to_micros(row["created_at"]), to_micros(row["updated_at"])
    return row


def association_from(row: Mapping[str, Any]) -> Association:
    """Make an association of its row: the inverse of :func:`association_row`.

    Parameters
    ----------
    row : mapping
        As :func:`association_row` gives.

    Returns
    -------
    Association
        Checked like any other.

    Raises
    ------
    InvalidAssociation, TimeError
        If the row is damaged.
    """
    return _made(Association, row, ("created_at", "updated_at"), InvalidAssociation)


@dataclass(frozen=True, slots=True)
class Space:
    """A wall around memories: nothing that is recalled, walked or counted crosses it.

    Parameters
    ----------
    space_id : str
        A UUID.
    name : str
        Unique among the spaces; upper and lower case differ.
    description : str, default ""
        What it is for.
    created_at : datetime, optional
        When it was made.

    Raises
    ------
    InvalidArgument
        If the id or the name is blank, or a text isn't valid Unicode.
    TimeError
        If the time has no zone.
    """

    space_id: str
    name: str
    description: str = ""
    created_at: datetime | None = None

    def __post_init__(self) -> None:
        check_text(self.space_id, "space_id", error=InvalidArgument)
        check_text(self.name, "a space's name", error=InvalidArgument)
        check_text(self.description, "a space's description", allow_blank=True, error=InvalidArgument)
        if self.created_at is not None:
            object.__setattr__(self, "created_at", utc(self.created_at, what="created_at"))
