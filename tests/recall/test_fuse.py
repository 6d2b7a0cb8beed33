"""Fusion against hand-computed values and a slow twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles_recall import plain_fuse, plain_normalise, plain_ranks

from memlab.recall.fuse import fuse, normalise, reciprocal_ranks

NAN = float("nan")
SCORES = st.lists(st.none() | st.floats(-5, 50).map(lambda x: round(x, 3)), min_size=1, max_size=12)


def array(scores):
    """None as NaN."""
    return np.array([NAN if score is None else score for score in scores], dtype=float)


def test_scores_are_stretched_from_zero_to_the_best():
    assert normalise(np.array([2.0, 4.0, NAN, 3.0])).tolist() == [0.5, 1.0, 0.0, 0.75]


def test_scores_below_zero_lower_the_floor():
    assert normalise(np.array([1.0, -1.0, 0.0])).tolist() == [1.0, 0.0, 0.5]


def test_the_worse_of_two_keeps_what_it_scores():
    assert normalise(np.array([0.8, 0.79])).tolist() == pytest.approx([1.0, 0.9875])


@pytest.mark.parametrize("scores", [[NAN, NAN], [0.0, 0.0], [-0.3, -0.3], [NAN, 0.0], []])
def test_nothing_above_the_floor_is_all_zero(scores):
    assert normalise(np.array(scores)).tolist() == [0.0] * len(scores)


def test_the_only_match_scores_one():
    assert normalise(np.array([NAN, 3.7, NAN])).tolist() == [0.0, 1.0, 0.0]


def test_reciprocal_ranks_share_the_best_rank_of_equals():
    found = reciprocal_ranks(np.array([5.0, NAN, 7.0, 5.0, 1.0]), k=60)
    assert found.tolist() == pytest.approx([61 / 62, 0.0, 1.0, 61 / 62, 61 / 64])


@given(SCORES)
def test_normalising_agrees_with_its_slow_twin(scores):
    assert normalise(array(scores)) == pytest.approx(plain_normalise(scores), abs=1e-12)


@given(SCORES, st.integers(1, 100))
def test_reciprocal_ranks_agree_with_their_slow_twin(scores, k):
    assert reciprocal_ranks(array(scores), k) == pytest.approx(plain_ranks(scores, k), abs=1e-12)


def test_shares_are_weighted_means():
    channels = {"dense": np.array([0.25, 0.5]), "lexical": np.array([NAN, 3.0]), "temporal": np.array([0.4, NAN])}
    shares, weights = fuse(channels, {"dense": 2, "lexical": 1, "temporal": 1}, "score", 60)
    assert weights == {"dense": 0.5, "lexical": 0.25, "temporal": 0.25}
    assert shares["dense"].tolist() == [0.25, 0.5]
    assert shares["lexical"].tolist() == [0.0, 0.25]
    assert shares["temporal"].tolist() == [0.1, 0.0]


def test_a_silent_channel_drops_out_with_its_weight():
    channels = {"dense": np.array([NAN, NAN]), "lexical": np.array([1.0, 2.0])}
    shares, weights = fuse(channels, {"dense": 9, "lexical": 1}, "score", 60)
    assert weights == {"lexical": 1.0}
    assert list(shares) == ["lexical"]


@pytest.mark.parametrize("channels", [{}, {"dense": np.array([NAN])}, {"dense": np.array([])}])
def test_where_no_channel_speaks_there_are_no_shares(channels):
    assert fuse(channels, {"dense": 1.0}, "score", 60) == ({}, {})


@pytest.mark.parametrize("weight", [1e308, 5e-324])
def test_extreme_weights_stay_numbers(weight):
    channels = {name: np.array([1.0, 2.0]) for name in ("dense", "lexical", "salience")}
    _, weights = fuse(channels, dict.fromkeys(channels, weight), "score", 60)
    assert list(weights.values()) == pytest.approx([1 / 3] * 3)


@given(st.data(), st.sampled_from(["score", "rrf"]), st.integers(1, 80))
def test_fusion_agrees_with_its_slow_twin(data, fusion, k):
    n = data.draw(st.integers(1, 8))
    some = st.lists(st.none() | st.floats(0, 9).map(lambda x: round(x, 2)), min_size=n, max_size=n)
    share = st.lists(st.none() | st.floats(0, 1), min_size=n, max_size=n)
    kinds = {"dense": some, "lexical": some, "temporal": share, "salience": share}
    channels = {name: data.draw(kind) for name, kind in kinds.items()}
    weights = {name: data.draw(st.floats(0.01, 3)) for name in channels}
    shares, kept = fuse({name: array(scores) for name, scores in channels.items()}, weights, fusion, k)
    total = np.sum([*shares.values(), np.zeros(n)], axis=0)
    assert total == pytest.approx(plain_fuse(channels, weights, fusion, k), abs=1e-9)
    assert ((total >= 0) & (total <= 1 + 1e-9)).all()
    assert not kept or sum(kept.values()) == pytest.approx(1)
