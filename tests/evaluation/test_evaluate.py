"""Means over the benchmark's queries: what counts, what doesn't, and that the reader is told."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlab.bench.recall import comparison
from memlab.errors import InvalidArgument
from memlab.evaluation.evaluate import evaluate
from memlab.trials import Benchmark, Qrels, Query, Run

UNITS = [f"m{i}" for i in range(6)]


def bench(qrels, queries=None) -> Benchmark:
    """Six memories and the queries that the qrels name, or others."""
    return Benchmark(
        name="tiny",
        level="memory",
        memories=[{"memory_id": name, "content": name} for name in UNITS],
        queries=queries or [Query(query_id, f"{query_id}?") for query_id in qrels],
        qrels=Qrels(qrels),
    )


def run(**rankings) -> Run:
    """A run whose rankings are lists of units."""
    return Run("r", {q: [(unit, 1.0) for unit in units] for q, units in rankings.items()}, ordered=True)


def test_a_query_missing_from_the_run_counts_0_and_a_foreign_one_does_not_count():
    found = evaluate(run(q1=["m1"], q9=["m2"]), bench({"q1": ["m1"], "q2": ["m2"]}), measures=["recall@5"])
    assert found.means == {"recall@5": 0.5}
    assert (found.n_scored, found.missing, found.foreign) == (2, ("q2",), ("q9",))
    assert "1 aren't in the run and count 0: q2." in str(found)
    assert "1 of the run aren't asked here and don't count: q9." in str(found)


def test_an_empty_ranking_counts_0():
    assert evaluate(run(q1=[]), bench({"q1": ["m1"]})).means == {"recall@5": 0, "recall@10": 0, "nDCG@10": 0}


def test_a_run_of_nothing_has_0_in_everything():
    found = evaluate(run(), bench({"q1": ["m1"], "q2": ["m2"]}), measures=["recall@5", "MRR", "judged@5", "all@3"])
    assert set(found.means.values()) == {0.0}
    assert found.n_scored == 2


def test_a_query_without_a_relevant_unit_is_asked_and_not_scored():
    queries = [Query("q1", "a?"), Query("q2", "b?"), Query("q3", "c?")]
    found = evaluate(run(q1=["m1"], q2=["m1"], q3=["m1"]), bench({"q1": ["m1"], "q2": {"m2": 0}}, queries))
    assert (found.means["recall@5"], found.n_scored, found.n_asked) == (1.0, 1, 3)
    assert "1 scored of 3 asked. 2 have no relevant unit and aren't scored." in " ".join(found.notes)
    assert math.isnan(found.per_query.set_index("query_id").loc["q3", "recall@5"])


def adversarial() -> Benchmark:
    """Two kinds, one of which isn't answerable but has qrels, and one query that is in no kind."""
    queries = [
        Query("q1", "a?", slices={"kind": "plain"}),
        Query("q2", "b?", slices={"kind": "trap"}, answerable=False),
        Query("q3", "c?"),
        Query("q4", "d?", slices={"kind": "empty"}),
    ]
    return bench({"q1": ["m1"], "q2": ["m2"], "q3": ["m3"]}, queries)


def test_unanswerable_queries_stand_in_slices_only():
    found = evaluate(run(q1=["m1"], q2=["m0"], q3=["m3"]), adversarial(), measures=["recall@5"], by="kind")
    assert (found.means, found.n_scored, found.n_asked) == ({"recall@5": 1.0}, 2, 3)
    assert found.n_unanswerable == 1
    trap = found.slices["trap"]
    assert (trap.means, trap.n_scored, trap.n_asked) == ({"recall@5": 0.0}, 1, 1)
    assert found.slices["(none)"].n_scored == 1
    assert list(found.slices) == ["(none)", "empty", "plain", "trap"]


def test_what_nothing_was_scored_of_is_absent_and_not_0():
    found = evaluate(run(q1=["m1"]), adversarial(), measures=["recall@5"], by="kind")
    empty = found.slices["empty"]
    assert math.isnan(empty.means["recall@5"])
    assert (empty.n_scored, empty.n_asked) == (0, 1)
    (row,) = [row for row in found.rows() if row[0] == "empty"]
    assert row == ["empty", "–", "0 of 1"]


def test_every_line_of_the_table_says_how_many_were_scored_of_how_many():
    found = evaluate(run(q1=["m1"], q3=["m0", "m3"]), adversarial(), measures=["success@1", "MRR"], by="kind")
    assert str(found).split("\n") == [
        "r on tiny, level memory",
        "        success@1    MRR  scored",
        "all          .500   .750  2 of 3",
        "(none)       .000   .500  1 of 1",
        "empty           –      –  0 of 1",
        "plain       1.000  1.000  1 of 1",
        "trap         .000   .000  1 of 1",
        "2 scored of 3 asked.",
        "1 have no relevant unit and aren't scored.",
        "1 without an answer stand in slices only.",
        "1 aren't in the run and count 0: q2.",
    ]


def test_it_shows_in_a_notebook_without_letting_text_become_markup():
    queries = [Query("q1", "a?", slices={"kind": "<b>x</b>"})]
    html = evaluate(run(q1=["m1"]), bench({"q1": ["m1"]}, queries), by="kind")._repr_html_()
    assert "<b>x</b>" not in html
    assert "1 of 1" in html


def test_the_frame_has_a_row_for_all_and_one_a_slice():
    frame = evaluate(run(q1=["m1"]), adversarial(), measures=["recall@5"], by="kind").frame
    assert list(frame.columns) == ["recall@5", "n_scored", "n_asked"]
    assert list(frame.index) == ["all", "kind: (none)", "kind: empty", "kind: plain", "kind: trap"]
    assert list(frame["n_asked"]) == [3, 1, 1, 1, 1]


def test_there_is_a_row_a_query_in_the_order_of_the_benchmark():
    timed = Run("r", {"q3": [("m3", 1.0)], "q1": [("m1", 1.0)]}, {"q1": 0.25})
    frame = evaluate(timed, adversarial(), measures=["recall@5"]).per_query
    assert list(frame["query_id"]) == ["q1", "q2", "q3", "q4"]
    assert list(frame["recall@5"].fillna(-1)) == [1.0, 0.0, 1.0, -1]
    assert list(frame["seconds"].fillna(-1)) == [0.25, -1, -1, -1]
    assert list(frame["kind"].iloc[:2]) == ["plain", "trap"]


@given(st.permutations([("m1", 0.5), ("m2", 0.5), ("m3", 0.5), ("m4", 0.9)]))
def test_ties_give_the_same_value_in_whatever_order_a_run_comes(pairs):
    found = evaluate(Run("r", {"q1": pairs}), bench({"q1": ["m2"]}), measures=["MRR"])
    assert found.means["MRR"] == pytest.approx(1 / 3)


@given(
    st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), st.permutations(UNITS).map(lambda p: p[:4])),
    st.dictionaries(
        st.sampled_from(["q1", "q2", "q3"]),
        st.dictionaries(st.sampled_from(UNITS), st.integers(0, 2), min_size=1),
        min_size=1,
    ),
)
def test_the_mean_is_that_of_the_scored_queries_of_the_qrels(rankings, qrels):
    found = evaluate(run(**rankings), bench(qrels), measures=["recall@3"])
    each = [
        len(set(rankings.get(q, [])[:3]) & {u for u, g in units.items() if g}) / sum(g > 0 for g in units.values())
        for q, units in qrels.items()
        if any(units.values())
    ]
    assert (found.n_scored, found.n_asked) == (len(each), len(qrels))
    if each:
        assert found.means["recall@3"] == pytest.approx(sum(each) / len(each))
        assert 0 <= found.means["recall@3"] <= 1
    else:
        assert math.isnan(found.means["recall@3"])


def test_a_cut_off_beyond_the_depth_of_the_run_is_refused():
    short = Run("short", {"q1": [("m1", 1.0)]}, k=5)
    assert evaluate(short, bench({"q1": ["m1"]}), measures=["recall@5"]).means == {"recall@5": 1.0}
    with pytest.raises(InvalidArgument, match=r"recall@10 can't be taken of run 'short', which ranks 5 units.*k=10"):
        evaluate(short, bench({"q1": ["m1"]}))


def test_an_unknown_slice_lists_the_known():
    with pytest.raises(InvalidArgument, match=r"have no slice 'category'; they have \['kind'\]"):
        evaluate(run(), adversarial(), by="category")


def test_measures_are_a_list_of_names():
    with pytest.raises(InvalidArgument, match=r"give a list, such as \['MRR'\]"):
        evaluate(run(), adversarial(), measures="MRR")
    found = evaluate(run(q1=["m1"]), adversarial(), measures=["mrr", "MRR"])
    assert list(found.means) == ["MRR"]


def test_several_evaluations_make_one_table():
    found = {
        name: evaluate(run(q1=[unit]), bench({"q1": ["m1"]}), measures=["recall@5"])
        for name, unit in (("good", "m1"), ("bad", "m2"))
    }
    assert comparison(found).split("\n") == [
        "method       recall@5  scored",
        "good    all     1.000  1 of 1",
        "bad     all      .000  1 of 1",
        "1 scored of 1 asked.",
    ]
    assert comparison({}) == "no method was measured"
    assert json.dumps(dict(found["good"].means)) == '{"recall@5": 1.0}'
