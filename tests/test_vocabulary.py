"""The one table of relations and types, and what a relation lets its associations carry."""

import math
import re
from typing import Any

import numpy as np
import pytest

from memlab.errors import InvalidAssociation
from memlab.vocabulary import (
    MEMORY_TYPES,
    PROPERTY_KINDS,
    RELATION_NAME,
    RELATIONS,
    Relation,
    check_properties,
    custom_relation,
)

AUTHORABLE = {
    "RELATES_TO": set(),
    "LEADS_TO": set(),
    "OCCURRED_BEFORE": set(),
    "PREFERS_OVER": {"reason", "context"},
    "EXEMPLIFIES": {"confidence", "pattern_type"},
    "CONTRADICTS": {"reason", "resolution"},
    "REINFORCES": {"observations"},
    "INVALIDATED_BY": {"reason", "timestamp"},
    "EVOLVED_INTO": {"reason", "confidence"},
    "DERIVED_FROM": {"confidence", "transformation"},
    "PART_OF": {"role", "context"},
}
DERIVED = {"SIMILAR_TO", "PRECEDED_BY", "EXPLAINS", "SHARES_THEME", "PARALLEL_CONTEXT", "DISCOVERED"}
GOOD = {"text": "because", "share": 0.5, "texts": ["once", "twice"]}


def test_the_seventeen_relations_are_these_with_these_properties() -> None:
    assert {r.name: set(r.properties) for r in RELATIONS.values() if r.authorable} == AUTHORABLE
    assert {r.name for r in RELATIONS.values() if not r.authorable} == DERIVED
    assert {r.name for r in RELATIONS.values() if r.supersedes} == {"INVALIDATED_BY", "EVOLVED_INTO"}


def test_the_tables_are_keyed_by_name_and_cannot_be_written() -> None:
    for table in (RELATIONS, MEMORY_TYPES, PROPERTY_KINDS):
        with pytest.raises(TypeError):
            table["X"] = None  # type: ignore[index]
    assert all(name == row.name for table in (RELATIONS, MEMORY_TYPES) for name, row in table.items())


def test_every_relation_looks_different_and_every_type_has_a_colour_of_its_own() -> None:
    looks = [(r.colour, r.dash) for r in RELATIONS.values()]
    assert len(set(looks)) == len(looks) == 17
    colours = [t.colour for t in MEMORY_TYPES.values()]
    assert len(set(colours)) == len(colours) == 7
    assert all(re.fullmatch("#[0-9A-F]{6}", colour) for colour in [*colours, *(colour for colour, _ in looks)])


@pytest.mark.parametrize("relation", RELATIONS.values(), ids=lambda relation: relation.name)
def test_a_relation_takes_its_own_properties_of_the_right_kind_and_no_others(relation: Relation) -> None:
    assert RELATION_NAME.fullmatch(relation.name)
    given = {name: GOOD[PROPERTY_KINDS[name]] for name in relation.properties}
    assert check_properties(relation, given) == given
    for name in relation.properties:
        assert check_properties(relation, {name: None}) == {}
        with pytest.raises(InvalidAssociation, match=f"property {name} is"):
            check_properties(relation, {name: {"not": "it"}})
    with pytest.raises(InvalidAssociation, match=f"{relation.name} has no property colour; it takes: "):
        check_properties(relation, {**given, "colour": "red"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("confidence", -0.1),
        ("confidence", 1.5),
        ("confidence", True),
        ("confidence", "0.5"),
        ("confidence", math.nan),
        ("transformation", 3),
        ("transformation", "\ud800"),
        (1, "x"),
    ],
)
def test_a_property_of_another_kind_is_refused(name: Any, value: Any) -> None:
    with pytest.raises(InvalidAssociation):
        check_properties(RELATIONS["DERIVED_FROM"], {name: value})


@pytest.mark.parametrize("properties", [None, ["role"], "role", 5])
def test_properties_that_are_no_mapping_are_refused(properties: Any) -> None:
    with pytest.raises(InvalidAssociation, match="properties is a"):
        check_properties(RELATIONS["PART_OF"], properties)


def test_numpy_numbers_become_plain_and_properties_are_frozen() -> None:
    found = check_properties(RELATIONS["DERIVED_FROM"], {"confidence": np.float64(1)})
    assert type(found["confidence"]) is float
    with pytest.raises(TypeError):
        found["confidence"] = 0


def test_a_relation_of_ones_own_has_sensible_defaults() -> None:
    relation = custom_relation("FUNDED_BY2", properties=["page", "page", "confidence"], dash=[4, 2], weight=1)
    assert relation == Relation("FUNDED_BY2", "funded by2", dash=(4, 2), properties=("page", "confidence"), weight=1.0)
    assert hash(relation) == hash(relation)
    assert (relation.authorable, relation.supersedes) == (True, False)
    assert check_properties(relation, {"page": {"any": ["JSON", 3]}}) == {"page": {"any": ["JSON", 3]}}
    with pytest.raises(InvalidAssociation, match="confidence"):
        check_properties(relation, {"confidence": 2})


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("cites", {}, "upper case"),
        ("CITES ", {}, "upper case"),
        ("_CITES", {}, "upper case"),
        ("C__D", {}, "upper case"),
        ("ÄNDERT", {}, "upper case"),
        ("A" * 65, {}, "upper case"),
        (None, {}, "upper case"),
        ("LEADS_TO", {}, "memlab's own"),
        ("CITES", {"color": "#FFFFFF"}, "has no color; it has colour, dash, properties, weight"),
        ("CITES", {"supersedes": True}, "has no supersedes"),
        ("CITES", {"label": " "}, "label is blank"),
        ("CITES", {"label": ""}, "label is blank"),
        ("CITES", {"colour": "red"}, "#RRGGBB"),
        ("CITES", {"colour": "#FFFFFF\n"}, "#RRGGBB"),
        ("CITES", {"colour": None}, "#RRGGBB"),
        ("CITES", {"dash": "6 4"}, "dash"),
        ("CITES", {"dash": (6,)}, "dash"),
        ("CITES", {"dash": (6, -4)}, "dash"),
        ("CITES", {"dash": (6, 4.5)}, "dash"),
        ("CITES", {"weight": 2}, "weight is 2"),
        ("CITES", {"weight": math.nan}, "weight is nan"),
        ("CITES", {"weight": "1"}, "weight is '1'"),
        ("CITES", {"properties": "page"}, "properties is 'page'"),
        ("CITES", {"properties": [""]}, "blank"),
    ],
)
def test_a_malformed_relation_is_refused_in_words(name: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidAssociation, match=message):
        custom_relation(name, **options)
