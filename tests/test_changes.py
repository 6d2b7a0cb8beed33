"""Changes: differences that miss nothing, and inverses that take them back."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import same
from strategies import json_values, memories

from memlab.changes import Change, difference
from memlab.records import Memory, memory_row

CHANGE = Change(
    verb="update", kind="memory", key="m", before={"a": 1}, after={"a": 2}, actor="ana", seq=9, change=8, time=7
)


@given(memories(), memories())
def test_a_difference_turns_one_row_into_the_other_and_back(one: Memory, other: Memory) -> None:
    old, new = memory_row(one), memory_row(other)
    before, after = difference(old, new)
    assert same({**old, **after}, new)
    assert same({**new, **before}, old)
    assert before.keys() == after.keys()


@given(memories())
def test_equal_rows_have_no_difference(m: Memory) -> None:
    assert difference(memory_row(m), memory_row(m)) == ({}, {})


@pytest.mark.parametrize(
    ("old", "new"), [(True, 1), (1, 1.0), (0, False), (0.0, -0.0), ([1], [True]), ({"a": 1}, {"a": 1.0})]
)
def test_what_python_calls_equal_is_a_difference_where_json_differs(old: Any, new: Any) -> None:
    before, after = difference({"x": old}, {"x": new})
    assert same(before, {"x": old})
    assert same(after, {"x": new})


@given(st.one_of(st.none(), st.dictionaries(st.text(), json_values(), max_size=2)))
def test_the_inverse_of_the_inverse_is_the_change(after: Any) -> None:
    change = Change(verb="undo", kind="memory", key="m", before={"a": 1}, after=after)
    assert change.inverse.inverse == change


def test_an_inverse_swaps_the_sides_and_leaves_its_place_in_the_log_to_the_journal() -> None:
    back = CHANGE.inverse
    assert (back.before, back.after, back.verb) == ({"a": 2}, {"a": 1}, "undo")
    assert (back.seq, back.change, back.time, back.actor, back.identity) == (0, 0, 0, "ana", CHANGE.identity)


def test_identity_is_the_kind_and_the_whole_triple() -> None:
    edge = Change(verb="associate", kind="association", key="a", relation="PART_OF", other="b")
    assert edge.identity == ("association", "a", "PART_OF", "b")
    assert CHANGE.identity == ("memory", "m", "", "")
