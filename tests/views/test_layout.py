"""Layouts are finite, the same every time, tight, and stay where they were."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_views import nearest_pair, stress

from memlab.views.layout import Spacing, _between, _distances, _majorize, _pivot_start, layout
from memlab.views.packing import pack


def random_pairs(count: int, pairs: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, count, size=(pairs, 2))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, np.ndarray]:
    count = draw(st.integers(1, 30))
    ends = st.integers(0, count - 1)
    return count, np.array(draw(st.lists(st.tuples(ends, ends), max_size=40)), dtype=int).reshape(-1, 2)


@given(graphs())
@settings(max_examples=25)
def test_every_dot_gets_a_finite_place_of_its_own(graph: tuple[int, np.ndarray]) -> None:
    count, pairs = graph
    points = layout(count, pairs).points
    assert points.shape == (count, 2)
    assert np.isfinite(points).all()
    assert count == 1 or nearest_pair(points) > 10


@given(graphs())
@settings(max_examples=10)
def test_the_same_graph_is_laid_out_the_same_however_its_edges_are_listed(graph: tuple[int, np.ndarray]) -> None:
    count, pairs = graph
    again = layout(count, np.vstack([pairs[::-1, ::-1], pairs])).points
    assert np.array_equal(layout(count, pairs).points, again)


def test_another_seed_may_move_dots_but_the_same_never_does() -> None:
    pairs = random_pairs(40, 60)
    assert np.array_equal(layout(40, pairs, seed=3).points, layout(40, pairs, seed=3).points)
    assert not np.array_equal(layout(40, pairs, seed=3).points, layout(40, pairs, seed=4).points)


def test_no_dots_make_an_empty_layout() -> None:
    made = layout(0, np.zeros((0, 2), dtype=int))
    assert made.points.shape == (0, 2)
    assert made.strip_top is None


def test_a_chain_of_three_is_straight_and_two_edges_long() -> None:
    points = layout(3, np.array([[0, 1], [1, 2]])).points
    first, second, both = (np.linalg.norm(points[a] - points[b]) for a, b in ((0, 1), (1, 2), (0, 2)))
    assert first == pytest.approx(second, rel=0.02)
    assert both == pytest.approx(first + second, rel=0.02)


def test_majorization_never_raises_the_stress() -> None:
    distance = _distances(12, random_pairs(12, 30)) * 64
    points = _pivot_start(distance, seed=0)
    found = [stress(_majorize(points, distance, most=steps), distance) for steps in range(8)]
    assert found == sorted(found, reverse=True)
    assert found[-1] < found[0]


def test_distances_by_the_cosine_theorem_equal_the_plain_ones() -> None:
    points = np.random.default_rng(0).normal(scale=100, size=(20, 2))
    plain = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert np.allclose(_between(points), plain, atol=1e-5)


def test_an_edge_is_longer_where_its_ends_share_fewer_neighbours() -> None:
    # 0, 1, 2 know each other, 3 hangs on 2: 0-1 have the same neighbours, 0-2 differ in one dot, 2-3 in two.
    distance = _distances(4, np.array([[0, 1], [0, 2], [1, 2], [2, 3]]))
    assert distance[0, 1] == 1
    assert distance[0, 2] == pytest.approx(1.22)
    assert distance[2, 3] == pytest.approx(1 + 0.22 * 2**0.5)


def test_a_long_chain_curls_up() -> None:
    points = layout(200, np.stack([np.arange(199), np.arange(1, 200)], axis=1)).points
    assert np.ptp(points, axis=0).max() < 0.5 * 199 * 64


def test_memories_without_an_association_stand_in_rows_below() -> None:
    made = layout(30, np.array([[0, 1], [1, 2]]))
    assert made.strip_top is not None
    assert made.points[:3, 1].max() < made.strip_top < made.points[3:, 1].min()


def test_a_graph_without_any_association_fills_a_grid() -> None:
    made = layout(24, np.zeros((0, 2), dtype=int))
    assert made.strip_top is None
    assert len(np.unique(made.points[:, 1])) > 2


def test_dots_with_a_place_keep_it_when_a_memory_is_added() -> None:
    pairs = random_pairs(30, 30)
    before = layout(30, pairs).points
    start = np.vstack([before, [[np.nan, np.nan]] * 4])
    # 30 joins the graph, 31 hangs on 30, 32 and 33 are alone.
    after = layout(34, np.vstack([pairs, [[0, 30], [30, 31]]]), start=start).points
    assert np.array_equal(after[:30], before)
    assert np.isfinite(after).all()
    assert np.linalg.norm(after[30] - before[0]) < 4 * Spacing().edge
    assert after[32:, 1].min() > before[:, 1].max()
    assert nearest_pair(after) > 10


def test_a_start_without_any_place_is_no_start() -> None:
    pairs = random_pairs(10, 12)
    assert np.array_equal(layout(10, pairs, start=np.full((10, 2), np.nan)).points, layout(10, pairs).points)


@pytest.mark.parametrize("pairs", [[[0, 3]], [[-1, 0]]])
def test_a_pair_that_names_no_dot_is_refused(pairs: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="there are the dots 0 to 2"):
        layout(3, np.array(pairs))


def test_a_start_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 2\); expected \(3, 2\)"):
        layout(3, np.zeros((0, 2), dtype=int), start=np.zeros((2, 2)))


def test_pieces_are_packed_without_touching_and_without_being_bent() -> None:
    rng = np.random.default_rng(0)
    pieces = [rng.uniform(-80, 80, size=(size, 2)) for size in (9, 5, 3, 2, 2, 1, 1, 1)]
    moved = pack(pieces, [np.zeros((0, 2))] * len(pieces), cell=40.0, aspect=1.5)
    for old, new in zip(pieces, moved, strict=True):
        assert np.allclose(new - new[0], old - old[0])
    between = [np.linalg.norm(a[:, None] - b[None], axis=2).min() for i, a in enumerate(moved) for b in moved[i + 1 :]]
    assert min(between) > 10


def test_three_hundred_memories_take_well_under_a_second() -> None:
    pairs = random_pairs(300, 500)
    layout(10, pairs[:2] % 10)
    start = time.perf_counter()
    layout(300, pairs)
    assert time.perf_counter() - start < 1.0
