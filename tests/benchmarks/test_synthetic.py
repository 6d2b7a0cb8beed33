"""Synthetic stores: the same for everyone, as large as asked, and true to what they say of themselves."""

import hashlib
import json
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from time import perf_counter

import pytest

from memlab.benchmarks.load import load_benchmark
from memlab.benchmarks.synthetic import KINDS, NOW, synthetic
from memlab.errors import DatasetError, InvalidArgument

DIGEST = """
import hashlib, json
from memlab.benchmarks.synthetic import synthetic
b = synthetic(n=300, seed=7)
q = [(x.query_id, x.text, dict(x.slices), str(x.now)) for x in b.queries]
print(hashlib.sha256(json.dumps([b.memories, b.associations, q, {k: dict(v) for k, v in b.qrels.items()}],
                                default=str).encode()).hexdigest())
"""


@pytest.fixture(scope="module")
def world():
    """One world of 1,000 memories."""
    return synthetic(n=1000, seed=0)


def answers(bench, kind):
    """Each question of a kind with the memories relevant to it."""
    memories = {memory["memory_id"]: memory for memory in bench.memories}
    return [
        (query, [memories[unit] for unit in bench.qrels.relevant(query.query_id)])
        for query in bench.queries
        if query.slices["kind"] == kind
    ]


def test_the_same_seed_gives_the_same_benchmark_in_every_process():
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout.strip()
        for seed in ("1", "2")
    }
    bench = synthetic(n=300, seed=7)
    queries = [(x.query_id, x.text, dict(x.slices), str(x.now)) for x in bench.queries]
    qrels = {query_id: dict(units) for query_id, units in bench.qrels.items()}
    here = json.dumps([bench.memories, bench.associations, queries, qrels], default=str)
    assert digests == {hashlib.sha256(here.encode()).hexdigest()}


def test_the_bytes_are_those_of_every_earlier_version():
    """A change of words or of drawing makes figures of old and new incomparable; it has to be meant."""
    memory = synthetic(n=40, seed=5).memories[0]
    assert (memory["memory_id"], memory["content"]) == PINNED


def test_another_seed_gives_another_world():
    assert synthetic(n=100, seed=1).memories != synthetic(n=100, seed=2).memories


@pytest.mark.parametrize("n", [1, 2, 16, 17, 33, 34, 35, 100, 257])
def test_any_size_is_exactly_that_size(n):
    bench = synthetic(n=n)
    assert len(bench.memories) == n
    assert bench.n_scored == bench.n_asked


def test_ten_thousand_memories_take_seconds_at_the_most():
    start = perf_counter()
    assert len(synthetic(n=10_000).memories) == 10_000
    assert perf_counter() - start < 5


def test_there_are_as_many_questions_of_each_kind_as_asked_for(world):
    assert Counter(query.slices["kind"] for query in world.queries) == dict.fromkeys(KINDS, 20)
    few = synthetic(n=1000, queries=3)
    assert Counter(query.slices["kind"] for query in few.queries) == dict.fromkeys(KINDS, 3)
    assert synthetic(n=100, queries=0).queries == ()


def test_memories_are_in_order_of_time_and_before_the_questions(world):
    times = [memory["happened_at"] for memory in world.memories]
    assert times == sorted(times)
    assert times[-1] < NOW
    assert {query.now for query in world.queries} == {NOW}
    assert world.memories[0]["memory_id"] == "m0001"


def test_texts_are_nearly_all_different(world):
    assert len({memory["content"] for memory in world.memories}) >= 990


def test_a_badge_names_exactly_one_memory(world):
    for query, (memory,) in answers(world, "lexical"):
        badge = next(word.strip("?") for word in query.text.split() if "-" in word)
        assert [m["memory_id"] for m in world.memories if badge in m["content"]] == [memory["memory_id"]]


def test_a_multi_hop_answer_is_two_memories_of_which_one_does_not_name_the_person(world):
    for query, memories in answers(world, "multi-hop"):
        assert len(memories) == 2
        named = [memory for memory in memories if person_of(world, query.text) in memory["content"]]
        assert len(named) == 1


def test_where_someone_lives_now_is_the_last_home_and_the_others_are_judged(world):
    links = {(link["source"], link["target"]) for link in world.associations if link["relation"] == "INVALIDATED_BY"}
    when = {memory["memory_id"]: memory["happened_at"] for memory in world.memories}
    assert all(when[old] < when[new] for old, new in links)
    for query, (home,) in answers(world, "superseded"):
        judged = world.qrels[query.query_id]
        assert len(judged) in (2, 3)
        assert max(judged, key=when.__getitem__) == home["memory_id"]
        assert not [new for old, new in links if old == home["memory_id"]]


def test_contradicting_claims_are_both_relevant_and_associated(world):
    links = {(link["source"], link["target"]) for link in world.associations if link["relation"] == "CONTRADICTS"}
    for query, claims in answers(world, "contradiction"):
        assert len(claims) == 2
        assert tuple(world.qrels.relevant(query.query_id)) in links


def test_all_meetings_of_the_time_asked_about_are_relevant(world):
    meetings = [m for m in world.memories if any(word in m["content"] for word in MEETING)]
    for query, relevant in answers(world, "temporal"):
        person = person_of(world, query.text)
        words = query.text.strip("?").split()
        if "30" in words:
            then = [m for m in meetings if NOW - m["happened_at"] < timedelta(days=30)]
        else:
            then = [m for m in meetings if f"{m['happened_at']:%B %Y}" == " ".join(words[-2:])]
        assert sorted(m["memory_id"] for m in relevant) == [m["memory_id"] for m in then if person in m["content"]]
        assert relevant


def test_questions_without_an_answer_have_no_qrels_and_no_memory_speaks_of_their_matter(world):
    text = " ".join(memory["content"] for memory in world.memories).lower()
    for query, memories in answers(world, "unanswerable"):
        assert not query.answerable
        assert not memories
    assert not any(word in text for word in ("instrument", "allergic", "dog's", "shoe", "teacher"))


@pytest.mark.parametrize("options", [{"n": 0}, {"n": 1.5}, {"n": True}, {"seed": -1}, {"seed": "x"}, {"queries": -1}])
def test_numbers_out_of_range_are_refused(options):
    with pytest.raises(InvalidArgument, match="must be a whole number from"):
        load_benchmark("synthetic", **options)


def test_it_is_made_and_not_read():
    with pytest.raises(DatasetError, match="leave path= out"):
        load_benchmark("synthetic", path="x")
    with pytest.raises(TypeError):
        load_benchmark("synthetic", size=3)


MEETING = (" met ", "sat down together", "had coffee with", "Over lunch in ")
PINNED = ("m01", "The bus to Willowbrook was late again, wrote Leila Lindquist.")


def person_of(bench, text):
    """The one of the people whose name is in a question."""
    from memlab.benchmarks import synthetic_words as words

    (first,) = [name for name in words.FIRST_NAMES if f"{name} " in text]
    start = text.index(f"{first} ")
    return " ".join(text[start:].split()[:2]).strip("?").removesuffix("'s")
