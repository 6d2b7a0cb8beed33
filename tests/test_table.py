"""The memory table: its frame equals one built naively, and nothing done to a frame reaches it."""

import dataclasses
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import oracles
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
from strategies import ids, memories, small_metadata

from memlab import table_columns
from memlab.errors import UnknownMemory
from memlab.records import FIELDS, Memory
from memlab.table import MISSING, Table
from memlab.values import freeze

T0 = datetime(2024, 5, 8, 12, tzinfo=UTC)
DTYPES = {
    **dict.fromkeys(["memory_id", "content", "space", "type", "role", "session_id", "content_type", "source"], "str"),
    **dict.fromkeys(["importance", "confidence"], "float64"),
    **dict.fromkeys(["tags", "metadata", "aliases"], "object"),
    **dict.fromkeys(["archived", "protected"], "bool"),
    **dict.fromkeys(oracles.TIMES, "datetime64[us, UTC]"),
    "sequence": "Int64",
    "access_count": "int64",
}


def memory(memory_id: str, **fields: Any) -> Memory:
    return Memory(**{"memory_id": memory_id, "content": "Tea.", "created_at": T0, "updated_at": T0, **fields})


def table_of(*rows: Memory) -> Table:
    table = Table()
    for row in rows:
        table.put(row)
    return table


def naive(rows: list[Memory], access: dict[str, tuple[int, int]] | None = None) -> pd.DataFrame:
    """The frame of some memories, built cell by cell."""
    columns = {}
    for name in FIELDS:
        cells = [getattr(row, name) for row in rows]
        if name == "access_count":
            cells = [(access or {}).get(row.memory_id, (0, 0))[0] for row in rows]
        if name == "accessed_at":
            found = [(access or {}).get(row.memory_id) for row in rows]
            cells = [None if seen is None else oracles.EPOCH + timedelta(microseconds=seen[1]) for seen in found]
        columns[name] = pd.Series(cells, dtype=DTYPES[name])
    return pd.DataFrame(columns)


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), memories(meta=small_metadata())),
        st.tuples(st.just("put"), memories(meta=small_metadata())),
        st.tuples(st.just("remove"), st.integers(0, 5)),
    ),
    max_size=9,
)
PATHS = [("space",), ("tags",), ("type",), ("sequence",), ("happened_at",), ("metadata", "a"), ("metadata", "a", "b")]


def play(
    operations: list[tuple[str, Any]], look: Callable[[Table, dict[str, Memory]], object]
) -> tuple[Table, dict[str, Memory]]:
    """Do the operations to a table and to a dict, looking after each."""
    table: Table = Table()
    twin: dict[str, Memory] = {}
    for verb, what in operations:
        if verb == "put":
            table.put(what)
            twin[what.memory_id] = what
        elif twin:
            gone = list(twin)[what % len(twin)]
            table.remove(gone)
            del twin[gone]
        look(table, twin)
    return table, twin


@given(OPERATIONS, st.dictionaries(ids(), st.tuples(st.integers(1, 99), st.integers(0, 10**15)), max_size=3))
def test_the_frame_is_the_one_built_naively_after_any_edits(
    operations: list[tuple[str, Any]], access: dict[str, tuple[int, int]]
) -> None:
    seen = []

    def look(table: Table, twin: dict[str, Memory]) -> None:
        seen.append((table.frame({}), naive(list(twin.values()))))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_columns, "CHUNK", 4)  # so that chunks are filled, edited and emptied
        patch.setattr(table_columns, "PIECE", 2)
        table, twin = play(operations, look)
        assert_frame_equal(table.frame(access), naive(list(twin.values()), access))
    # Compared at the end: a frame must not follow the table.
    for frame, expected in seen:
        assert_frame_equal(frame, expected)


@given(OPERATIONS)
def test_the_table_is_a_dict_by_id_whose_slots_are_never_used_again(operations: list[tuple[str, Any]]) -> None:
    seen: dict[int, str] = {}

    def look(table: Table, twin: dict[str, Memory]) -> None:
        assert table.slots.keys() == twin.keys()
        for memory_id, slot in table.slots.items():
            assert seen.setdefault(slot, memory_id) == memory_id

    table, twin = play(operations, look)
    assert list(table) == list(twin.values())
    assert len(table) == len(twin)
    assert table.alive.sum() == len(twin)
    for memory_id, row in twin.items():
        assert table.get(memory_id) == row
        assert table.event_times[table.slot(memory_id)] == oracles.micros(row.event_time)
        assert table.column("importance")[table.slot(memory_id)] == row.importance


@given(OPERATIONS)
def test_neighbours_in_a_session_are_what_the_slow_twin_says_after_any_edits(operations: list[tuple[str, Any]]) -> None:
    table, twin = play(operations, lambda table, twin: table.adjacent)
    before, after = table.adjacent
    names = [None if row is None else row.memory_id for row in table.rows] + [None]
    found = {row.memory_id: (names[before[slot]], names[after[slot]]) for slot, row in enumerate(table.rows) if row}
    # The rule for one place held by several: the one that came last, whatever was edited since.
    expected = oracles.neighbours(list(twin.values()))
    assert found == {memory_id: expected.get(memory_id, (None, None)) for memory_id in twin}


@given(OPERATIONS)
def test_coded_columns_give_every_value_exactly_after_any_edits(operations: list[tuple[str, Any]]) -> None:
    table, _ = play(operations, lambda table, twin: [table.coded(path) for path in PATHS])
    for path in PATHS:
        codes, values = table.coded(path)
        assert len(codes) == table.size
        for code, row in zip(codes, table.rows, strict=True):
            expected: Any = MISSING if row is None else getattr(row, path[0])
            for key in path[1:]:
                expected = expected.get(key, MISSING) if isinstance(expected, dict) else MISSING
            expected = MISSING if expected is None else expected
            assert values[code] is expected or (
                type(values[code]) is type(expected) and repr(values[code]) == repr(expected)
            )


# ---- the frame ----


@pytest.mark.parametrize("rows", [[], [memory("m1")], [memory("m1", sequence=3, happened_at=T0), memory("m2")]])
def test_columns_types_and_index_are_always_the_same(rows: list[Memory]) -> None:
    frame = table_of(*rows).frame({})
    assert tuple(frame.columns) == FIELDS == oracles.FIELDS
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == DTYPES
    assert frame.index.equals(pd.RangeIndex(len(rows)))


def test_a_table_that_was_emptied_has_an_empty_frame_of_the_same_types() -> None:
    table = table_of(memory("m1"), memory("m2"))
    table.remove("m1")
    table.remove("m2")
    assert_frame_equal(table.frame({"m1": (3, 5)}), Table().frame({}))


def test_access_to_a_memory_that_is_gone_counts_nowhere() -> None:
    table = table_of(memory("m1"), memory("m2"), memory("m3"))
    table.remove("m1")
    frame = table.frame({"m1": (9, 1), "m3": (2, 1_000_000)})
    assert frame["access_count"].tolist() == [0, 2]
    assert frame["accessed_at"].tolist() == [pd.NaT, pd.Timestamp("1970-01-01T00:00:01Z")]


ROWS = (
    memory("m1", metadata={"a": [1], "b": {"c": 1}}, tags=["x"], aliases=["old"], sequence=1, happened_at=T0),
    memory("m2", metadata={"a": 2}, type="Context", archived=True),
    memory("m3", content="Coffee.", importance=1),
)


def _loc(frame: pd.DataFrame) -> None:
    for name, cell in (("content", "x"), ("importance", 0.9), ("sequence", 7), ("happened_at", T0), ("archived", True)):
        frame.loc[0, name] = cell
        frame.loc[:, name] = cell


def _ilocs(frame: pd.DataFrame) -> None:
    for place, name in enumerate(frame.columns):
        if not isinstance(frame.iat[2, place], dict | tuple):  # noqa: PD009
            frame.iloc[0, place] = frame.iloc[2, place]
        frame.at[1, name] = frame.at[2, name]
        frame.iat[0, place] = frame.iat[1, place]  # noqa: PD009


def _arrays(frame: pd.DataFrame) -> None:
    for name in frame.columns:
        for array in (frame[name].array, frame[[name]].values, frame[name].to_numpy(), np.asarray(frame[name])):
            with suppress(ValueError):  # pandas makes most of them read-only, from version to version more
                array[0] = array[2]
            with suppress(ValueError):
                array[:2] = array[1:]
    with pytest.raises(ValueError, match="read-only"):
        frame["importance"].to_numpy()[0] = 0.9


def _force(array: np.ndarray) -> None:
    with suppress(ValueError):  # sealed memory stays so
        array.flags.writeable = True
        array[:] = array.flat[0]


def _raw_memory(frame: pd.DataFrame) -> None:
    """Beyond what pandas allows: the arrays below it, made writable where they can be."""
    for block in frame._mgr.blocks:
        values = block.values
        for name in ("_ndarray", "_data", "_mask"):
            if isinstance(array := getattr(values, name, None), np.ndarray):
                _force(array)
        if isinstance(values, np.ndarray):
            _force(values)


def _in_place(frame: pd.DataFrame) -> None:
    frame.replace("Tea.", "x", inplace=True)  # noqa: PD002
    frame.fillna({"type": "x", "role": "x"}, inplace=True)  # noqa: PD002
    numbers = frame[["importance", "confidence"]]
    numbers.mask(numbers > 0, 0.9, inplace=True)  # noqa: PD002
    frame.insert(0, "new", 1)
    frame.update(pd.DataFrame({"importance": [0.9] * 3}))
    frame.index = pd.Index(range(10, 10 + len(frame)), name="row")
    frame.columns = [name.upper() for name in frame.columns]


def _names(frame: pd.DataFrame) -> None:
    frame.index.name = frame.columns.name = "x"
    frame.attrs["x"] = 1
    del frame["content"]
    frame.pop("type")


def _series(frame: pd.DataFrame) -> None:
    for name in ("importance", "sequence", "content", "happened_at", "archived"):
        column = frame[name]
        column.iloc[0] = column.iloc[2]
        column.replace(column.iloc[1], column.iloc[2], inplace=True)  # noqa: PD002
    view = frame[frame.columns[:6]]
    view.iloc[:, 5] = 0.9


def _nested_cells(frame: pd.DataFrame) -> None:
    cells = frame["metadata"]
    for change in (
        lambda: cells[0].update(x=1),
        lambda: cells[0].__setitem__("x", 1),
        lambda: cells[0]["a"].append(2),
        lambda: cells[0]["b"].__setitem__("c", 2),
        lambda: frame["tags"][0].__setitem__(0, "y"),
    ):
        with pytest.raises((TypeError, AttributeError)):
            change()
    with pytest.raises(TypeError, match=r"store.update"):
        frame.metadata[0]["x"] = 1


@pytest.mark.parametrize(
    "write", [_loc, _ilocs, _arrays, _raw_memory, _in_place, _names, _series, _nested_cells], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("gap", [False, True])
def test_nothing_done_to_a_frame_reaches_the_table_or_another_frame(
    write: Callable[[pd.DataFrame], None], gap: bool
) -> None:
    table = table_of(memory("m0"), *ROWS) if gap else table_of(*ROWS)
    if gap:
        table.remove("m0")
    expected = naive(list(ROWS))
    other, mine = table.frame({}), table.frame({})
    write(mine)
    assert_frame_equal(other, expected)
    assert_frame_equal(table.frame({}), expected)
    assert other.attrs == table.frame({}).attrs == {}
    assert list(table) == list(ROWS)
    assert table.column("importance")[-3:].tolist() == [0.5, 0.5, 1.0]
    table.put(memory("m4"))
    assert_frame_equal(table.frame({}), naive([*ROWS, memory("m4")]))


def test_a_frame_stays_as_it_was_when_the_table_moves_on() -> None:
    table = table_of(*ROWS)
    frame = table.frame({})
    table.put(dataclasses.replace(ROWS[0], content="x", importance=0, sequence=9, archived=True, happened_at=None))
    table.remove("m2")
    for i in range(3000):
        table.put(memory(f"n{i}"))
    assert_frame_equal(frame, naive(list(ROWS)))
    assert len(table.frame({})) == 3002


def test_views_of_the_table_cannot_be_written() -> None:
    table = table_of(*ROWS)
    codes, _ = table.coded(("space",))
    for view in (*table.adjacent, table.alive, table.event_times, table.column("importance"), codes):
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1


# ---- slots, aliases, sessions ----


def test_unknown_memories_are_refused_by_id() -> None:
    table = table_of(memory("m1", aliases=["old"]))
    for look in (table.slot, table.get, table.remove):
        with pytest.raises(UnknownMemory, match="no memory has the id 'ghost'"):
            look("ghost")
    with pytest.raises(UnknownMemory, match="'old'"):
        table.remove("old")
    table.remove("m1")
    with pytest.raises(UnknownMemory, match="empty"):
        table.at(0)


def test_an_alias_leads_to_the_memory_that_has_it_now() -> None:
    table = table_of(memory("m1", aliases=["old", "older"]), memory("m2"))
    assert (table.slot("old"), table.get("older").memory_id) == (0, "m1")
    table.put(memory("m1", aliases=["older"]))
    with pytest.raises(UnknownMemory):
        table.get("old")
    table.put(memory("m2", aliases=["older"]))
    table.put(memory("m1"))
    assert table.get("older").memory_id == "m2"
    table.remove("m2")
    assert table.aliases == {}


def test_of_turns_with_one_place_the_newest_has_the_neighbours_and_gives_them_back() -> None:
    rows = [memory(f"m{n}", session_id="s", sequence=n) for n in (1, 2, 3)]
    table = table_of(*rows, memory("again", session_id="s", sequence=2))
    assert [side.tolist() for side in table.adjacent] == [[-1, -1, 3, 0], [3, -1, -1, 2]]
    table.put(dataclasses.replace(rows[1], content="edited"))
    assert [side.tolist() for side in table.adjacent] == [[-1, -1, 3, 0], [3, -1, -1, 2]]
    table.remove("again")
    assert [side.tolist() for side in table.adjacent] == [[-1, 0, 1, -1], [1, 2, -1, -1]]


def test_a_session_is_one_only_within_its_space() -> None:
    one, other = (memory(f"m{n}", session_id="s", sequence=n, space=f"space{n}") for n in (1, 2))
    table = table_of(one, other, memory("loose", session_id="s"), memory("alone", sequence=2))
    assert [side.tolist() for side in table.adjacent] == [[-1] * 4, [-1] * 4]
    table.put(dataclasses.replace(other, space="space1"))
    assert [side.tolist() for side in table.adjacent] == [[-1, 0, -1, -1], [1, -1, -1, -1]]


# ---- coded columns ----


def test_values_that_look_alike_have_codes_of_their_own() -> None:
    cells = [True, 1, 1.0, "1", "True", [1], "[1]", {"a": 1}, "{'a': 1}", [True], [1.0], "x" * 5000, None, [None]]
    table = table_of(*(memory(str(n), metadata={"k": cell}) for n, cell in enumerate(cells)))
    codes, values = table.coded(("metadata", "k"))
    assert len(set(codes.tolist())) == len(cells)
    assert [repr(values[code]) for code, cell in zip(codes, cells, strict=True) if cell is not None] == [
        repr(freeze(cell)) for cell in cells if cell is not None
    ]


def test_a_value_that_nothing_has_any_more_is_let_go() -> None:
    table = table_of(memory("m1", content="a secret"), memory("m2"))
    assert "a secret" in table.coded(("content",))[1]
    table.remove("m1")
    assert "a secret" not in table.coded(("content",))[1]
    for n in range(500):
        table.put(memory("m2", content=str(n)))
        codes, values = table.coded(("content",))
        assert values[codes[1]] == str(n)
    assert len(values) <= 4


def test_asking_for_endless_names_keeps_only_some_columns() -> None:
    table = table_of(*ROWS)
    for n in range(500):
        table.coded(("metadata", str(n)))
    assert len(table._coded) <= 32
