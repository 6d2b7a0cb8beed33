"""Recall through a real store."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlab.encoders import HashEncoder
from memlab.errors import (
    EncoderMismatch,
    FilterError,
    InvalidArgument,
    MethodError,
    TimeError,
    UnknownSpace,
)
from memlab.recall.method import Method
from memlab.store import MemoryStore

PRESETS = ("lexical", "dense", "hybrid", "default")
NOW = "2024-06-12T10:00Z"


class ShortSighted(HashEncoder):
    """An encoder that reads five words at a time."""

    def windows(self, text):
        ends = [at for at, char in enumerate(text) if char == " "][4::5]
        return [(a, b) for a, b in zip([0, *ends], [*ends, len(text)], strict=True) if a < b]


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


@pytest.fixture
def words():
    """A store without an encoder."""
    with MemoryStore(encoder=None) as made:
        made.add_many([{"memory_id": "tea", "content": "Ana likes green tea."}, {"memory_id": "x", "content": "Rain."}])
        yield made


# ---- k, ties, order ----


@pytest.mark.parametrize("method", PRESETS)
def test_deleting_the_best_ten_leaves_ten_hits(method):
    with MemoryStore(encoder=HashEncoder(dimension=64)) as store:
        best = store.add_many([f"green tea {n}" for n in range(10)], progress=False)
        rest = store.add_many([f"green water and a well {n}" for n in range(10)], progress=False)
        assert set(store.recall("green tea", method=method).ids) == set(best)
        store.delete(best)
        found = store.recall("green tea", method=method)
        assert set(found.ids) == set(rest)
        assert len(found) == found.candidates == 10


@pytest.mark.parametrize("k", [0, -1, True, False, 2.0, "3", None, math.nan, np.float64(2), np.True_])
def test_k_must_be_a_whole_number_from_one_up(store, k):
    with pytest.raises(InvalidArgument, match=r"k is .*; it must be a whole number from 1 up"):
        store.recall("tea", k=k)


@pytest.mark.parametrize("k", [1, np.int64(1), np.uint8(1)])
def test_whole_numbers_of_numpy_count(store, k):
    found = store.recall("tea", k=k)
    assert (len(found), found.k, type(found.k)) == (1, 1, int)


@pytest.mark.parametrize("method", PRESETS)
def test_more_than_there_are_gives_what_fits(store, method):
    assert len(store.recall("tea boat", k=99, method=method)) == 3


@given(st.permutations(range(6)))
def test_the_order_of_writing_changes_nothing(order):
    texts = ["green tea", "green tea", "tea", "a boat", "green boat", "tea"]
    found = []
    for places in (range(6), order):
        with MemoryStore(encoder=HashEncoder(dimension=64)) as store:
            for place in places:
                store.add(texts[place], memory_id=f"m{place}", happened_at="2024-05-03T09:00Z")
            recalls = [store.recall("green tea", method=method, now=NOW) for method in PRESETS]
            found.append([[(hit.memory_id, hit.score) for hit in recall] for recall in recalls])
    assert found[0] == found[1]


@pytest.mark.parametrize("method", PRESETS)
def test_a_batch_is_its_queries_one_by_one(store, method):
    queries = ["green tea", "red boat", "!!!", "what in May 2024?", "the", "green tea"]
    batch = store.recall(queries, method=method, now=NOW)
    assert isinstance(batch, list)
    for query, found in zip(queries, batch, strict=True):
        assert found.query == query
        assert found.hits == store.recall(query, method=method, now=NOW).hits
    assert store.recall([], method=method) == []


def test_asking_twice_gives_the_same(store):
    assert store.recall("tea", now=NOW).hits == store.recall("tea", now=NOW).hits


# ---- queries ----


@pytest.mark.parametrize(
    "query",
    [
        "tea AND (boat* OR",
        'x"tea"',
        "tea/boat",
        "-tea",
        "don't tea",
        "tea:boat^2 ~",
        "NEAR(tea)",
        "NOT tea",
        "%tea_",
        "'",
    ],
)
@pytest.mark.parametrize("method", PRESETS)
def test_no_sign_in_a_query_is_an_operator(store, query, method):
    found = store.recall(query, method=method)
    if "tea" in query and method != "dense":
        assert {"tea", "both"} <= set(found.ids)


@pytest.mark.parametrize("query", ["", "  ", "\n", "\udc9f", None, 3, b"tea", {"q": "tea"}, ["tea", ""], ["tea", 3]])
def test_what_asks_nothing_is_refused(store, query):
    with pytest.raises(InvalidArgument, match="query"):
        store.recall(query)
    assert len(store.recalls) == 0


def test_a_bad_query_of_many_is_named_by_its_place(store):
    with pytest.raises(InvalidArgument, match="query 1"):
        store.recall(["tea", " "])


@pytest.mark.parametrize("query", ["cafe\u0301", "caf\u00e9", "CAF\u00c9"])
def test_composition_and_letter_case_do_not_count(query):
    with MemoryStore(encoder=None) as store:
        store.add_many([{"memory_id": "a", "content": "caf\u00e9 on the corner"}, {"memory_id": "b", "content": "tea"}])
        assert store.recall(query).ids == ["a"]


def test_a_query_longer_than_the_encoder_takes_is_read_whole_and_the_recall_says_so():
    with MemoryStore(encoder=ShortSighted(dimension=256)) as store:
        store.add_many([{"memory_id": "boat", "content": "red boat"}, {"memory_id": "tea", "content": "green tea"}])
        end = "one two three four five six seven eight nine ten red boat"
        found = store.recall(end, method="dense")
        assert found.ids[0] == "boat"
        assert "the mean of its 3 windows stands for it" in found.notes[0]
        short, long = store.recall(["red boat", end], method="dense")
        assert (short.notes, short[0].relevance) == ((), 1.0)
        assert long.hits == found.hits
        assert store.recall(end, method="lexical").notes == ()


# ---- spaces ----


def test_recall_looks_in_one_space_unless_told_otherwise(store):
    store.add("Green tea at home.", memory_id="home", space="home")
    assert "home" not in store.recall("green tea").ids
    assert store.recall("green tea", space="home").ids == ["home"]
    assert set(store.recall("green tea", space=["home", "default"]).ids) == {"home", "tea", "boat", "both"}
    everything = store.recall("green tea", space="*")
    assert {hit.memory.space for hit in everything} == {"home", "default"}
    assert everything.candidates == 4


def test_another_space_changes_no_score(store):
    before = store.recall("green tea", now=NOW)
    store.add_many([{"content": "green tea " * n, "space": "noise"} for n in range(1, 9)], progress=False)
    assert store.recall("green tea", now=NOW).hits == before.hits


def test_an_empty_recall_says_where_else_memories_are():
    with MemoryStore(encoder=None) as store:
        assert store.recall("tea", method="lexical").notes == ()
        store.add_many([{"content": "Tea.", "space": "home"}, {"content": "Tea.", "space": "work"}])
        store.delete(store.add("Tea.", space="gone"))
        found = store.recall("tea", method="lexical")
        assert (found.hits, found.candidates) == ((), 0)
        assert found.notes == ("Nothing found here; other spaces hold memories: 'home' (1), 'work' (1).",)
        assert store.recall("tea", space=["home", "work"], method="lexical").notes == ()
        assert store.recall("rain", space="*", method="lexical").notes == ()


def test_an_unknown_space_is_an_error(store):
    with pytest.raises(UnknownSpace, match="no space is called 'Default'"):
        store.recall("tea", space="Default")


# ---- state ----


def test_current_recall_shows_the_head_and_history_all():
    with MemoryStore(encoder=HashEncoder(dimension=64)) as store:
        for n, (name, place) in enumerate([("a", "Porto"), ("b", "Bergen"), ("c", "Oslo")]):
            store.add(f"Ana lives in {place}.", memory_id=name, happened_at=f"2024-0{n + 1}-01T00:00Z")
        store.associate("a", "INVALIDATED_BY", "b")
        store.associate("c", "EVOLVED_INTO", "b")
        found = store.recall("Who lives in Porto?")
        assert found.ids == ["c"]
        assert "a -[INVALIDATED_BY]-> b; b <-[EVOLVED_INTO]- c" in str(found.explain(1))
        assert store.recall("Who lives in Porto?", state="history").ids[0] == "a"
        store.update("c", archived=True)
        assert store.recall("Who lives in Porto?").ids == ["b"]
        store.dissociate("a", "INVALIDATED_BY", "b")
        assert set(store.recall("Who lives in Porto?").ids) == {"a", "b"}


def test_at_says_when_current_is():
    with MemoryStore(encoder=None) as store:
        store.add("Ana rents a flat.", memory_id="rent", valid_until="2024-05-01T00:00Z")
        store.add("Ana owns a flat.", memory_id="own", valid_from="2024-05-01T00:00Z")
        assert store.recall("flat", at="2024-04-30T23:59Z").ids == ["rent"]
        assert store.recall("flat", now="2024-05-01T00:00Z").ids == ["own"]
        with pytest.raises(InvalidArgument, match="at says what 'current' means"):
            store.recall("flat", at=NOW, state="history")
        with pytest.raises(TimeError, match="doesn't say its time zone"):
            store.recall("flat", at="2024-05-01")
        assert store.recall("flat", at="2024-05-01", zone="UTC").ids == ["own"]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"state": "past"}, InvalidArgument),
        ({"min_relevance": 1.5}, InvalidArgument),
        ({"min_relevance": True}, InvalidArgument),
        ({"min_relevance": math.nan}, InvalidArgument),
        ({"diversify": -1}, MethodError),
        ({"diversify": math.nan}, MethodError),
        ({"zone": "Nowhere/Land", "method": "lexical"}, TimeError),
        ({"method": "bm25"}, MethodError),
        ({"method": None}, MethodError),
        ({"method": 3}, MethodError),
        ({"tag_mode": "some"}, FilterError),
        ({"where": {}}, FilterError),
    ],
)
def test_arguments_that_make_no_sense_are_refused(store, wrong, error):
    with pytest.raises(error):
        store.recall("tea", **wrong)


# ---- filters, thresholds, diversity ----


@pytest.mark.parametrize("method", PRESETS)
def test_filters_hold_in_every_method(store, method):
    assert store.recall("tea", method=method, tags="trip", tag_match="prefix").ids == ["both"]
    assert store.recall("tea", method=method, since="2024-05-01T00:00Z", until="2024-06-01T00:00Z").ids == ["tea"]
    assert store.recall("tea", method=method, time="in May 2024", now=NOW).ids == ["tea"]
    assert store.recall("tea", method=method, where={"memory_id": {"in": ["boat", "tea"]}}, k=1).ids == ["tea"]


def test_a_threshold_means_at_least(store):
    exact, *_ = store.recall("Ana likes green tea.", method="lexical")
    assert exact.relevance == 1.0
    assert store.recall("Ana likes green tea.", method="lexical", min_relevance=1.0).ids == ["tea"]
    assert store.recall("Ana likes green tea.", min_relevance=np.float32(1)).ids == ["tea"]


def test_diversify_works_for_a_method_of_words_too():
    with MemoryStore(encoder=HashEncoder(dimension=64)) as store:
        for name, text in [("a", "green tea"), ("b", "green tea"), ("c", "green boat")]:
            store.add(text, memory_id=name)
        assert store.recall("green tea", method="lexical").ids == ["a", "b", "c"]
        assert store.recall("green tea", method="lexical", diversify=0.9).ids == ["a", "c", "b"]


def test_without_an_encoder_the_notes_say_what_is_silent(words):
    found = words.recall("tea")
    assert found.ids == ["tea"]
    assert found.notes == ("The store has no encoder, so the dense channel is silent.",)
    assert "dense" not in found.method
    assert "diversify changes nothing" in words.recall("tea", method="lexical", diversify=0.5).notes[0]
    assert words.recall("tea", method="lexical").notes == ()


def test_dense_recall_needs_an_encoder(words):
    for method in ("dense", Method("m", dense=1.0, salience=1.0)):
        with pytest.raises(EncoderMismatch, match="opened without one; open it with encoder="):
            words.recall("tea", method=method)


def test_another_encoder_is_refused_and_words_still_work(tmp_path):
    path = tmp_path / "diary.memlab"
    with MemoryStore.open(path, encoder=HashEncoder(dimension=64)) as store:
        store.add("Green tea.", memory_id="tea")
        store.recall("tea")
    with pytest.raises(EncoderMismatch, match=r"hash-64.*64.*hash-32.*32"):
        MemoryStore.open(path, encoder=HashEncoder(dimension=32))
    with MemoryStore.open(path, encoder=None) as store:
        assert store.recall("tea").ids == ["tea"]


# ---- evidence ----


def test_an_explanation_names_words_dates_scores_and_times(store):
    found = store.recall("Did Ana like tea in May 2024?", now=NOW)
    assert found.ids[0] == "tea"
    said = str(found.explain(1))
    for word in ("like (", "tea (", "ana (", "'in May 2024'", "happened 2024-05-03", "cosine", " ms"):
        assert word in said
    assert set(found[0].parts) == {"dense", "lexical", "temporal", "salience"}
    assert set(found[0].parts) <= set(found.seconds)
    assert sum(part.share for part in found[0].parts.values()) == pytest.approx(found[0].score, abs=2e-6)
    assert found.weights.keys() == found[0].parts.keys()


def test_a_long_memory_is_scored_by_its_best_window_and_the_window_is_named():
    with MemoryStore(encoder=ShortSighted(dimension=256)) as store:
        long = "one two three four five six seven eight nine ten the red boat"
        store.add(long, memory_id="long", role="Ana")
        store.add("Bo has a well", memory_id="other")
        hit = store.recall("the red boat", method="dense")[0]
        start, end = hit.parts["dense"].detail["window"]
        assert hit.memory_id == "long"
        assert "red boat" in long[start:end]
        assert end == len(long)
        assert f"characters {start} to {end}" in hit.parts["dense"].detail["says"]


# ---- telemetry ----


def test_recalls_are_logged_with_what_they_found(store):
    found = store.recall(["tea", "boat"], k=2, method="lexical", space="default", actor="me")
    frame = store.recalls
    assert frame["recall_id"].tolist() == [recall.recall_id for recall in found]
    assert frame["query"].tolist() == ["tea", "boat"]
    assert set(frame["method"]) == {"lexical(lexical=1.0)"}
    assert [[hit[0] for hit in hits] for hits in frame["hits"]] == [recall.ids for recall in found]
    assert store.log()["verb"].tolist().count("recall") == 0
    assert len(store.calls) == 0
