"""JSON values: what goes in comes out, what can't be kept is refused by place, what is frozen stays."""

import copy
import json
import math
import operator
import pickle
from collections.abc import Callable
from enum import Enum, IntEnum
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from oracles import same
from strategies import any_texts, json_values

from memlab.errors import InvalidAssociation, InvalidMemory
from memlab.text import tag_key
from memlab.values import (
    EMPTY,
    MAX_DEPTH,
    FrozenDict,
    FrozenList,
    distinct_texts,
    dumps,
    flag,
    freeze,
    loads,
    share,
    thaw,
    whole,
)


@given(json_values())
def test_any_json_value_comes_back_the_same_in_value_and_type(value: Any) -> None:
    frozen = freeze(value)
    assert same(frozen, value)
    assert same(thaw(frozen), value)
    assert same(loads(dumps(frozen)), value)
    assert same(json.loads(dumps(value), parse_constant=pytest.fail), value)


@given(json_values())
def test_frozen_values_equal_plain_ones_and_hash_alike(value: Any) -> None:
    frozen = freeze(value)
    assert frozen == value
    assert value == frozen
    assert repr(frozen) == repr(value)
    assert hash(frozen) == hash(freeze(value))


def test_an_integer_beyond_doubles_stays_exact() -> None:
    assert loads(dumps(freeze({"n": 2**53 + 1, "m": -(10**100)}))) == {"n": 2**53 + 1, "m": -(10**100)}


@pytest.mark.parametrize(
    ("given_value", "plain"),
    [
        (np.int32(2024), 2024),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (np.float64(0.1), 0.1),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("Oslo"), "Oslo"),
        (IntEnum("Level", {"HIGH": 3}).HIGH, 3),  # type: ignore[attr-defined]
        (Enum("Mood", {"GOOD": "good"}, type=str).GOOD, "good"),  # type: ignore[attr-defined]
    ],
)
def test_what_is_a_plain_value_in_other_clothes_becomes_plain(given_value: Any, plain: Any) -> None:
    found = freeze({"a": [given_value]})["a"][0]
    assert type(found) is type(plain)
    assert found == plain


def test_keys_become_plain_text_too() -> None:
    assert [type(key) for key in freeze({np.str_("a"): 1})] == [str]


def circular() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


REFUSED: list[tuple[Any, str]] = [
    ({"x": math.nan}, "metadata.x is nan"),
    ({"x": math.inf}, "metadata.x is inf"),
    ({"a": [1, {"b": -math.inf}]}, r"metadata.a\[1\].b is -inf"),
    ({"x": np.float32("nan")}, "metadata.x is nan"),
    ({"x": {1, 2}}, "metadata.x is a set"),
    ({"x": b"raw"}, "metadata.x is a bytes"),
    ({"x": np.zeros(2)}, "metadata.x is a ndarray"),
    ({"x": pd.NaT}, "metadata.x is a NaTType"),
    ({"x": pd.NA}, "metadata.x is a NAType"),
    ({"x": pd.Timestamp("2024-05-20T00:00Z")}, "metadata.x is a Timestamp"),
    ({"x": 1j}, "metadata.x is a complex"),
    ({1: "x"}, r"metadata has the key 1 \(int\); keys must be strings"),
    ({"a": {None: 1}}, "metadata.a has the key None"),
    ({"a": "\udc9f"}, r"metadata.a has an unpaired surrogate U\+DC9F"),
    ({"a": ["b\x00"]}, r"metadata.a\[0\] has a NUL"),
    ({"\ud800": 1}, "a key of metadata has an unpaired surrogate"),
    ({"x": 2**5000}, "metadata.x is an integer of 5001 bits"),
    ({"x": circular()}, f"nested deeper than {MAX_DEPTH} levels"),
]


@pytest.mark.parametrize(("value", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_json_cannot_hold_is_refused_by_place(value: Any, message: str) -> None:
    with pytest.raises(InvalidMemory, match=message):
        freeze(value)


def test_the_caller_names_the_error_and_the_place() -> None:
    with pytest.raises(InvalidAssociation, match=r"properties\.x is nan"):
        freeze({"x": math.nan}, "properties", InvalidAssociation)


def test_nesting_up_to_the_limit_is_kept() -> None:
    value: Any = 1
    for _ in range(MAX_DEPTH - 1):
        value = [value]
    assert loads(dumps(freeze(value))) == value


CHANGES_OF_A_DICT: list[Callable[[Any], Any]] = [
    lambda d: operator.setitem(d, "a", 1),
    lambda d: operator.setitem(d, "new", 1),
    lambda d: operator.delitem(d, "a"),
    lambda d: d.clear(),
    lambda d: d.pop("a"),
    lambda d: d.popitem(),
    lambda d: d.setdefault("new", 1),
    lambda d: d.update(a=2),
    lambda d: operator.ior(d, {"new": 1}),
    lambda d: operator.setitem(d["b"], 0, 1),
    lambda d: operator.setitem(d["c"], "x", 1),
    lambda d: setattr(d, "note", 1),
]
CHANGES_OF_A_LIST: list[Callable[[Any], Any]] = [
    lambda v: operator.setitem(v, 0, 1),
    lambda v: operator.setitem(v, slice(0, 1), [1, 2]),
    lambda v: operator.delitem(v, 0),
    lambda v: operator.delitem(v, slice(None)),
    lambda v: v.append(1),
    lambda v: v.clear(),
    lambda v: v.extend([1]),
    lambda v: v.insert(0, 1),
    lambda v: v.pop(),
    lambda v: v.remove(3),
    lambda v: v.reverse(),
    lambda v: v.sort(),
    lambda v: operator.iadd(v, [1]),
    lambda v: operator.imul(v, 2),
]


@pytest.mark.parametrize("change", CHANGES_OF_A_DICT)
def test_a_frozen_dict_refuses_every_change(change: Callable[[Any], Any]) -> None:
    frozen = freeze({"a": 1, "b": [3, 2], "c": {}})
    with pytest.raises((TypeError, AttributeError)):
        change(frozen)
    assert frozen == {"a": 1, "b": [3, 2], "c": {}}
    assert EMPTY == {}


@pytest.mark.parametrize("change", CHANGES_OF_A_LIST)
def test_a_frozen_list_refuses_every_change(change: Callable[[Any], Any]) -> None:
    frozen = freeze([3, 2])
    with pytest.raises(TypeError, match=r"belongs to a memory .* store.update"):
        change(frozen)
    assert frozen == [3, 2]


def test_what_is_made_of_a_frozen_value_can_be_changed() -> None:
    frozen = freeze({"a": [1], "b": {}})
    assert type(frozen | {"c": 1}) is dict
    assert type(frozen.copy()) is dict
    assert type(frozen["a"] + [2]) is list
    deep = copy.deepcopy(frozen)
    deep["a"].append(2)
    assert deep == {"a": [1, 2], "b": {}}
    assert frozen == {"a": [1], "b": {}}


def test_pickling_and_a_shallow_copy_keep_a_value_frozen() -> None:
    for again in (pickle.loads(pickle.dumps(freeze({"a": [{}]}))), copy.copy(freeze({"a": [{}]}))):
        assert again == {"a": [{}]}
        assert (type(again), type(again["a"]), type(again["a"][0])) == (FrozenDict, FrozenList, FrozenDict)


@pytest.mark.parametrize(
    "text",
    ["NaN", "[Infinity]", '{"a": -Infinity}', "1e999", "[-1e999]", "{", "", pytest.param("[" * 100_000, id="deep")],
)
def test_what_is_not_json_is_refused_on_reading(text: str) -> None:
    with pytest.raises(ValueError):
        loads(text)


@given(any_texts())
def test_text_is_written_as_it_is(text: str) -> None:
    assert loads(dumps(text)) == text
    dumps(text).encode("utf-8")


@pytest.mark.parametrize(
    ("value", "number"), [(0, 0.0), (1, 1.0), (np.float32(0.5), 0.5), (np.int64(1), 1.0), (5e-324, 5e-324)]
)
def test_a_share_is_a_float_from_0_to_1(value: Any, number: float) -> None:
    found = share(value, "importance")
    assert (type(found), found) == (float, number)


@pytest.mark.parametrize(
    "value",
    [
        -0.001,
        1.001,
        math.nan,
        math.inf,
        pytest.param(10**400, id="beyond floats"),
        pytest.param(-(10**6000), id="huge"),
        True,
        "0.5",
        None,
        np.array(0.5),
        np.float64("nan"),
    ],
)
def test_what_is_no_share_is_refused_by_name(value: Any) -> None:
    with pytest.raises(InvalidMemory, match="importance is"):
        share(value, "importance")


@pytest.mark.parametrize("value", [-1, 2**63, pytest.param(10**6000, id="huge"), 1.0, True, "1", None])
def test_what_is_no_whole_number_is_refused_by_name(value: Any) -> None:
    with pytest.raises(InvalidMemory, match="sequence is"):
        whole(value, "sequence")


def test_a_whole_number_is_a_plain_int() -> None:
    assert [type(whole(n, "sequence")) for n in (0, np.uint8(3), 2**63 - 1)] == [int, int, int]


@pytest.mark.parametrize("value", [0, 1, "no", None, np.int64(1)])
def test_only_true_and_false_are_flags(value: Any) -> None:
    assert (flag(np.bool_(True), "archived"), flag(False, "archived")) == (True, False)
    with pytest.raises(InvalidMemory, match="archived is"):
        flag(value, "archived")


def test_distinct_texts_keep_the_first_spelling_and_the_order() -> None:
    assert distinct_texts(["b", "Home", "home", "caf\u00e9", "cafe\u0301", "b"], "tags") == ("b", "Home", "caf\u00e9")
    assert distinct_texts((tag for tag in ("a/b", "A:B")), "tags", key=tag_key) == ("a/b",)
    assert [type(tag) for tag in distinct_texts([np.str_("x")], "tags")] == [str]


def test_a_set_of_texts_is_sorted_because_it_has_no_order() -> None:
    assert distinct_texts({"c", "A", "a", "b"}, "tags") == ("A", "b", "c")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("home", r"such as \['home'\]"),
        (None, "tags is a NoneType"),
        (5, "tags is a int"),
        ({"home": 1}, "tags is a dict"),
        (b"home", "tags is a bytes"),
        (["ok", " "], "an item of tags is blank"),
        ([1], "an item of tags is of type int"),
        (["\ud800"], "surrogate"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(value: Any, message: str) -> None:
    with pytest.raises(InvalidMemory, match=message):
        distinct_texts(value, "tags")
