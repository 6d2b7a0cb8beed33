"""Query, Qrels, Run and Benchmark: what may be made, and what is refused by name."""

import dataclasses
import math
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlab.errors import DatasetError
from memlab.trials import Benchmark, Qrels, Query, Run

NAMES = st.text("abcdefg", min_size=1, max_size=3)


def bench(**changes) -> Benchmark:
    """Three memories, two of them one unit, and two questions."""
    parts = {
        "name": "tiny",
        "level": "memory",
        "memories": [{"memory_id": name, "content": f"about {name}"} for name in ("m1", "m2", "m3")],
        "queries": [Query("q1", "one?", slices={"kind": "x"}), Query("q2", "two?", answerable=False)],
        "qrels": Qrels({"q1": {"m1": 2, "m2": 0}}),
    }
    return Benchmark(**{**parts, **changes})


class TestQuery:
    def test_is_frozen_and_keeps_its_own_copy_of_the_slices(self):
        slices = {"kind": "temporal"}
        query = Query("q", "when?", slices=slices)
        slices["kind"] = "other"
        assert query.slices == {"kind": "temporal"}
        with pytest.raises(TypeError):
            query.slices["kind"] = "other"
        with pytest.raises(dataclasses.FrozenInstanceError):
            query.text = "other"

    def test_turns_its_time_into_utc(self):
        when = datetime(2024, 5, 20, 9, tzinfo=timezone(timedelta(hours=2)))
        assert Query("q", "when?", now=when).now == datetime(2024, 5, 20, 7, tzinfo=UTC)
        assert Query("q", "when?", now=when).now.utcoffset() == timedelta(0)

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"query_id": ""}, "query_id is blank"),
            ({"query_id": 7}, "query_id is of type int"),
            ({"query_id": "q7", "text": " "}, "the text of query 'q7' is blank"),
            ({"query_id": "q7", "space": ""}, "the space of query 'q7' is blank"),
            ({"query_id": "q7", "now": datetime(2024, 1, 1)}, "query 'q7': now is .* with a zone"),
            ({"query_id": "q7", "answerable": 1}, "query 'q7': answerable is 1"),
            ({"query_id": "q7", "slices": {"kind": 3}}, "slice 'kind' of query 'q7'"),
            ({"query_id": "q7", "slices": {"text": "x"}}, "a slice can't be called 'text'"),
        ],
    )
    def test_refuses_what_it_can_not_be(self, fields, message):
        with pytest.raises(DatasetError, match=message):
            Query(**{"text": "what?", **fields})


class TestQrels:
    def test_is_a_mapping_of_mappings_that_nobody_can_change(self):
        grades = {"q1": {"m1": 2}}
        qrels = Qrels(grades)
        grades["q1"]["m1"] = 0
        assert qrels == {"q1": {"m1": 2}}
        assert (list(qrels), len(qrels), "q1" in qrels, qrels.get("q9")) == (["q1"], 1, True, None)
        with pytest.raises(TypeError):
            qrels["q1"]["m1"] = 0

    def test_takes_numpy_integers_and_makes_them_plain(self):
        grade = Qrels({"q": {"m": np.int64(3)}})["q"]["m"]
        assert (grade, type(grade)) == (3, int)

    def test_only_grades_above_0_are_relevant(self):
        qrels = Qrels({"q": {"a": 0, "b": 1, "c": 4}})
        assert qrels.relevant("q") == ("b", "c")
        assert qrels.relevant("unknown") == ()

    def test_a_unit_listed_twice_counts_once(self):
        assert Qrels({"q": ["d1", "d1", "d2"]}) == {"q": {"d1": 1, "d2": 1}}

    @pytest.mark.parametrize("grade", [True, np.True_, -1, 1.0, np.float64(1), "1", None, math.nan])
    def test_refuses_a_grade_that_is_no_whole_number_from_0_up(self, grade):
        with pytest.raises(DatasetError, match=r"query 'q5' grades 'm5' with .*whole number from 0 up"):
            Qrels({"q5": {"m5": grade}})

    @pytest.mark.parametrize("grades", [{"": {"m": 1}}, {"q": {"": 1}}, {"q": {1: 1}}, {"q": "m1"}, {"q": 1}])
    def test_refuses_ids_and_shapes_that_are_not_as_described(self, grades):
        with pytest.raises(DatasetError):
            Qrels(grades)


class TestRun:
    @given(
        st.dictionaries(NAMES, st.sampled_from([0.0, 0.25, 0.5, 1.0]), max_size=8),
        st.randoms(use_true_random=False),
    )
    def test_ranks_by_score_then_id_whatever_the_order_given(self, scores, random):
        pairs = list(scores.items())
        random.shuffle(pairs)
        ranked = Run("r", {"q": pairs}).rankings["q"]
        assert ranked == tuple(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))
        assert ranked == Run("r", {"q": scores}).rankings["q"]

    def test_keeps_the_order_of_a_ranking_that_is_one(self):
        pairs = [("b", 0.1), ("a", 0.9), ("c", 0.1)]
        assert Run("r", {"q": pairs}, ordered=True).rankings["q"] == tuple(pairs)

    def test_a_query_may_have_found_nothing(self):
        assert Run("r", {"q": []}).rankings == {"q": ()}

    @pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, np.float32("nan"), True, "0.5", None])
    def test_refuses_a_score_that_is_no_finite_number(self, score):
        with pytest.raises(DatasetError, match=r"run 'r', query 'q5': the score of 'd5' is"):
            Run("r", {"q5": [("d4", 0.5), ("d5", score)]})

    def test_takes_numpy_scores_and_makes_them_plain(self):
        score = Run("r", {"q": [("d", np.float32(0.5))]}).rankings["q"][0][1]
        assert (score, type(score)) == (0.5, float)

    @pytest.mark.parametrize("ordered", [True, False])
    def test_refuses_a_unit_ranked_twice(self, ordered):
        with pytest.raises(DatasetError, match="query 'q1': 'd1' is ranked twice"):
            Run("r", {"q1": [("d1", 0.9), ("d1", 0.8), ("d2", 0.7)]}, ordered=ordered)

    @pytest.mark.parametrize("k", [0, -1, True, 2.0])
    def test_refuses_a_depth_that_is_none(self, k):
        with pytest.raises(DatasetError, match="k is"):
            Run("r", {}, k=k)

    def test_is_checked_against_a_benchmark_only_when_asked(self):
        run = Run("r", {"q1": [("m1", 1.0)], "q9": [("m1", 1.0)]})
        with pytest.raises(DatasetError, match=r"run 'r' has 1 queries that 'tiny' doesn't have: 'q9'"):
            run.check(bench())
        Run("r", {"q1": [("m1", 1.0)]}).check(bench())

    def test_shows_as_a_table_with_ranks_from_1(self):
        frame = Run("r", {"q1": [("a", 0.2), ("b", 0.4)], "q2": []}).frame
        assert frame.to_dict("list") == {
            "query_id": ["q1", "q1"],
            "rank": [1, 2],
            "unit_id": ["b", "a"],
            "score": [0.4, 0.2],
        }


class TestBenchmark:
    def test_counts_what_is_asked_and_what_is_scored(self):
        queries = [Query("q1", "a?"), Query("q2", "b?"), Query("q3", "c?"), Query("q4", "d?", answerable=False)]
        found = bench(queries=queries, qrels=Qrels({"q1": ["m1"], "q2": {"m2": 0}, "q4": ["m3"]}))
        assert (found.n_asked, found.n_scored, found.n_unanswerable) == (3, 1, 1)

    def test_keeps_its_own_copies(self):
        memories = [{"memory_id": "m1", "content": "x"}]
        found = bench(memories=memories, qrels=Qrels({"q1": ["m1"]}))
        memories[0]["content"] = "y"
        memories.append({})
        assert found.memories == ({"memory_id": "m1", "content": "x"},)

    def test_folds_memories_into_units(self):
        found = bench(units={"m1": "s1", "m2": "s1", "m3": None}, qrels=Qrels({"q1": ["s1"]}))
        assert [found.unit_of(name) for name in ("m1", "m2", "m3", "elsewhere")] == ["s1", "s1", None, "elsewhere"]

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"name": " "}, "the name of a benchmark"),
            ({"memories": [{"content": "x"}]}, "the memory_id of memory 0"),
            ({"memories": [{"memory_id": "m1", "content": ""}]}, "the content of memory 'm1'"),
            (
                {"memories": [{"memory_id": "m1", "content": "x"}] * 2},
                "memory 1 has the id 'm1', which an earlier one has",
            ),
            ({"queries": [Query("q1", "a?"), Query("q1", "b?")]}, "two queries have the id 'q1'"),
            ({"queries": [Query("q1", "a?", space="attic")]}, "'q1' looks in the space 'attic', which has no memory"),
            ({"qrels": Qrels({"q9": ["m1"]})}, "the qrels grade for 'q9', which is no query"),
            ({"qrels": Qrels({"q1": ["m9"]})}, "the qrels of query 'q1' name 'm9', which is no unit"),
            ({"qrels": Qrels({"q1": {"m9": 0}})}, "the qrels of query 'q1' name 'm9'"),
            ({"units": {"m1": "s", "m2": "s"}}, "units leaves out 1 memories: 'm3'"),
            ({"units": {"m1": "s", "m2": "s", "m3": "s", "m4": "s"}}, "units maps 1 ids that are no memories: 'm4'"),
            ({"units": dict.fromkeys(("m1", "m2", "m3"), "s")}, "name 'm1', which is no unit"),
            (
                {"associations": [{"source": "m1", "relation": "LEADS_TO", "target": "m9"}]},
                "an association's target is 'm9', which is no memory",
            ),
        ],
    )
    def test_refuses_parts_that_do_not_meet(self, changes, message):
        with pytest.raises(DatasetError, match=message):
            bench(**changes)

    def test_refuses_an_answer_that_a_wall_keeps_from_its_question(self):
        memories = [
            {"memory_id": "m1", "content": "x", "space": "a"},
            {"memory_id": "m2", "content": "y", "space": "b"},
        ]
        with pytest.raises(DatasetError, match=r"looks in the space 'a', but its unit 'm2' is in 'b'"):
            bench(memories=memories, queries=[Query("q1", "?", space="a")], qrels=Qrels({"q1": ["m2"]}))
        everywhere = [Query("q1", "?", space="*")]
        assert bench(memories=memories, queries=everywhere, qrels=Qrels({"q1": ["m2"]})).n_scored == 1

    def test_shows_its_queries_as_a_table_with_a_column_a_slice(self):
        frame = bench().queries_frame
        assert list(frame.columns) == [
            "query_id", "text", "space", "now", "answerable", "n_relevant", "note", "kind",
        ]  # fmt: skip
        assert list(frame["n_relevant"]) == [1, 0]
        assert list(frame["answerable"]) == [True, False]

    def test_says_what_is_in_it_and_what_was_repaired(self):
        found = bench(repairs=["q1: mended"], licence="CC0", description="A tiny set")
        assert str(found).split("\n") == [
            "tiny, level memory: 3 memories, 0 associations, 2 queries, 1 relevant",
            "scored: 1 of 1 asked; 1 without an answer apart",
            "is: A tiny set",
            "licence: CC0",
            "repaired: q1: mended",
        ]
        assert repr(found) == "Benchmark('tiny', level='memory', 3 memories, 2 queries: 1 scored of 1 asked)"

    def test_shows_in_a_notebook_without_letting_text_become_markup(self):
        html = bench(repairs=["<script>alert(1)</script>"])._repr_html_()
        assert "<script>" not in html
        assert "&lt;script&gt;" in html
