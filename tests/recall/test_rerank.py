"""Maximal marginal relevance against hand-computed values and a slow twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles_recall import plain_mmr

from memlab.recall.rerank import diversify

X, Y, ZERO = [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]


def pick(scores, vectors, ids, k, weight):
    """Diversify plain lists."""
    return diversify(np.array(scores, dtype=float), np.array(vectors, dtype=np.float32), ids, k, weight)


def test_what_differs_comes_before_the_same_thing_again():
    assert pick([1.0, 0.9, 0.5], [X, X, Y], "abc", 3, 0.5) == [0, 2, 1]


def test_a_small_weight_lets_the_better_one_stand():
    # Stretched scores 1, 0.8, 0. Second pick at w = .1: .9 * .8 - .1 = .62 against .9 * 0 - 0 = 0.
    assert pick([1.0, 0.9, 0.5], [X, X, Y], "abc", 3, 0.1) == [0, 1, 2]


@given(st.lists(st.floats(0, 1).map(lambda x: round(x, 2)), min_size=1, max_size=8))
def test_a_weight_of_zero_keeps_the_ranking_by_score_and_id(scores):
    ids = [f"m{n}" for n in range(len(scores))]
    expected = sorted(range(len(scores)), key=lambda at: (-scores[at], ids[at]))
    assert pick(scores, [X] * len(scores), ids, len(scores), 0.0) == expected


def test_at_a_weight_of_one_the_best_is_still_first():
    assert pick([0.1, 0.9, 0.5], [X, Y, X], "abc", 3, 1.0) == [1, 2, 0]


def test_equals_go_by_id_whatever_the_order_they_come_in():
    assert pick([0.5, 0.5, 0.5], [X, X, X], ["c", "a", "b"], 3, 0.5) == [1, 2, 0]


def test_a_memory_without_a_vector_is_like_nothing():
    assert pick([1.0, 0.9, 0.8], [X, X, ZERO], "abc", 2, 0.5) == [0, 2]
    assert pick([1.0, 0.9, 0.8], [ZERO, ZERO, ZERO], "abc", 3, 0.5) == [0, 1, 2]


def test_opposites_are_as_different_as_strangers():
    assert pick([1.0, 0.9, 0.8], [X, Y, [-1.0, 0.0]], "abc", 3, 0.9) == [0, 1, 2]


@pytest.mark.parametrize("k", [1, 2, 5])
def test_no_more_than_k_and_no_more_than_there_are(k):
    assert len(pick([1.0, 0.9], [X, Y], "ab", k, 0.5)) == min(k, 2)


def test_nothing_gives_nothing():
    assert diversify(np.zeros(0), np.zeros((0, 2), dtype=np.float32), [], 3, 0.5) == []


ANGLES = st.integers(0, 11).map(lambda n: [float(np.cos(n * np.pi / 6)), float(np.sin(n * np.pi / 6))])


@given(
    st.lists(st.tuples(st.integers(0, 20), ANGLES), min_size=1, max_size=9),
    st.integers(1, 10),
    st.sampled_from([0.0, 0.125, 0.3, 0.5, 0.75, 1.0]),
)
def test_it_agrees_with_its_slow_twin(memories, k, weight):
    scores = [score / 20 for score, _ in memories]
    vectors = np.array([vector for _, vector in memories], dtype=np.float32)
    ids = [f"m{n}" for n in range(len(memories))]
    found, expected = pick(scores, vectors, ids, k, weight), plain_mmr(scores, vectors.tolist(), ids, k, weight)
    assert len(set(found)) == len(found) == len(expected)
    # Sums in another order may part what is equal: compare what each pick is worth.
    for place, (one, other) in enumerate(zip(found, expected, strict=True)):
        if one != other:
            assert place > 0
            assert _value(scores, vectors, found[:place], one, weight) == pytest.approx(
                _value(scores, vectors, found[:place], other, weight), abs=1e-5
            )
            break


def _value(scores, vectors, picked, at, weight):
    low, high = min(scores), max(scores)
    worth = (scores[at] - low) / (high - low) if high > low else 1.0
    return (1 - weight) * worth - weight * max(0.0, *(float(vectors[at] @ vectors[p]) for p in picked))
