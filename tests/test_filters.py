"""Filters: the mask says of every memory what the slow twin says, and what can't be read is refused in words."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import oracles
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import TAGS, ids, memories, small_metadata, wheres

from memlab.errors import FilterError, TimeError
from memlab.filters import OPERATORS, Group, Test, mask, parse_filter, parse_where
from memlab.records import Memory
from memlab.table import MISSING, Table

T0 = datetime(2024, 5, 8, 12, tzinfo=UTC)


def memory(memory_id: str, **fields: Any) -> Memory:
    return Memory(**{"memory_id": memory_id, "content": "Tea.", "created_at": T0, "updated_at": T0, **fields})


def fitting(where: dict[str, Any], *rows: Memory) -> list[str]:
    """The ids of the memories that fit."""
    table = Table()
    for row in rows:
        table.put(row)
    fits = mask(parse_where(where), table.coded, MISSING) & table.alive
    return [table.at(slot).memory_id for slot in np.flatnonzero(fits)]


def by_metadata(where: dict[str, Any], *rows: dict[str, Any]) -> list[int]:
    """The places of the metadata that fit."""
    found = fitting(where, *(memory(str(i), metadata=row) for i, row in enumerate(rows)))
    return [int(i) for i in found]


# ---- against the twin ----


@settings(max_examples=150)
@given(
    st.lists(memories(meta=small_metadata()), max_size=6), st.lists(ids(), max_size=2), st.lists(wheres(), max_size=3)
)
def test_the_mask_is_what_the_slow_twin_says_of_each_memory(
    rows: list[Memory], gone: list[str], filters: list[dict[str, Any]]
) -> None:
    table = Table()
    for place, row in enumerate(rows):
        table.put(row)
        if filters and place % 2:
            mask(parse_where(filters[0]), table.coded, MISSING)  # coded early, so that it has to follow
    for memory_id in gone:
        if memory_id in table.slots:
            table.remove(memory_id)
    for where in filters:
        fits = mask(parse_where(where), table.coded, MISSING)
        assert len(fits) == table.size
        for slot in np.flatnonzero(table.alive):
            assert fits[slot] == oracles.fits(table.at(slot), where), (table.at(slot), where)


@given(
    st.lists(st.sampled_from(TAGS), max_size=3),
    st.lists(st.sampled_from([*TAGS, "project", "project/", "h", "tide"]), max_size=2),
    st.lists(st.sampled_from([*TAGS, "proj"]), max_size=1),
    st.sampled_from(["any", "all"]),
    st.sampled_from(["exact", "prefix"]),
)
def test_tags_fit_as_the_slow_twin_says(
    tags: list[str], want: list[str], bad: list[str], mode: str, match: str
) -> None:
    wanted = parse_filter(tags=want, exclude_tags=bad, tag_mode=mode, tag_match=match)
    assert wanted.tagged(tags) == oracles.tagged(tags, want, mode, match, bad)


# ---- worked examples ----


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (1, [0]),
        ({"ne": 1}, [1, 2, 3]),
        ({"in": [1, 2]}, [0, 1]),
        ({"in": []}, []),
        ({"nin": [1]}, [1, 2, 3]),
        ({"nin": []}, [0, 1, 2, 3]),
        ({"lt": 2}, [0]),
        ({"ge": 1, "lt": 3}, [0, 1]),
        ({"exists": True}, [0, 1]),
        ({"exists": False}, [2, 3]),
        ({"contains": 1}, []),
    ],
)
def test_a_missing_key_fits_ne_nin_and_not_exists_and_nothing_else(condition: Any, expected: list[int]) -> None:
    rows: list[dict[str, Any]] = [{"a": 1}, {"a": 2}, {}, {"a": None}]
    assert by_metadata({"a": condition}, *rows) == expected
    assert by_metadata({"not": {"a": condition}}, *rows) == [i for i in range(4) if i not in expected]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (1, [0, 1]),
        (1.0, [0, 1]),
        (True, [2]),
        ("1", [3]),
        ([1], [4, 5]),
        ({"eq": {"b": 1}}, [6]),
        ({"in": [True, "1"]}, [2, 3]),
        ({"gt": 0}, [0, 1]),
        ({"gt": ""}, [3]),
        ({"contains": 1}, [4, 5]),
        ({"contains": True}, []),
        ({"eq": np.int64(1)}, [0, 1]),
    ],
)
def test_values_of_different_kinds_are_never_equal_nor_ordered(condition: Any, expected: list[int]) -> None:
    rows: list[dict[str, Any]] = [{"a": v} for v in (1, 1.0, True, "1", [1], [1.0], {"b": 1.0})]
    assert by_metadata({"a": condition}, *rows) == expected


@pytest.mark.parametrize(("word", "expected"), [("lt", [0]), ("le", [0, 1]), ("gt", [2]), ("ge", [1, 2])])
def test_an_order_takes_its_bound_in_or_leaves_it_out(word: str, expected: list[int]) -> None:
    for low, bound, high in ((1, 2, 3.5), ("A", "a", "b"), (-0.5, 0.0, 2**70)):
        assert by_metadata({"a": {word: bound}}, {"a": low}, {"a": bound}, {"a": high}, {}, {"a": None}) == expected


def test_integers_are_compared_exactly() -> None:
    rows: list[dict[str, Any]] = [{"n": 2**53}, {"n": 2**53 + 1}, {"n": float(2**53)}]
    assert by_metadata({"n": 2**53 + 1}, *rows) == [1]
    assert by_metadata({"n": {"gt": 2.0**53}}, *rows) == [1]


def test_or_is_a_union_and_several_names_are_an_intersection() -> None:
    rows: list[dict[str, Any]] = [{"a": 1}, {"b": 2}, {"a": 1, "b": 2}, {}]
    assert by_metadata({"or": [{"a": 1}, {"b": 2}]}, *rows) == [0, 1, 2]
    assert by_metadata({"a": 1, "b": 2}, *rows) == [2]
    assert by_metadata({"and": [{"a": 1}], "not": {"b": 2}}, *rows) == [0]


def test_dots_go_into_objects_and_metadata_names_keys_that_are_spelt_like_fields_or_words() -> None:
    rows: list[dict[str, Any]] = [
        {"a": {"b": 1}}, {"a": [{"b": 1}]}, {"a": {"b": {"c": 1}}}, {"type": "x", "or": 1, "tags": "t", "$k": 1},
    ]  # fmt: skip
    assert by_metadata({"a.b": 1}, *rows) == [0]
    assert by_metadata({"metadata.a.b": 1}, *rows) == [0]
    assert by_metadata({"a.b.c": {"exists": True}}, *rows) == [2]
    assert by_metadata({"metadata.type": "x"}, *rows) == [3]
    assert by_metadata({"metadata.or": 1, "metadata.tags": "t", "metadata.$k": 1}, *rows) == [3]
    assert by_metadata({"type": "x"}, *rows) == []


def test_contains_looks_for_text_without_letter_case_and_composition() -> None:
    rows: list[dict[str, Any]] = [{"a": "Le CAF\u00c9 noir"}, {"a": ["caf\u00e9"]}, {"a": ["Caf\u00e9"]}]
    assert by_metadata({"a": {"contains": "cafe\u0301"}}, *rows) == [0]
    assert by_metadata({"a": {"contains": "caf\u00e9"}}, *rows) == [0, 1]
    assert fitting({"content": {"contains": "tea"}}, memory("m")) == ["m"]


def test_tags_and_aliases_are_lists_and_a_tag_is_looked_for_by_its_key() -> None:
    rows = [memory("m1", tags=["Project/Tide"], aliases=["Old"]), memory("m2", tags=["project"])]
    assert fitting({"tags": {"contains": "project:TIDE "}}, *rows) == ["m1"]
    assert fitting({"tags": ["project"]}, *rows) == ["m2"]
    assert fitting({"aliases": {"contains": "Old"}}, *rows) == ["m1"]
    assert fitting({"aliases": {"contains": "old"}}, *rows) == []
    assert fitting({"aliases": {"eq": []}}, *rows) == ["m2"]
    assert fitting({"tags": {"exists": True}}, *rows) == ["m1", "m2"]


@pytest.mark.parametrize(
    "moment",
    [
        T0,
        "2024-05-08T12:00Z",
        "2024-05-08T14:00+02:00",
        T0.astimezone(timezone(timedelta(hours=-5))),
        pd.Timestamp(T0),
    ],
)
def test_times_are_compared_as_instants_whatever_their_zone(moment: Any) -> None:
    rows = [memory("early", happened_at=T0 - timedelta(microseconds=1)), memory("at", happened_at=T0), memory("never")]
    assert fitting({"happened_at": moment}, *rows) == ["at"]
    assert fitting({"happened_at": {"lt": moment}}, *rows) == ["early"]
    assert fitting({"happened_at": {"in": [moment]}}, *rows) == ["at"]
    assert fitting({"happened_at": {"ne": moment}}, *rows) == ["early", "never"]
    assert fitting({"created_at": {"ge": moment}}, *rows) == ["early", "at", "never"]


def test_times_in_metadata_are_texts_like_any_other() -> None:
    assert by_metadata({"due": {"ge": "2024-05"}}, {"due": "2024-05-20"}, {"due": "2024-04-20"}) == [0]


def test_an_empty_table_has_an_empty_mask() -> None:
    assert fitting({"a": {"ne": 1}}) == []
    assert len(mask(parse_where({"a": 1}), Table().coded, MISSING)) == 0


# ---- what can't be read ----

DEEP: dict[str, Any] = {"a": 1}
for _ in range(2000):
    DEEP = {"not": DEEP}

UNREADABLE: list[tuple[Any, str]] = [
    ({}, "where is empty, which could mean all or nothing"),
    ([], "where is a list; give a dict"),
    ("a = 1", "where is a str"),
    (5, "where is a int"),
    ({"": 1}, "'' isn't a name"),
    ({1: 1}, "1 isn't a name"),
    ({"a": {}}, "'a' has an empty condition; give an operator: eq, ne"),
    ({"a": {"gte": 1}}, f"metadata.a: 'gte' isn't an operator; use one of {', '.join(OPERATORS)}"),
    ({"a": {"$gt": 1}}, "'\\$gt' isn't an operator"),
    ({"a": {"b": 1}}, "or {'eq': {...}} to compare with an object"),
    ({"a": {("eq",): 1}}, "isn't an operator"),
    ({"a": None}, "nothing compares with None; ask {'metadata.a': {'exists': False}}"),
    ({"a": {"in": [1, None]}}, "nothing compares with None"),
    ({"a": {"in": 1}}, "in takes a list, not 1"),
    ({"a": {"nin": "abc"}}, "nin takes a list, not 'abc'"),
    ({"a": {"exists": 1}}, "exists takes True or False, not 1"),
    ({"a": {"lt": True}}, "lt compares numbers, texts or times, not True"),
    ({"a": {"ge": [1]}}, r"ge compares numbers, texts or times, not \[1\]"),
    ({"a": float("nan")}, "metadata.a is nan"),
    ({"a": {"eq": {1, 2}}}, "metadata.a is a set"),
    ({"a": "\ud800"}, "metadata.a has an unpaired surrogate"),
    ({"a..b": 1}, "'a..b' isn't a name"),
    ({"metadata": 1}, "'metadata' isn't a name"),
    ({"metadata.": 1}, "isn't a name"),
    ({"type.x": 1}, "type has no parts; for a key of the metadata write 'metadata.type.x'"),
    ({"access_count": 1}, "access_count is telemetry"),
    ({"accessed_at": {"exists": True}}, "accessed_at is telemetry"),
    ({"tags": "home"}, "tags is a list of texts, so eq 'home' never holds; ask contains"),
    ({"tags": {"in": ["home"]}}, "tags is a list of texts"),
    ({"tags": {"gt": "home"}}, "tags is a list of texts"),
    ({"tags": {"contains": ["home"]}}, "tags is a list of texts"),
    ({"aliases": "old"}, "aliases is a list of texts"),
    ({"type": {"eq": {"a": 1}}}, "type is never an object"),
    ({"happened_at": datetime(2024, 5, 8)}, "happened_at .*doesn't say its time zone"),
    ({"happened_at": "2024-05-08"}, "happened_at .*doesn't say its time zone"),
    ({"valid_until": {"in": ["soon"]}}, "valid_until 'soon' isn't an ISO 8601 time"),
    ({"created_at": {"gt": 5}}, "created_at is of type int"),
    ({"and": []}, "'and' takes a list of filters, at least one"),
    ({"or": {"a": 1}}, "'or' takes a list of filters"),
    ({"or": [{"a": 1}, {}]}, "where is empty"),
    ({"not": [{"a": 1}]}, "where is a list"),
    ({"not": {}}, "where is empty"),
    ({"OR": [{"a": 1}]}, "'OR' isn't a name; the words are and, or, not .* 'metadata.OR'"),
    ({"$or": [{"a": 1}]}, r"'\$or' isn't a name"),
    (DEEP, "nested deeper than 64 levels"),
]


@pytest.mark.parametrize(("where", "message"), UNREADABLE, ids=[str(i) for i in range(len(UNREADABLE))])
def test_what_cannot_be_read_is_refused_in_words(where: Any, message: str) -> None:
    with pytest.raises(FilterError, match=message):
        parse_where(where)


def test_a_filter_is_parsed_into_what_it_says() -> None:
    assert parse_where({"a": 1, "not": {"type": {"ne": "x"}}}) == Group(
        "and", (Test(("metadata", "a"), "eq", 1), Group("not", (Test(("type",), "ne", "x"),)))
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tag_mode": "some"}, "tag_mode is 'some'; it is 'any' or 'all'"),
        ({"tag_match": "suffix"}, "tag_match is 'suffix'; it is 'exact' or 'prefix'"),
        ({"tags": {"a": 1}}, "tags is {'a': 1}; give a tag, or a list of tags"),
        ({"tags": 5}, "tags is 5"),
        ({"tags": [5]}, "an item of tags is of type int"),
        ({"tags": " "}, "an item of tags is blank"),
        ({"exclude_tags": b"x"}, "exclude_tags is b'x'"),
        ({"where": {}}, "where is empty"),
        ({"since": T0, "until": T0}, "since .* isn't before until .*; swap them"),
    ],
)
def test_other_bounds_that_make_no_sense_are_refused_in_words(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(FilterError, match=message):
        parse_filter(**arguments)


def test_bounds_in_time_have_a_zone() -> None:
    assert parse_filter(since=T0.astimezone(timezone(timedelta(hours=2)))).since == T0
    for name in ("since", "until"):
        with pytest.raises(TimeError, match=name):
            parse_filter(**{name: datetime(2024, 5, 8)})  # type: ignore[arg-type]


def test_no_bounds_let_everything_through() -> None:
    nothing = parse_filter()
    assert (nothing.where, nothing.since, nothing.until) == (None, None, None)
    assert nothing.tagged([])
    assert nothing.tagged(["a"])
    assert parse_filter(tags=[]).tagged(["a"])
