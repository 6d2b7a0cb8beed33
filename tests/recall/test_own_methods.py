"""Recall by a function of the caller's own."""

import math

import numpy as np
import pytest

from memlab.encoders import HashEncoder
from memlab.errors import MethodError, UnknownMemory
from memlab.store import MemoryStore

NOW = "2024-06-12T10:00Z"


@pytest.fixture
def store():
    """A store of tea and boats."""
    with MemoryStore(encoder=HashEncoder(dimension=64)) as made:
        made.add_many(
            [
                {"memory_id": "tea", "content": "Ana likes green tea.", "happened_at": "2024-05-03T09:00Z"},
                {"memory_id": "boat", "content": "Bo has a red boat.", "happened_at": "2024-06-02T09:00Z"},
                {"memory_id": "both", "content": "Tea on the boat with Ana.", "tags": ["trip/sea"]},
            ]
        )
        yield made


def by_id(found):
    """Ids and scores."""
    return [(hit.memory_id, hit.score) for hit in found]


def test_a_function_may_give_ids_pairs_or_hits(store):
    assert by_id(store.recall("x", method=lambda s, q, k: ["tea", "boat"])) == [("tea", 1.0), ("boat", 0.5)]
    pairs = [("boat", np.float32(2.5)), ["tea", -1]]
    found = store.recall("x", method=lambda s, q, k: pairs)
    assert by_id(found) == [("boat", 2.5), ("tea", -1.0)]
    assert [hit.relevance for hit in found] == [1.0, 0.0]
    hits = store.recall("tea", method=lambda s, q, k: s.recall(q, k, method="hybrid"))
    assert [hit.parts.keys() for hit in hits] == [{"dense", "lexical"}] * 2 + [{"dense"}]


def test_a_function_gets_store_query_and_k_and_gives_no_more_than_k(store):
    seen = []

    def mine(*given):
        seen.append(given)
        yield from ("tea", "boat", "both")

    found = store.recall(["one", "two"], k=np.int64(2), method=mine)
    assert seen == [(store, "one", 2), (store, "two", 2)]
    assert [recall.ids for recall in found] == [["tea", "boat"]] * 2
    assert [recall.method for recall in found] == ["mine", "mine"]
    assert store.recall("x", method=lambda s, q, k: []).ids == []


def test_a_function_is_logged_like_any_method(store):
    def mine(store, query, k):
        return ["boat"]

    store.recall("where?", method=mine, actor="me")
    (row,) = store.recalls.to_dict("records")
    assert (row["method"], row["query"], row["k"], row["actor"]) == ("mine", "where?", 10, "me")
    assert row["hits"] == [["boat", 1.0, 1.0]]
    assert store.get("boat").access_count == 1


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        (["tea", "ghost"], UnknownMemory, "'ghost'"),
        (["tea", "tea"], MethodError, "a memory twice"),
        ([("tea", 1.0), ("tea", 0.5)], MethodError, "a memory twice"),
        ([("tea", math.nan)], MethodError, "finite"),
        ([("tea", math.inf)], MethodError, "finite"),
        ([("tea", None)], MethodError, "it must give memory ids"),
        ([("tea", "1.0")], MethodError, "it must give memory ids"),
        ([("tea", True)], MethodError, "it must give memory ids"),
        ([("tea", 1.0, 2.0)], MethodError, "it must give memory ids"),
        ([3], MethodError, "it must give memory ids"),
        ("tea", MethodError, "gave a str"),
        ({"tea": 1.0}, MethodError, "gave a dict"),
        (None, MethodError, "gave a NoneType"),
        ([("tea", 0.1), ("boat", 0.9)], MethodError, "the best comes first"),
    ],
)
def test_what_a_function_may_not_give(store, given, error, said):
    with pytest.raises(error, match=said):
        store.recall("x", method=lambda s, q, k: given)
    assert len(store.recalls) == 0


@pytest.mark.parametrize(
    "narrowed",
    [
        {"where": {"type": "x"}}, {"tags": "x"}, {"exclude_tags": "x"}, {"tag_mode": "all"}, {"tag_match": "prefix"},
        {"since": NOW}, {"until": NOW}, {"time": "yesterday"}, {"space": "default"}, {"state": "history"}, {"at": NOW},
        {"min_relevance": 0.1}, {"diversify": 0.0}, {"zone": "UTC"},
    ],
)  # fmt: skip
def test_what_a_function_can_not_heed_is_refused(store, narrowed):
    with pytest.raises(MethodError, match=f"{next(iter(narrowed))} can't be heeded; filter inside it"):
        store.recall("x", method=lambda s, q, k: ["tea"], **narrowed)


def test_a_function_may_be_asked_at_any_time(store):
    found = store.recall("x", method=lambda s, q, k: ["tea"], now="2024-05-03", zone="Europe/Oslo")
    assert found.now.isoformat() == "2024-05-02T22:00:00+00:00"


def test_an_error_in_a_function_comes_out_as_it_is(store):
    def broken(store, query, k):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        store.recall("x", method=broken)
