"""The dense index: exact cosines through any additions and removals, and nothing but good numbers let in."""

from typing import Any

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlab.errors import EncoderError, EncoderMismatch, InvalidArgument
from memlab.index import GATHER, DenseIndex

DIMENSION = 5


def unit(seed: int, rows: int = 1, dimension: int = DIMENSION) -> np.ndarray:
    """Unit rows; every seventh seed gives rows of zeros."""
    rng = np.random.default_rng(seed)
    made = rng.standard_normal((rows, dimension)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    if seed % 7 == 0:
        made[rng.random(rows) < 0.7] = 0
    return made


def spans(rows: int) -> list[tuple[int, int]]:
    return [(10 * n, 10 * n + 15) for n in range(rows)]


def filled(count: int, windows: int = 1) -> tuple[DenseIndex, dict[int, np.ndarray]]:
    index, twin = DenseIndex(DIMENSION), {slot: unit(slot, windows) for slot in range(count)}
    index.add(list(twin), list(twin.values()), [spans(windows)] * count)
    return index, twin


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(st.tuples(st.integers(0, 50), st.integers(1, 3)), min_size=1, max_size=4)),
        st.tuples(st.just("remove"), st.integers(0, 20)),
    ),
    max_size=12,
)


def play(operations: list[tuple[str, Any]]) -> tuple[DenseIndex, dict[int, np.ndarray], int]:
    """Do the operations to an index and to a dict of matrices; slots are never used again."""
    index, twin, size = DenseIndex(DIMENSION), {}, 0
    for verb, what in operations:
        if verb == "add":
            slots = list(range(size, size + len(what)))
            matrices = [unit(seed, rows) for seed, rows in what]
            index.add(slots, matrices, [spans(rows) for _, rows in what])
            twin.update(zip(slots, matrices, strict=True))
            size += len(what)
        else:
            index.remove(what)
            twin.pop(what, None)
    return index, twin, size


def close(found: np.ndarray, expected: np.ndarray) -> bool:
    return np.allclose(found, expected, rtol=0, atol=1e-6, equal_nan=True)


@given(OPERATIONS, st.lists(st.integers(0, 99), min_size=1, max_size=3))
def test_scores_are_the_best_cosines_after_any_edits(operations: list[tuple[str, Any]], seeds: list[int]) -> None:
    index, twin, size = play(operations)
    queries = np.concatenate([unit(seed) for seed in seeds])
    found = index.scores(queries, np.arange(size))
    assert found.dtype == np.float32
    assert found.shape == (len(queries), size)
    for query, line in zip(queries, found, strict=True):
        assert close(line, oracles.cosines(query, twin, size))


@given(OPERATIONS)
def test_the_index_holds_just_what_was_not_removed(operations: list[tuple[str, Any]]) -> None:
    index, twin, size = play(operations)
    kept = {slot: rows[rows.any(axis=1)] for slot, rows in twin.items()}
    assert len(index) == len(twin)
    assert {slot for slot in range(size + 2) if slot in index} == set(twin)
    assert index.rows == sum(map(len, kept.values())) == len(index.matrix) == len(index.owners)
    for slot, rows in kept.items():
        assert np.array_equal(index.vectors(slot), rows)
        mine = index.matrix[index.owners == slot]
        assert sorted(mine.tolist()) == sorted(rows.tolist())
    assert len(index.vectors(size + 1)) == 0


@given(OPERATIONS, st.integers(0, 99))
def test_the_best_window_is_the_span_of_the_best_row(operations: list[tuple[str, Any]], seed: int) -> None:
    index, twin, _ = play(operations)
    query = unit(seed)[0]
    for slot, rows in twin.items():
        speaks = np.flatnonzero(rows.any(axis=1))
        if len(rows) == 1 or not len(speaks):
            assert index.best_window(query, slot) is None
        else:
            assert (
                index.best_window(query, slot) == spans(len(rows))[max(speaks, key=lambda at: (rows[at] @ query, -at))]
            )


@pytest.mark.parametrize("windows", [1, 3])
def test_a_few_memories_score_the_same_as_among_all(windows: int) -> None:
    index, twin = filled(200, windows)
    for slot in range(0, 200, 3):
        index.remove(slot)
        del twin[slot]
    few = np.array([1, 4, 5, 6, 151])  # 6 is gone
    assert len(few) < GATHER * len(index)
    queries = np.concatenate([unit(1), unit(1001), np.zeros((1, DIMENSION), np.float32)])
    for chosen in (few, np.arange(100), np.array([], dtype=np.intp)):
        found = index.scores(queries, chosen)
        assert np.array_equal(found, index.scores(queries, np.arange(200))[:, chosen], equal_nan=True)


def test_a_batch_scores_exactly_like_its_queries_one_by_one() -> None:
    index, _ = filled(100, 2)
    queries = unit(5, 9)
    one_by_one = np.concatenate([index.scores(query[None], np.arange(100)) for query in queries])
    assert np.array_equal(index.scores(queries, np.arange(100)), one_by_one, equal_nan=True)


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5, 8, 12, 15, 16, 17, 24, 33, 100, 384])
def test_a_row_has_the_same_digits_whatever_is_scored_beside_it(dimension: int) -> None:
    rng, index = np.random.default_rng(dimension), DenseIndex(dimension)
    rows = rng.standard_normal((203, dimension)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[[0, 1, 2, 3, 50, 101, 200, 201, 202]] = rows[7]
    index.add(range(203), list(rows[:, None]), [[(0, 1)]] * 203)
    query = rows[rng.integers(203), None]
    whole = index.scores(query, np.arange(203))[0]
    assert len(set(whole[[0, 1, 2, 3, 7, 50, 101, 200, 201, 202]].tolist())) == 1
    for size in (1, 2, 3, 5, 20, 61, 100, 150):
        some = rng.permutation(203)[:size]
        assert np.array_equal(index.scores(query, some)[0], whole[some])


@given(OPERATIONS, st.lists(st.integers(0, 99), min_size=1, max_size=4), st.booleans())
def test_a_scan_is_as_near_to_the_scores_as_it_says(
    operations: list[tuple[str, Any]], seeds: list[int], frozen: bool
) -> None:
    index, _, size = play(operations)
    queries, slots = np.concatenate([unit(seed) for seed in seeds]), np.arange(size)[::-1].copy()
    slots.flags.writeable = not frozen  # its rows are kept
    queries = queries[queries.any(axis=1)]
    if not len(queries):
        return
    for _ in range(2):
        scan, exact = index.scan(queries, slots), index.scores(queries, slots)
        known = np.flatnonzero(~np.isnan(exact[0]))
        places = known if scan.places is None else scan.places
        assert places.tolist() == known.tolist()
        assert len(places) == scan.values.shape[1]
        assert np.abs(scan.values - exact[:, places]).max(initial=0) <= scan.error
        assert (scan.error == 0) == (len(queries) == 1)
        groups = scan.largest.shape[1]
        members = [scan.members(np.array([group])) for group in range(groups)]
        assert sorted(np.concatenate(members).tolist()) == list(range(len(places)))
        for group, mine in enumerate(members if len(places) else ()):
            assert np.array_equal(scan.largest[:, group], scan.values[:, mine].max(axis=1))
            assert np.array_equal(scan.smallest[:, group], scan.values[:, mine].min(axis=1))


def test_rows_that_are_kept_are_found_anew_after_an_edit() -> None:
    index, twin = filled(40, 1)
    slots = np.arange(41)
    slots.flags.writeable = False
    query = unit(1)
    index.scores(query, slots)
    index.remove(3)
    assert np.isnan(index.scores(query, slots)[0, 3])
    index.add([40], [query], [spans(1)])
    assert index.scores(query, slots)[0, 40] == pytest.approx(1)
    assert close(index.scores(query, slots)[0, :3], oracles.cosines(query[0], twin, 40)[:3])


def test_equal_vectors_score_alike_wherever_they_stand() -> None:
    index = DenseIndex(384)
    same, rng = unit(1, 1, 384), np.random.default_rng(0)
    for slot in range(101):
        index.add([slot], [same if slot % 3 == 0 else unit(slot + 500, 1, 384)], [[(0, 1)]])
    index.remove(int(rng.integers(1, 100)))
    found = index.scores(unit(3, 1, 384), np.arange(101))[0]
    assert len(np.unique(found[::3][~np.isnan(found[::3])])) == 1


def test_a_memory_of_zeros_beside_one_of_two_windows_does_not_hide_the_better_one() -> None:
    index = DenseIndex(2)
    zero, two = np.zeros((1, 2), np.float32), np.array([[1, 0], [0, 1]], np.float32)
    index.add([0, 1], [zero, two], [[(0, 1)], spans(2)])
    found = index.scores(np.array([[1, 0]], np.float32), np.arange(2))[0]
    assert np.isnan(found[0])
    assert found[1] == 1


def test_a_query_of_zeros_says_nothing() -> None:
    index, _ = filled(3)
    assert np.isnan(index.scores(np.zeros((1, DIMENSION), np.float32), np.arange(3))).all()


def test_an_empty_index_scores_nothing() -> None:
    assert np.isnan(DenseIndex(DIMENSION).scores(unit(1), np.arange(4))).all()
    assert DenseIndex(DIMENSION).scores(unit(1, 3)[:0], np.arange(4)).shape == (0, 4)


def test_rounding_never_leaves_the_bounds() -> None:
    row = np.full((1, 3), 0.57735033, np.float32)  # a little longer than 1
    index = DenseIndex(3)
    index.add([0, 1], [row, -row], [[(0, 1)]] * 2)
    assert index.scores(row, np.arange(2)).tolist() == [[1.0, -1.0]]


@pytest.mark.parametrize("queries", [unit(1)[0], unit(1)[None], unit(1, 1, 4), np.zeros((2, 0), np.float32)])
def test_queries_of_another_shape_are_refused_with_both_shapes(queries: np.ndarray) -> None:
    index, _ = filled(2)
    with pytest.raises(EncoderMismatch, match=rf"{DIMENSION}") as caught:
        index.scores(queries, np.arange(2))
    assert str(queries.shape) in str(caught.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused_before_anything_is_written(bad: float) -> None:
    index, _ = filled(2)
    broken = unit(1)
    broken[0, 2] = bad
    with pytest.raises(EncoderError, match="NaN or infinity"):
        index.add([5, 6], [unit(2), broken], [spans(1)] * 2)
    with pytest.raises(EncoderError, match="NaN or infinity"):
        index.scores(broken, np.arange(2))
    assert (len(index), 5 in index) == (2, False)


@pytest.mark.parametrize(
    ("slots", "vectors", "parts", "error"),
    [
        ([5], [unit(1)[0]], [spans(1)], EncoderMismatch),
        ([5], [unit(1, 1, 4)], [spans(1)], EncoderMismatch),
        ([5, 6], [unit(1), unit(1, 1, 4)], [spans(1)] * 2, EncoderMismatch),
        ([5], [unit(1, 2)], [spans(1)], InvalidArgument),
        ([5, 6], [unit(1)], [spans(1)], InvalidArgument),
        ([5], [unit(1)], [], InvalidArgument),
        ([5, 5], [unit(1)] * 2, [spans(1)] * 2, InvalidArgument),
        ([5, 1], [unit(1)] * 2, [spans(1)] * 2, InvalidArgument),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_written(
    slots: list[int], vectors: list[np.ndarray], parts: Any, error: type[Exception]
) -> None:
    index, twin = filled(2)
    with pytest.raises(error):
        index.add(slots, vectors, parts)
    assert (len(index), index.rows) == (2, sum(int(rows.any()) for rows in twin.values()))


def test_what_is_handed_out_is_no_way_in() -> None:
    index, twin = filled(3)
    for view in (index.matrix, index.owners):
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 0
    index.vectors(1)[:] = 0
    mine = unit(78)
    index.add([9], [mine], [spans(1)])
    mine[:] = 0
    assert np.array_equal(index.vectors(1), twin[1])
    assert index.vectors(9).any()


def test_the_faiss_index_finds_what_the_scores_say_and_is_a_copy() -> None:
    index, twin = filled(50, 2)
    for slot in (3, 20, 49):
        index.remove(slot)
        del twin[slot]
    exported, owners = index.to_faiss(), index.owners.copy()
    query = unit(8)
    distances, rows = exported.search(query, exported.ntotal)
    best: dict[int, float] = {}
    for score, row in zip(distances[0], rows[0], strict=True):
        best.setdefault(int(owners[row]), float(score))
    expected = oracles.cosines(query[0], twin, 50)
    assert exported.ntotal == index.rows
    assert all(abs(expected[slot] - score) < 1e-6 for slot, score in best.items())
    index.remove(1)
    assert exported.ntotal == index.rows + len(twin[1][twin[1].any(axis=1)])


@pytest.mark.parametrize("order", [[0, 2, 5, 7, 9], [7, 0, 9, 2, 5]])
def test_an_index_made_at_once_is_the_one_made_by_adding(order: list[int]) -> None:
    matrix = np.concatenate([unit(seed) for seed in range(len(order))])
    matrix[[0, 3]] = 0
    added = DenseIndex(DIMENSION)
    for place in np.argsort(order).tolist():
        added.add([order[place]], [matrix[place : place + 1]], [[(0, 1)]])
    index = DenseIndex.of(order, np.concatenate([matrix, np.full((3, DIMENSION), np.nan, dtype=np.float32)]))
    assert len(index) == len(added) == 5
    assert index.owners.tolist() == added.owners.tolist() == sorted(set(order) - {order[0], order[3]})
    assert np.array_equal(index.matrix, added.matrix)
    index.remove(5)
    index.add([5, 12], [unit(8), unit(9)], [[(0, 1)]] * 2)
    assert [slot in index for slot in (0, 1, 5, 12, 13)] == [True, False, True, True, False]
    query = unit(1)
    assert np.allclose(index.scores(query, np.array([12]))[0], np.clip(unit(9) @ query[0], -1, 1), equal_nan=True)


def test_an_index_made_at_once_may_be_empty_and_refuses_what_is_not_finite() -> None:
    assert len(DenseIndex.of([], np.empty((0, DIMENSION), dtype=np.float32))) == 0
    with pytest.raises(EncoderError):
        DenseIndex.of([0], np.full((1, DIMENSION), np.inf, dtype=np.float32))
