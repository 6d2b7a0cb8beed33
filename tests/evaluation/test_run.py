"""Runs and the recall bench on real stores, with the encoder that needs no model."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlab.bench.recall import bench_recall
from memlab.benchmarks.locomo import load_locomo
from memlab.benchmarks.synthetic import synthetic
from memlab.encoders import HashEncoder
from memlab.errors import DatasetError, InvalidArgument, InvalidMemory
from memlab.evaluation.evaluate import evaluate
from memlab.evaluation.run import build_store, fold, run
from memlab.store import MemoryStore
from memlab.trials import Benchmark, Qrels

SMALL = Path(__file__).resolve().parents[1] / "fixtures" / "locomo_small.json"
LABELS = st.sampled_from(["A", "B", "C", None])


@pytest.fixture
def locomo():
    """The small conversations."""
    return load_locomo(SMALL)


@pytest.fixture
def store(locomo):
    """A store that holds them."""
    with build_store(locomo, HashEncoder(), progress=False) as made:
        yield made


def test_a_store_is_built_of_all_memories_and_associations():
    bench = synthetic(n=60)
    with build_store(bench, HashEncoder(), progress=False) as store:
        assert len(store) == 60
        assert len(store.associations) == len(bench.associations)
        memory = store.get(bench.memories[7]["memory_id"])
        assert memory.content == bench.memories[7]["content"]
        assert memory.happened_at == bench.memories[7]["happened_at"]


def test_a_memory_that_can_not_be_stored_is_refused_by_the_store():
    bench = Benchmark("bad", "memory", [{"memory_id": "m", "content": "x", "importance": 7}], [], Qrels({}))
    with pytest.raises(InvalidMemory, match="importance"):
        build_store(bench, HashEncoder(), progress=False)


def test_every_query_is_asked_in_its_own_space(locomo, store):
    found = run(locomo, "lexical", store=store, progress=False)
    assert list(found.rankings) == [query.query_id for query in locomo.queries]
    for query in locomo.queries:
        assert all(unit.startswith(f"{query.space}/") for unit, _ in found.rankings[query.query_id])
    assert set(found.seconds) == set(found.rankings)
    assert all(seconds > 0 for seconds in found.seconds.values())


def test_the_order_of_a_run_is_the_order_of_recall(locomo, store):
    found = run(locomo, "default", store=store, k=5, progress=False)
    for query in locomo.queries:
        recall = store.recall(query.text, 5, method="default", space=query.space, now=query.now)
        assert [unit for unit, _ in found.rankings[query.query_id]] == [hit.memory_id for hit in recall]


def test_a_plain_question_finds_its_turn(locomo, store):
    made = run(locomo, "lexical", store=store, progress=False)
    assert [made.rankings[f"conv-90{i}/qa0"][0][0] for i in (1, 2)] == ["conv-901/D1:1", "conv-902/D1:1"]
    found = evaluate(made, locomo, measures=["success@1"], by="category")
    assert (found.n_scored, found.n_asked, found.n_unanswerable) == (8, 9, 2)
    assert found.slices["single-hop"].means["success@1"] == pytest.approx(2 / 5)
    assert found.slices["adversarial"].n_scored == 2


def test_a_query_s_time_is_what_relative_dates_refer_to():
    bench = synthetic(n=2000, seed=3, queries=40)
    recent = [query for query in bench.queries if "past 30 days" in query.text]
    assert recent
    few = Benchmark(
        "recent", "memory", bench.memories, recent, Qrels({q.query_id: bench.qrels[q.query_id] for q in recent})
    )
    with build_store(few, HashEncoder(), progress=False) as store:
        found = run(few, "default", store=store, k=10, progress=False)
        for query in recent:
            recall = store.recall(query.text, 10, now=query.now)
            assert recall.now == query.now
            assert [hit.memory_id for hit in recall] == [unit for unit, _ in found.rankings[query.query_id]]


def test_at_session_level_k_sessions_are_ranked_wherever_there_are_that_many():
    bench = load_locomo(SMALL, level="session")
    found = run(bench, "dense", encoder=HashEncoder(), k=2, progress=False)
    for query_id, ranking in found.rankings.items():
        assert len(ranking) == (2 if query_id.startswith("conv-901") else 1)
        assert len({unit for unit, _ in ranking}) == len(ranking)
    assert evaluate(found, bench, measures=["recall@2"]).n_scored == 8


@given(st.lists(LABELS, max_size=12), st.integers(1, 4))
def test_folding_keeps_each_unit_at_its_best_rank(labels, k):
    hits = [(f"m{i}", 1.0 - i / 100) for i in range(len(labels))]
    folded = fold(hits, dict(zip((name for name, _ in hits), labels, strict=True)).get, k)
    order = list(dict.fromkeys(label for label in labels if label is not None))
    assert [unit for unit, _ in folded] == order[:k]
    assert [score for _, score in folded] == [hits[labels.index(unit)][1] for unit, _ in folded]


def test_a_run_is_named_by_its_method_unless_it_is_given_a_name(locomo, store):
    printed = store.recall("boat", space="conv-901", method="hybrid").method
    assert run(locomo, "hybrid", store=store, progress=False).name == printed
    assert run(locomo, "hybrid", store=store, name="mine", progress=False).name == "mine"


def test_a_run_leaves_a_given_store_open_and_makes_its_own_otherwise(locomo, store):
    given_one = run(locomo, "lexical", store=store, progress=False)
    own = run(locomo, "lexical", encoder=HashEncoder(), progress=False)
    assert len(store) == 11
    assert given_one.rankings == own.rankings


def test_a_store_without_the_memories_is_refused(locomo):
    with (
        MemoryStore(encoder=HashEncoder()) as empty,
        pytest.raises(DatasetError, match=r"lacks 11 of the 11 memories of 'locomo', such as 'conv-901/D1:1'"),
    ):
        run(locomo, store=empty, progress=False)


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_the_depth_is_a_whole_number_from_1_up(locomo, store, k):
    with pytest.raises(InvalidArgument, match="k is"):
        run(locomo, store=store, k=k, progress=False)


def test_a_store_and_an_encoder_together_are_refused(locomo, store):
    with pytest.raises(InvalidArgument, match="both a store and an encoder"):
        run(locomo, store=store, encoder=HashEncoder(), progress=False)


def test_a_benchmark_without_queries_gives_an_empty_run():
    found = run(synthetic(n=5), "lexical", encoder=HashEncoder(), progress=False)
    assert (found.name, dict(found.rankings)) == ("lexical", {})


def test_the_bench_writes_its_figures_in_the_form_of_every_recall_bench(tmp_path, capsys):
    bench = load_locomo(SMALL)
    path = tmp_path / "figures.json"
    figures = bench_recall(bench, ["lexical", "hybrid"], encoder=HashEncoder(), json_path=path, progress=False)
    assert json.loads(path.read_text(encoding="utf-8")) == figures
    assert {key: figures[key] for key in ("benchmark", "level", "n_asked", "n_scored")} == {
        "benchmark": "locomo",
        "level": "turn",
        "n_asked": 9,
        "n_scored": 8,
    }
    assert list(figures["methods"]) == ["lexical", "hybrid"]
    lexical = figures["methods"]["lexical"]
    assert list(lexical) == ["recall@5", "recall@10", "nDCG@10", "by"]
    assert list(lexical["by"]) == ["adversarial", "multi-hop", "open-domain", "single-hop", "temporal"]
    assert lexical["by"]["open-domain"] == {
        "recall@5": None,
        "recall@10": None,
        "nDCG@10": None,
        "n_asked": 1,
        "n_scored": 0,
    }
    assert lexical["by"]["adversarial"]["n_scored"] == 2
    assert (
        lexical["recall@10"]
        == evaluate(run(bench, "lexical", encoder=HashEncoder(), progress=False), bench).means["recall@10"]
    )
    printed = capsys.readouterr().out
    assert "8 scored of 9 asked." in printed
    assert "qa[2]: 'D:2:2' is read as D2:2" in printed
    assert str(path) in printed


def test_two_methods_of_one_name_are_refused_by_the_bench(locomo):
    with pytest.raises(InvalidArgument, match="same name"):
        bench_recall(locomo, ["lexical", "lexical"], encoder=HashEncoder(), progress=False)


def test_the_bench_tells_the_kinds_of_other_sets_apart(capsys):
    figures = bench_recall(synthetic(n=120), ["lexical"], encoder=HashEncoder(), progress=False)
    assert "multi-hop" in figures["methods"]["lexical"]["by"]
    assert figures["methods"]["lexical"]["by"]["unanswerable"]["n_scored"] == 0
    assert "kind" in capsys.readouterr().out
