"""The types of memories and the relations between them: one table for checks, schemas, docs and colours.

Colours are the eight of Okabe and Ito [1]_, which people with the common kinds of colour blindness can tell
apart; a dash pattern says the same again for those who can't.

References
----------
.. [1] M. Okabe and K. Ito, "Color Universal Design", 2008, https://jfly.uni-koeln.de/color/
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from memlab.errors import InvalidAssociation, shown
from memlab.text import check_text
from memlab.values import FrozenDict, distinct_texts, freeze, share

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE, GREY = "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#7F7F7F"

SOLID: tuple[int, ...] = ()
DASHED, DOTTED, LONG, MIXED = (6, 4), (2, 3), (12, 4), (10, 4, 2, 4)

# What a property may hold, and how a message names it.
PROPERTY_KINDS = MappingProxyType(
    {
        "role": "text",
        "reason": "text",
        "context": "text",
        "timestamp": "text",
        "confidence": "share",
        "resolution": "text",
        "observations": "texts",
        "pattern_type": "text",
        "transformation": "text",
        "kind": "text",
    }
)


@dataclass(frozen=True, slots=True)
class MemoryType:
    """A kind of memory, with its meaning and its colour in pictures.

    Parameters
    ----------
    name : str
        As it is written in a memory's ``type``.
    meaning : str
        One phrase.
    colour : str
        ``#RRGGBB``.
    """

    name: str
    meaning: str
    colour: str


@dataclass(frozen=True, slots=True)
class Relation:
    """A kind of association: what it says of source and target, what it may carry, how it is drawn.

    Parameters
    ----------
    name : str
        Upper case, as it is stored.
    label : str
        How it reads between source and target: "source *leads to* target".
    colour : str, default grey
        ``#RRGGBB``.
    dash : tuple of int, default ()
        Lengths of stroke and gap in pixels; empty for a solid line.
    properties : tuple of str, default ()
        The properties an association of this relation may have.
    authorable : bool, default True
        False where memlab derives it and no person or agent may write it.
    supersedes : bool, default False
        True where one end makes the other a thing of the past.
    weight : float, default 1.0
        How much evidence spreads along it in recall, from 0 (none) to 1.
    """

    name: str
    label: str
    colour: str = GREY
    dash: tuple[int, ...] = SOLID
    properties: tuple[str, ...] = ()
    authorable: bool = True
    supersedes: bool = False
    weight: float = 1.0


def _table(*rows: Any) -> MappingProxyType[str, Any]:
    return MappingProxyType({row.name: row for row in rows})


MEMORY_TYPES: MappingProxyType[str, MemoryType] = _table(
    MemoryType("Decision", "a choice that was made", BLUE),
    MemoryType("Pattern", "something that keeps happening", GREEN),
    MemoryType("Preference", "what someone likes better", PURPLE),
    MemoryType("Style", "how someone does things", YELLOW),
    MemoryType("Habit", "what someone does regularly", ORANGE),
    MemoryType("Insight", "something understood", VERMILION),
    MemoryType("Context", "what was the case", SKY),
)

RELATIONS: MappingProxyType[str, Relation] = _table(
    Relation("RELATES_TO", "relates to", GREY),
    Relation("LEADS_TO", "leads to", BLUE),
    Relation("OCCURRED_BEFORE", "occurred before", SKY, DOTTED),
    Relation("PREFERS_OVER", "is preferred over", PURPLE, SOLID, ("reason", "context")),
    Relation("EXEMPLIFIES", "is an example of", GREEN, DASHED, ("confidence", "pattern_type")),
    Relation("CONTRADICTS", "contradicts", VERMILION, DASHED, ("reason", "resolution")),
    Relation("REINFORCES", "reinforces", GREEN, SOLID, ("observations",)),
    Relation("INVALIDATED_BY", "is invalidated by", VERMILION, SOLID, ("reason", "timestamp"), supersedes=True),
    Relation("EVOLVED_INTO", "evolved into", ORANGE, SOLID, ("reason", "confidence"), supersedes=True),
    Relation("DERIVED_FROM", "is derived from", ORANGE, DASHED, ("confidence", "transformation")),
    Relation("PART_OF", "is part of", PURPLE, LONG, ("role", "context")),
    Relation("SIMILAR_TO", "is similar to", GREY, DOTTED, authorable=False),
    Relation("PRECEDED_BY", "is preceded by", SKY, LONG, authorable=False),
    Relation("EXPLAINS", "explains", BLUE, DASHED, authorable=False),
    Relation("SHARES_THEME", "shares a theme with", YELLOW, DOTTED, authorable=False),
    Relation("PARALLEL_CONTEXT", "has a parallel context with", YELLOW, DASHED, authorable=False),
    Relation("DISCOVERED", "was found to go with", BLACK, MIXED, ("kind",), authorable=False),
)

RELATION_NAME = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")


def custom_relation(name: str, label: str | None = None, **options: Any) -> Relation:
    """Make a relation of a researcher's own.

    Parameters
    ----------
    name : str
        Upper case words joined by ``_``, at most 64 characters, none of memlab's own names.
    label : str, optional
        How it reads between source and target; by default the name in lower case.
    **options : object
        ``colour``, ``dash``, ``properties`` and ``weight`` of :class:`Relation`. A property that memlab's own
        relations have, such as ``confidence``, holds here what it holds there; any other holds any JSON.

    Returns
    -------
    Relation
        Authorable, and never superseding.

    Raises
    ------
    InvalidAssociation
        If the name is taken or malformed, or an option can't be read.

    Examples
    --------
    >>> custom_relation("CITES", properties=("page",)).label
    'cites'
    """
    if not isinstance(name, str) or not RELATION_NAME.fullmatch(name) or len(name) > 64:
        raise InvalidAssociation(f"{shown(name)} can't name a relation; use upper case words joined by '_', as CITES")
    if name in RELATIONS:
        raise InvalidAssociation(f"{name} is one of memlab's own relations; choose another name")
    unknown = sorted(set(options) - set(_CHECKS))
    if unknown:
        raise InvalidAssociation(f"a relation has no {', '.join(unknown)}; it has {', '.join(_CHECKS)}")
    label = name.lower().replace("_", " ") if label is None else check_text(label, "a label", error=InvalidAssociation)
    return Relation(name, label, **{key: _CHECKS[key](value) for key, value in options.items()})


def _colour(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"#[0-9A-Fa-f]{6}", value):
        raise InvalidAssociation(f"{shown(value)} isn't a colour; write it as #RRGGBB")
    return value


def _dash(value: Any) -> tuple[int, ...]:
    lengths = tuple(value) if isinstance(value, list | tuple) else (None,)
    if len(lengths) % 2 or not all(type(length) is int and 0 < length < 100 for length in lengths):
        raise InvalidAssociation(f"{shown(value)} isn't a dash; give pairs of stroke and gap in pixels, as (6, 4)")
    return lengths


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "colour": _colour,
    "dash": _dash,
    "properties": lambda value: distinct_texts(value, "properties", key=str, error=InvalidAssociation),
    "weight": lambda value: share(value, "a relation's weight", InvalidAssociation),
}


def check_properties(relation: Relation, properties: Any) -> FrozenDict:
    """Check an association's properties against what its relation lists.

    Parameters
    ----------
    relation : Relation
        The association's relation.
    properties : mapping
        Property to value; None as a value means "not given" and is left out.

    Returns
    -------
    FrozenDict
        The properties given, unchangeable.

    Raises
    ------
    InvalidAssociation
        If a property isn't the relation's, or its value isn't of the property's kind.

    Examples
    --------
    >>> check_properties(RELATIONS["PART_OF"], {"role": "lead", "context": None})
    {'role': 'lead'}
    """
    if not isinstance(properties, Mapping):
        raise InvalidAssociation(f"properties is a {type(properties).__name__}; give a dict of property to value")
    given = {key: value for key, value in properties.items() if value is not None}
    foreign = sorted(set(map(str, given)) - set(relation.properties))
    if foreign:
        allowed = ", ".join(relation.properties) or "none"
        raise InvalidAssociation(f"{relation.name} has no property {', '.join(foreign)}; it takes: {allowed}")
    frozen: FrozenDict = freeze(given, "properties", InvalidAssociation)
    for key, value in frozen.items():
        _check_kind(key, value)
    return frozen


def _check_kind(key: str, value: Any) -> None:
    kind = PROPERTY_KINDS.get(key)
    if kind == "text" and not isinstance(value, str):
        raise InvalidAssociation(f"the property {key} is {shown(value)}; it must be text")
    if kind == "share" and not (type(value) in (int, float) and 0 <= value <= 1):
        raise InvalidAssociation(f"the property {key} is {shown(value)}; it must be a number from 0 to 1")
    if kind == "texts" and not (isinstance(value, list) and all(isinstance(v, str) for v in value)):
        raise InvalidAssociation(f"the property {key} is {shown(value)}; it must be a list of texts")
