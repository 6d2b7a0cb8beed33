"""Memories, associations and spaces: rows and back, and what is refused when one is made."""

import dataclasses
import math
import pickle
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import oracles
import pandas as pd
import pytest
from hypothesis import given
from strategies import NASTY_TEXTS, associations, memories, texts

from memlab.errors import InvalidArgument, InvalidAssociation, InvalidMemory, MemlabError, TimeError
from memlab.records import (
    ASSOCIATION_FIELDS,
    FIELDS,
    STORED,
    TIMES,
    Association,
    Memory,
    Space,
    association_from,
    association_row,
    memory_from,
    memory_row,
)
from memlab.values import FrozenDict, dumps, loads

T0 = datetime(2024, 5, 8, 12, tzinfo=UTC)
LATER = T0 + timedelta(days=1)


def memory(**fields: Any) -> Memory:
    """A memory with what a test cares about."""
    return Memory(**{"memory_id": "m1", "content": "Tea.", "created_at": T0, "updated_at": T0, **fields})


def association(**fields: Any) -> Association:
    """An association with what a test cares about."""
    ends = {"source": "a", "relation": "PART_OF", "target": "b", "created_at": T0, "updated_at": T0}
    return Association(**{**ends, **fields})


# ---- rows ----


@given(memories())
def test_a_memory_comes_back_from_its_row_through_json(m: Memory) -> None:
    row = memory_row(m)
    again = memory_from(loads(dumps(row)))
    assert again == m
    assert oracles.same(again.metadata, m.metadata)
    assert oracles.same(memory_row(again), row)


@given(associations())
def test_an_association_comes_back_from_its_row_through_json(a: Association) -> None:
    again = association_from(loads(dumps(association_row(a))))
    assert again == a
    assert again.triple == (a.source, a.relation, a.target)


@given(texts())
def test_text_is_kept_character_for_character(text: str) -> None:
    m = memory(content=text, memory_id=text, role=text, source=text)
    again = memory_from(memory_row(m))
    assert (again.content, again.memory_id, again.role, again.source) == (text,) * 4


def test_fields_are_those_of_the_docs_in_order() -> None:
    assert FIELDS == oracles.FIELDS
    assert sorted(TIMES) == sorted(oracles.TIMES)
    assert set(FIELDS) - set(STORED) == {"access_count", "accessed_at"}
    assert tuple(association_row(association())) == ASSOCIATION_FIELDS


def test_a_row_holds_plain_json_and_whole_microseconds() -> None:
    m = memory(tags=["a"], metadata={"x": [1]}, happened_at="1969-12-31T23:59:59.999999Z", access_count=3)
    row = memory_row(m)
    assert row["happened_at"] == -1
    assert (type(row["tags"]), type(row["metadata"]), type(row["metadata"]["x"])) == (list, dict, list)
    assert "access_count" not in row
    row["metadata"]["x"].append(2)
    assert m.metadata == {"x": [1]}


@pytest.mark.parametrize(
    "damage",
    [
        {"created_at": "soon"},
        {"created_at": None},
        {"created_at": 2**62},
        {"updated_at": 1.5},
        {"importance": 7},
        {"metadata": "{"},
        {"tags": None},
        {"content": None},
        {"colour": "red"},
    ],
)
def test_a_damaged_row_is_one_of_memlabs_errors(damage: dict[str, Any]) -> None:
    with pytest.raises(MemlabError):
        memory_from({**memory_row(memory()), **damage})


def test_a_row_that_lacks_a_field_is_refused() -> None:
    row = memory_row(memory())
    del row["content"]
    with pytest.raises(InvalidMemory, match="content"):
        memory_from(row)
    edge = association_row(association())
    del edge["target"]
    with pytest.raises(InvalidAssociation, match="target"):
        association_from(edge)


# ---- memories ----

REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"memory_id": ""}, InvalidMemory, "memory_id is blank"),
    ({"memory_id": 7}, InvalidMemory, "memory_id is of type int"),
    ({"content": " \n"}, InvalidMemory, "content is blank"),
    ({"content": "\udc9f"}, InvalidMemory, "content has an unpaired surrogate"),
    ({"content": "a\x00b"}, InvalidMemory, "content has a NUL"),
    ({"content": b"raw"}, InvalidMemory, "content is of type bytes"),
    ({"content": None}, InvalidMemory, "content is of type NoneType"),
    ({"space": ""}, InvalidMemory, "space is blank"),
    ({"type": ""}, InvalidMemory, "type is blank"),
    ({"role": 3}, InvalidMemory, "role is of type int"),
    ({"session_id": " "}, InvalidMemory, "session_id is blank"),
    ({"source": "\ud800"}, InvalidMemory, "source has an unpaired surrogate"),
    ({"content_type": None}, InvalidMemory, "content_type is of type NoneType"),
    ({"tags": "home"}, InvalidMemory, "tags is 'home'"),
    ({"tags": ["\ud800"]}, InvalidMemory, "an item of tags has an unpaired surrogate"),
    ({"aliases": [1]}, InvalidMemory, "an item of aliases is of type int"),
    ({"importance": 1.5}, InvalidMemory, "importance is 1.5"),
    ({"confidence": math.nan}, InvalidMemory, "confidence is nan"),
    ({"confidence": True}, InvalidMemory, "confidence is True"),
    ({"metadata": None}, InvalidMemory, "metadata is a NoneType"),
    ({"metadata": [1]}, InvalidMemory, "metadata is a list"),
    ({"metadata": {"x": math.inf}}, InvalidMemory, r"metadata\.x is inf"),
    ({"sequence": 1.0}, InvalidMemory, "sequence is 1.0"),
    ({"sequence": -1}, InvalidMemory, "sequence is -1"),
    ({"access_count": None}, InvalidMemory, "access_count is None"),
    ({"archived": 0}, InvalidMemory, "archived is 0"),
    ({"protected": "no"}, InvalidMemory, "protected is 'no'"),
    ({"happened_at": datetime(2024, 5, 8)}, TimeError, "happened_at"),
    ({"valid_from": "2024-05-08"}, TimeError, "valid_from"),
    ({"created_at": None}, TimeError, "created_at"),
    ({"updated_at": 12.5}, TimeError, "updated_at"),
    ({"accessed_at": pd.NaT}, TimeError, "accessed_at"),
    ({"valid_from": LATER, "valid_until": T0}, InvalidMemory, "valid_from .* isn't before valid_until"),
    ({"valid_from": T0, "valid_until": T0}, InvalidMemory, "swap them or leave one out"),
]


@pytest.mark.parametrize(("fields", "error", "message"), REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_what_cannot_be_stored_is_refused_by_name(fields: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        memory(**fields)


def test_values_in_other_clothes_become_plain() -> None:
    m = memory(
        content=np.str_("Tea."),
        importance=np.float32(1),
        sequence=np.int64(3),
        archived=np.bool_(True),
        tags=[np.str_("a")],
        happened_at=pd.Timestamp("2024-05-08T14:00+02:00"),
        created_at=T0.astimezone(timezone(timedelta(hours=9))),
    )
    kinds = [type(v) for v in (m.content, m.importance, m.sequence, m.archived, m.tags[0], m.happened_at)]
    assert kinds == [str, float, int, bool, str, datetime]
    assert m.happened_at == m.created_at == T0
    assert m.created_at.tzinfo is UTC


def test_one_tag_in_two_spellings_counts_once() -> None:
    m = memory(tags=["Project/Tide", "project:tide", "PROJECT/TIDE ", "caf\u00e9", "cafe\u0301", "tide"])
    assert m.tags == ("Project/Tide", "caf\u00e9", "tide")


def test_aliases_are_ids_so_letter_case_counts() -> None:
    assert memory(aliases=["a", "A", "a"]).aliases == ("a", "A")


def test_a_memory_cannot_be_changed() -> None:
    m = memory(metadata={"a": [1]})
    with pytest.raises(dataclasses.FrozenInstanceError):
        m.content = "x"  # type: ignore[misc]
    with pytest.raises(TypeError):
        m.metadata["a"] = 2  # type: ignore[index]
    with pytest.raises(TypeError):
        m.metadata["a"].append(2)
    assert isinstance(m.metadata, FrozenDict)
    assert pickle.loads(pickle.dumps(m)) == m
    assert hash(m) == hash(memory(metadata={"a": [1]}))


def test_the_callers_own_objects_stay_the_callers() -> None:
    mine: dict[str, Any] = {"a": [1]}
    tags = ["x"]
    m = memory(metadata=mine, tags=tags)
    mine["a"].append(2)
    tags.append("y")
    assert (m.metadata, m.tags) == ({"a": [1]}, ("x",))


def test_event_time_is_when_it_happened_or_else_when_it_was_written() -> None:
    assert memory(created_at=LATER).event_time == LATER
    assert memory(created_at=LATER, happened_at=T0).event_time == T0


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "Tea."),
        ({"role": "Ana"}, "Ana: Tea."),
        ({"happened_at": T0}, "(8 May 2024): Tea."),
        ({"role": "Ana", "happened_at": "2023-12-31T23:30-02:00"}, "Ana (1 January 2024): Tea."),
        ({"created_at": LATER}, "Tea."),
    ],
)
def test_the_text_says_who_and_when_in_utc_where_they_are_known(fields: dict[str, Any], text: str) -> None:
    assert memory(**fields).text == text


@pytest.mark.parametrize("text", NASTY_TEXTS)
def test_odd_texts_are_let_in_everywhere(text: str) -> None:
    m = memory(content=text, tags=[text], aliases=[text], metadata={text: text}, space=text, type=text)
    assert memory_from(loads(dumps(memory_row(m)))) == m


# ---- associations and spaces ----


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"source": 7}, InvalidAssociation, "source is of type int"),
        ({"target": " "}, InvalidAssociation, "target is blank"),
        ({"relation": None}, InvalidAssociation, "relation is of type NoneType"),
        ({"target": "a"}, InvalidAssociation, "'a' can't be associated with itself"),
        ({"strength": -0.1}, InvalidAssociation, "strength is -0.1"),
        ({"strength": "1"}, InvalidAssociation, "strength is '1'"),
        ({"properties": None}, InvalidAssociation, "properties is a NoneType"),
        ({"properties": ["role"]}, InvalidAssociation, "properties is a list"),
        ({"properties": {"role": math.nan}}, InvalidAssociation, r"properties\.role is nan"),
        ({"origin": "guessed"}, InvalidAssociation, "origin is 'guessed'"),
        ({"created_at": datetime(2024, 1, 1)}, TimeError, "created_at"),
        ({"updated_at": None}, TimeError, "updated_at"),
    ],
)
def test_what_is_no_association_is_refused_by_name(
    fields: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        association(**fields)


def test_ends_that_differ_only_in_letter_case_are_two_memories() -> None:
    assert association(source="a", target="A").triple == ("a", "PART_OF", "A")


def test_properties_are_frozen() -> None:
    a = association(properties={"role": "lead"})
    with pytest.raises(TypeError):
        a.properties["role"] = "x"  # type: ignore[index]
    assert pickle.loads(pickle.dumps(a)) == a


def test_a_space_is_checked_when_made() -> None:
    space = Space("id", "Home", created_at=T0.astimezone(timezone(timedelta(hours=2))))
    assert (space.description, space.created_at, space.created_at.tzinfo) == ("", T0, UTC)  # type: ignore[union-attr]
    with pytest.raises(InvalidArgument, match="a space's name is blank"):
        Space("id", " ")
    with pytest.raises(InvalidArgument, match="space_id is of type int"):
        Space(1, "Home")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="description has an unpaired surrogate"):
        Space("id", "Home", "\ud800")
    with pytest.raises(TimeError):
        Space("id", "Home", created_at=datetime(2024, 1, 1))
