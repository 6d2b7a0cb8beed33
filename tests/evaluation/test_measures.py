"""Measures against values worked out by hand, against their slow twin, and against what they promise."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles_evaluation import measure

from memlab.errors import InvalidArgument
from memlab.evaluation.measures import KINDS, parse_measure, score

EVERY = [
    "recall@1", "recall@3", "recall@10", "success@1", "success@5", "all@2", "all@10", "nDCG@3", "nDCG@10", "nDCG",
    "MRR", "MRR@2", "MAP", "MAP@3", "P@1", "P@5", "judged@3", "judged@10",
]  # fmt: skip
UNITS = [f"u{i}" for i in range(8)]
RANKINGS = st.permutations(UNITS).flatmap(lambda p: st.integers(0, 8).map(lambda n: p[:n]))
GRADES = st.dictionaries(st.sampled_from([*UNITS, "far"]), st.integers(0, 3), min_size=1).filter(
    lambda grades: any(grades.values())
)


def one(name, ranking, grades):
    """A measure of one query."""
    return score({"q": ranking}, {"q": grades}, [parse_measure(name)])[parse_measure(name).name]["q"]


# The ranking is x (not judged), b (grade 2), a (grade 1), c (judged, grade 0); d (grade 1) isn't found.
BY_HAND = {
    "recall@1": 0.0,
    "recall@2": 1 / 3,
    "recall@10": 2 / 3,
    "success@1": 0.0,
    "success@2": 1.0,
    "all@10": 0.0,
    "P@2": 1 / 2,
    "P@10": 2 / 10,
    "MRR": 1 / 2,
    "MRR@1": 0.0,
    "MAP": (1 / 2 + 2 / 3) / 3,
    "MAP@2": (1 / 2) / 3,
    "nDCG@10": (2 / math.log2(3) + 1 / math.log2(4)) / (2 + 1 / math.log2(3) + 1 / math.log2(4)),
    "nDCG@2": (2 / math.log2(3)) / (2 + 1 / math.log2(3)),
    "judged@1": 0.0,
    "judged@4": 3 / 4,
    "judged@10": 3 / 4,
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_measure_has_the_value_worked_out_by_hand(name):
    found = one(name, ["x", "b", "a", "c"], {"a": 1, "b": 2, "c": 0, "d": 1})
    assert found == pytest.approx(BY_HAND[name], abs=1e-12)


def test_recall_success_and_all_are_three_things():
    grades = dict.fromkeys("abcd", 1)
    values = [one(f"{kind}@10", ["a", "x", "y"], grades) for kind in ("recall", "success", "all")]
    assert values == [0.25, 1.0, 0.0]
    assert one("all@10", ["d", "x", "c", "b", "a"], grades) == 1.0
    assert one("all@4", ["d", "x", "c", "b", "a"], grades) == 0.0


def test_the_best_order_of_ndcg_is_that_of_all_gold_not_of_what_was_found():
    assert one("nDCG@10", ["a"], {"a": 1, "b": 1, "c": 1}) == pytest.approx(1 / (1 + 1 / math.log2(3) + 0.5))


@given(RANKINGS, GRADES)
def test_every_measure_equals_its_slow_twin_and_stays_from_0_to_1(ranking, grades):
    values = score({"q": ranking}, {"q": grades}, [parse_measure(name) for name in EVERY])
    for name in EVERY:
        assert values[name]["q"] == pytest.approx(measure(name, ranking, grades), abs=1e-9), name
        assert 0 <= values[name]["q"] <= 1


@pytest.mark.parametrize("name", EVERY)
def test_a_query_with_no_ranking_or_an_empty_one_has_0(name):
    values = score({"q1": []}, {"q1": {"a": 1}, "q2": {"a": 1}}, [parse_measure(name)])
    assert values == {name: {"q1": 0.0, "q2": 0.0}}


def test_queries_without_grades_are_not_looked_at():
    assert score({"q9": ["a"]}, {"q1": {"a": 1}}, [parse_measure("MRR")]) == {"MRR": {"q1": 0.0}}


def test_the_rank_counts_and_ties_are_not_broken_again():
    assert one("success@1", ["a", "z"], {"a": 1}) == 1.0
    assert one("success@1", ["z", "a"], {"z": 1}) == 1.0


@pytest.mark.parametrize(
    ("written", "name"),
    [("recall@10", "recall@10"), ("Recall@5", "recall@5"), ("ndcg@10", "nDCG@10"), ("mrr", "MRR"), ("p@5", "P@5")],
)
def test_a_name_is_read_whatever_its_letter_case(written, name):
    assert str(parse_measure(written)) == name


@pytest.mark.parametrize(
    "written", ["R@5", "recall@0", "recall@-1", "recall@05", "recall@", "hits@5", "", " MRR", 5, None]
)
def test_an_unknown_measure_lists_the_known(written):
    with pytest.raises(InvalidArgument, match=r"there is no measure .*; there are recall@k, success@k, all@k"):
        parse_measure(written)


@pytest.mark.parametrize("written", ["recall", "success", "all", "P", "judged"])
def test_a_measure_that_needs_a_cut_off_says_so(written):
    with pytest.raises(InvalidArgument, match=f"needs a cut-off, such as {written}@10"):
        parse_measure(written)


def test_every_row_of_the_table_can_be_taken():
    for kind in KINDS.values():
        assert one(f"{kind.name}@1", ["a"], {"a": 1}) == 1.0
