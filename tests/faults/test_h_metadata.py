"""Kind H: NaN, None, numpy and big integers in metadata.

Law: metadata is a JSON object of plain values, nesting allowed, string keys. Numpy scalars become Python's on the
way in; NaN, infinities and every other object are refused, and the message names the key; integers are exact, and
True, 1 and 1.0 stay what they are.
"""

import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import json
import pathlib
import uuid
from collections import OrderedDict
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from worlds import diary, state

from memlab.errors import InvalidMemory, MemlabError
from memlab.store import MemoryStore


class Level(enum.Enum):
    """An enumeration that is no number."""

    HIGH = "high"


class Grade(enum.IntEnum):
    """An enumeration that is one."""

    TWO = 2


@dataclasses.dataclass
class Point:
    """An object."""

    x: int = 1


TAKEN = {
    "H05 np.int32": (np.int32(2024), 2024),
    "H10 beyond floats": (2**53 + 1, 2**53 + 1),
    "below -2**63": (-(2**63) - 1, -(2**63) - 1),
    "a thousand digits": (10**1000, 10**1000),
    "np.uint64": (np.uint64(2**64 - 1), 2**64 - 1),
    "np.float32": (np.float32(0.1), float(np.float32(0.1))),
    "np.bool": (np.bool_(True), True),
    "np.str": (np.str_("tea"), "tea"),
    "True": (True, True),
    "1": (1, 1),
    "1.0": (1.0, 1.0),
    "minus zero": (-0.0, -0.0),
    "smallest float": (5e-324, 5e-324),
    "None": (None, None),
    "empty text": ("", ""),
    "empty list": ([], []),
    "empty object": ({}, {}),
    "tuple": ((1, (2,)), [1, [2]]),
    "IntEnum": (Grade.TWO, 2),
    "OrderedDict": (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    "read-only mapping": (MappingProxyType({"a": 1}), {"a": 1}),
    "nested list of objects": ([{"a": [{"b": None}]}], [{"a": [{"b": None}]}]),
    "key with a dot": ({"a.b": 1, "": 2, "$or": 3}, {"a.b": 1, "": 2, "$or": 3}),
}
REFUSED = {
    "H07 infinity": float("inf"),
    "minus infinity": -np.inf,
    "H08 NaN": float("nan"),
    "np.nan": np.float32("nan"),
    "NA": pd.NA,
    "NaT": pd.NaT,
    "np.NaT": np.datetime64("NaT"),
    "np.datetime64 of nanoseconds": np.datetime64("2024-05-20", "ns"),
    "np.timedelta64": np.timedelta64(1, "s"),
    "Decimal": decimal.Decimal("0.1"),
    "Fraction": fractions.Fraction(1, 3),
    "complex": 1j,
    "np.complex": np.complex64(1),
    "datetime": dt.datetime(2024, 5, 20, tzinfo=dt.UTC),
    "date": dt.date(2024, 5, 20),
    "timedelta": dt.timedelta(1),
    "np.datetime64": np.datetime64("2024-05-20"),
    "np.timedelta64 in ns": np.timedelta64(1, "s"),
    "Timestamp": pd.Timestamp("2024-05-20"),
    "bytes": b"tea",
    "bytearray": bytearray(b"tea"),
    "set": {1, 2},
    "frozenset": frozenset("a"),
    "array": np.array([1, 2]),
    "array of no dimension": np.array(1),
    "frame": pd.DataFrame({"a": [1]}),
    "series": pd.Series([1]),
    "generator": (x for x in "ab"),
    "range": range(3),
    "Path": pathlib.PurePosixPath("x"),
    "UUID": uuid.UUID(int=1),
    "Enum": Level.HIGH,
    "dataclass": Point(),
    "class": Point,
    "function": len,
    "object": object(),
    "integer without end": 10**5000,
}
KEYS = {"int": 1, "float": 1.0, "None": None, "bool": True, "tuple": ("a",), "bytes": b"a", "np.int": np.int64(1)}


@pytest.mark.parametrize(("given", "kept"), TAKEN.values(), ids=TAKEN)
def test_plain_values_are_kept_exactly(tmp_path: pathlib.Path, given: object, kept: object) -> None:
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        one = store.add("x", metadata={"v": given, "deep": [{"v": given}]})
        two = store.add("y")
        store.update(two, metadata={"v": given if given is not None else {}})
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        for value in (store.get(one).metadata["v"], store.get(one).metadata["deep"][0]["v"]):
            assert value == kept and type(value) is type(store.get(one).metadata["v"])
            assert json.dumps(value) == json.dumps(kept)
        if given not in (None, {}):
            assert json.dumps(store.get(two).metadata["v"]) == json.dumps(kept)
        assert store.check().ok


@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("nest", [lambda v: v, lambda v: {"a": [0, v]}, lambda v: [[v]]], ids=["flat", "deep", "list"])
def test_what_json_cannot_hold_is_refused_by_name(nest: object, value: object) -> None:
    store = diary(encoder=None)
    before = state(store)
    bad = {"good": 1, "weight": nest(value)}  # type: ignore[operator]
    for call in (
        lambda: store.add("x", metadata=bad),
        lambda: store.add_many([{"content": "x"}, {"content": "y", "metadata": bad}], progress=False),
        lambda: store.update("move", metadata=bad),
    ):
        with pytest.raises(InvalidMemory, match=r"metadata\.weight"):
            call()
    assert state(store) == before


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_keys_are_texts(key: object) -> None:
    store = diary(encoder=None)
    before = state(store)
    for metadata in ({key: 1}, {"a": [{key: 1}]}):
        with pytest.raises(InvalidMemory, match="keys must be strings"):
            store.add("x", metadata=metadata)
        with pytest.raises(InvalidMemory, match="keys must be strings"):
            store.update("move", metadata=metadata)
    assert state(store) == before


@pytest.mark.parametrize("value", [None, [], "a", 1, [("a", 1)], {"a"}, float("nan")], ids=repr)
def test_metadata_itself_is_an_object(value: object) -> None:
    store = diary(encoder=None)
    if value is None:
        assert store.get(store.add("x", metadata=None)).metadata == {}
        return
    for call in (lambda: store.add("x", metadata=value), lambda: store.update("move", metadata=value)):
        with pytest.raises(InvalidMemory, match="metadata"):
            call()


def test_a_loop_and_a_deep_nest_are_refused() -> None:
    store = diary(encoder=None)
    loop: dict[str, object] = {}
    loop["again"] = [loop]
    deep: object = 1
    for _ in range(5_000):
        deep = {"a": deep}
    for bad in (loop, deep):
        for call in (lambda b=bad: store.add("x", metadata=b), lambda b=bad: store.update("move", metadata=b)):
            with pytest.raises(InvalidMemory, match="nested"):
                call()


def test_true_one_and_one_point_nought_stay_apart_through_update_and_undo() -> None:
    store = MemoryStore(encoder=None)
    made = store.add("x", metadata={"v": True})
    for value in (1, 1.0, True):
        store.update(made, metadata={"v": value})
        assert type(store.get(made).metadata["v"]) is type(value)
        store.undo(int(store.log()["change"].max()))
        store.update(made, metadata={"v": value})
    assert store.select(where={"v": True})["memory_id"].tolist() == [made]
    assert store.select(where={"v": 1}).empty


def test_what_is_handed_in_or_out_is_nobodys_way_into_the_store() -> None:
    store = MemoryStore(encoder=None)
    mine: dict[str, object] = {"a": [1, {"b": 2}]}
    made = store.add("x", metadata=mine, tags=(tags := ["t"]))
    mine["a"].append(3)  # type: ignore[attr-defined]
    tags.append("u")
    assert store.get(made).metadata == {"a": [1, {"b": 2}]} and store.get(made).tags == ("t",)
    with pytest.raises(TypeError):
        store.get(made).metadata["a"].append(3)


NO_FIELD = {
    name: REFUSED[name] for name in ("H07 infinity", "H08 NaN", "NA", "complex", "bytes", "array", "class", "object")
}


@pytest.mark.parametrize("value", NO_FIELD.values(), ids=NO_FIELD)
@pytest.mark.parametrize(
    "field", ["importance", "confidence", "sequence", "tags", "happened_at", "role", "valid_until"]
)
def test_other_fields_refuse_what_they_are_not(field: str, value: object) -> None:
    store = diary(encoder=None)
    before = state(store)
    with pytest.raises(MemlabError):
        store.add("x", **{field: value})
    assert state(store) == before


def test_a_frames_missing_cells_count_as_not_given() -> None:
    frame = pd.DataFrame(
        {
            "content": ["a", "b"],
            "importance": [0.5, np.nan],
            "sequence": [1, None],
            "happened_at": [pd.Timestamp("2024-05-20", tz="UTC"), pd.NaT],
            "role": ["user", pd.NA],
        }
    )
    store = MemoryStore(encoder=None)
    one, two = map(store.get, store.add_many(frame, progress=False))
    assert (one.sequence, one.role, one.importance) == (1, "user", 0.5)
    assert (two.sequence, two.role, two.importance, two.happened_at) == (None, None, 0.5, None)
