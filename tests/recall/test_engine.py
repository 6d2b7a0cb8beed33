"""The engine: ranking, ties, lending, spread, relevance, on parts built by hand."""

import itertools
import math

import numpy as np
import pytest
from built import ENCODER, NOW, ask, day, ids, link, memory, parts
from hypothesis import given
from hypothesis import strategies as st
from oracles_recall import plain_closeness, plain_dense, plain_fuse, plain_lexical

from memlab.filters import parse_filter
from memlab.phrases import find_phrases
from memlab.recall.candidates import gather
from memlab.recall.engine import Request, _Ranking
from memlab.recall.method import Method, preset
from memlab.recalls import Step
from memlab.times import to_micros
from memlab.vocabulary import custom_relation

WORDS = ("oslo", "porto", "tea", "boat", "green", "moved", "!!!", "the", "Ana")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
PRESETS = ("lexical", "dense", "hybrid", "default")
LEXICAL = Method("words", lexical=1.0)


@given(
    st.lists(st.tuples(TEXTS, st.integers(0, 40), st.sampled_from(["default", "other"])), min_size=1, max_size=7),
    st.sampled_from(["tea", "green tea in Oslo", "what moved in May 2024?", "the", "!!!", "boat or porto on 7 May"]),
    st.sampled_from(["score", "rrf"]),
)
def test_scores_agree_with_the_slow_twin(rows, query, fusion):
    memories = [memory(f"m{n}", text, on=on, space=space) for n, (text, on, space) in enumerate(rows)]
    made = parts(memories)
    method = Method("m", dense=0.5, lexical=0.4, temporal=0.3, salience=0.1, fusion=fusion)
    (found,) = ask(made, query, method, spaces=("default", "other"))
    phrases = [(to_micros(p.interval.start), to_micros(p.interval.end)) for p in find_phrases(query, NOW)]
    ages = [(to_micros(NOW) - to_micros(m.event_time)) / (180 * 86_400_000_000) for m in memories]
    channels = {
        "dense": plain_dense(ENCODER.encode([query])[0].tolist(), ENCODER.encode([m.text for m in memories]).tolist()),
        "lexical": plain_lexical(query, memories),
        "temporal": [plain_closeness(to_micros(m.event_time), phrases) for m in memories],
        "salience": [0.5 * (1 + 2**-age) / 2 for age in ages],
    }
    fused = plain_fuse(channels, method.weights, fusion, method.rrf_k)
    said = [any(channels[name][n] is not None for name in ("dense", "lexical", "temporal")) for n in range(len(rows))]
    assert {hit.memory_id for hit in found.hits} == {m.memory_id for m, yes in zip(memories, said, strict=True) if yes}
    if fusion == "score":  # ranks of cosines that differ in the last digit alone aren't the same in both
        scores = {m.memory_id: score for m, score in zip(memories, fused, strict=True)}
        for hit in found.hits:
            assert hit.score == pytest.approx(scores[hit.memory_id], abs=2e-6)


@given(st.lists(TEXTS, min_size=1, max_size=8), TEXTS, st.sampled_from(PRESETS), st.integers(1, 10))
def test_hits_are_in_order_once_each_and_their_shares_add_up(texts, query, method, k):
    memories = [
        memory(f"m{n}", text, on=n % 3, session_id="s", sequence=n, importance=n / 8) for n, text in enumerate(texts)
    ]
    links = [link(f"m{n}", "LEADS_TO", f"m{n + 2}", 0.9) for n in range(len(texts) - 2)]
    links += [link("m0", "EVOLVED_INTO", "m1")] if len(texts) > 1 else []
    (found,) = ask(parts(memories, links), query, method, k=k)
    order = [(-hit.score, hit.memory_id) for hit in found.hits]
    assert order == sorted(order)
    assert len(set(ids(found))) == len(found.hits) <= min(k, found.candidates)
    assert [hit.rank for hit in found.hits] == list(range(1, len(found.hits) + 1))
    for hit in found.hits:
        assert sum(part.share for part in hit.parts.values()) == pytest.approx(hit.score, abs=2e-6)
        numbers = [hit.score, hit.relevance, *(v for p in hit.parts.values() for v in (p.score, p.share))]
        assert all(map(math.isfinite, numbers))
        assert 0 <= hit.relevance <= 1


@pytest.mark.parametrize("method", PRESETS)
def test_a_batch_answers_as_its_queries_do_one_by_one(method):
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(WORDS[:6], size=4)) for _ in range(203)]
    made = parts([memory(f"m{n:03}", text, session_id=f"s{n // 9}", sequence=n % 9) for n, text in enumerate(texts)])
    queries = [" ".join(rng.choice(WORDS, size=3)) for _ in range(17)]
    batch = ask(made, queries, method, k=50)
    for query, together in zip(queries, batch, strict=True):
        (alone,) = ask(made, query, method, k=50)
        assert together.hits == alone.hits


@given(st.permutations(["c", "a", "d", "b"]))
def test_equals_go_by_id_whatever_came_first(order):
    made = parts([memory(name, "green tea") for name in order])
    for method in PRESETS:
        (found,) = ask(made, "tea", method)
        assert ids(found) == ["a", "b", "c", "d"]
        assert ids(ask(made, "tea", method, k=2)[0]) == ["a", "b"]


def test_equal_texts_score_alike_among_others_wherever_they_stand():
    rng = np.random.default_rng(5)
    texts = [" ".join(rng.choice(WORDS[:6], size=5)) for _ in range(300)]
    texts[0] = texts[57] = texts[150] = texts[299] = "green tea in the boat"
    made = parts([memory(f"m{n:03}", text) for n, text in enumerate(texts)])
    for method in PRESETS:
        (found,) = ask(made, "green boat tea", method, k=300)
        scores = {hit.memory_id: hit.score for hit in found.hits}
        assert len({scores[f"m{n:03}"] for n in (0, 57, 150, 299)}) == 1


@pytest.mark.parametrize("method", ["lexical", "dense", "hybrid", "default", Method("t", temporal=1.0)])
def test_filters_cut_before_the_k_best_are_taken(method):
    # The ten that fit best are filtered out; ten that fit less are still found.
    best = [memory(f"a{n}", "green tea", tags=("no",), happened_at=day(3)) for n in range(10)]
    rest = [memory(f"b{n}", "green water from a well", happened_at=day(5)) for n in range(10)]
    made = parts([*best, *rest])
    query = "green tea on 4 May 2024"
    assert ids(ask(made, query, method)[0]) == [f"a{n}" for n in range(10)]
    (found,) = ask(made, query, method, wanted=parse_filter(exclude_tags="no"))
    assert ids(found) == [f"b{n}" for n in range(10)]
    assert found.candidates == 10


@pytest.mark.parametrize("k", [1, 3, 4, 5, 10**9])
def test_more_than_there_are_gives_what_there_is(k):
    made = parts([memory(name, "green tea") for name in "abcd"])
    for method in PRESETS:
        assert len(ask(made, "tea", method, k=k)[0].hits) == min(k, 4)


def test_lexical_recall_leaves_out_what_shares_no_word():
    made = parts([memory("a", "green tea"), memory("b", "the boat")])
    assert ids(ask(made, "tea", "lexical")[0]) == ["a"]


@pytest.mark.parametrize("method", PRESETS)
@pytest.mark.parametrize("query", ["!!!", "the of and", "???!", "to be or not to be"])
def test_a_query_without_telling_words_neither_fails_nor_finds_noise(method, query):
    made = parts([memory("a", "green tea"), memory("b", "!!!"), memory("c", "the boat")])
    (found,) = ask(made, query, method)
    assert all(math.isfinite(hit.score) for hit in found.hits)
    if query in ("!!!", "???!"):
        assert found.hits == ()


def test_a_memory_without_tokens_is_no_hit_of_words_or_vectors():
    made = parts([memory("a", "green tea"), memory("b", "!!!")])
    for method in PRESETS:
        assert ids(ask(made, "green tea", method)[0]) == ["a"]


@pytest.mark.parametrize(
    "links", [[], [link("m0", "LEADS_TO", "m1", 1.0)], [link("m0", "EVOLVED_INTO", "m3")]], ids=len
)
def test_salience_alone_is_no_evidence_and_is_not_lent(links):
    memories = [
        memory(f"m{n}", "green tea", session_id="s", sequence=n, importance=1 - n / 4, on=0 if n == 0 else 9)
        for n in range(4)
    ]
    method = preset("default").but(dense=0.0, neighbours=0.0 if links else 0.5, associations=1.0)
    assert ask(parts(memories, links), "boat", method)[0].hits == ()


def test_of_equal_memories_of_the_past_the_first_id_is_where_the_path_begins():
    old = [memory(name, "Porto") for name in "ba"]
    links = [link(name, "EVOLVED_INTO", "new") for name in "ba"]
    for memories, said in ((old, links), (old[::-1], links[::-1])):
        (found,) = ask(parts([*memories, memory("new", "Oslo", on=1)], said), "Porto", LEXICAL)
        assert found.hits[0].path == (Step("a", "EVOLVED_INTO", "new", "a"),)


def test_the_head_comes_with_all_steps_of_the_chain():
    made = parts(
        [memory("a", "Ana lives in Porto"), memory("b", "They moved", on=1), memory("c", "Home is Oslo now", on=2)],
        [link("b", "INVALIDATED_BY", "a"), link("b", "EVOLVED_INTO", "c")],
    )
    (found,) = ask(made, "Porto", LEXICAL)
    assert ids(found) == ["c"]
    assert found.hits[0].path == (Step("b", "INVALIDATED_BY", "a", "a"), Step("b", "EVOLVED_INTO", "c", "b"))
    assert found.hits[0].parts["current"].share == found.hits[0].score == 1.0
    assert ids(ask(made, "Porto", LEXICAL, state="history")[0]) == ["a"]


def test_the_chain_is_told_through_what_was_put_away():
    made = parts(
        [memory("a", "Porto"), memory("b", "x", on=1, archived=True), memory("c", "Oslo", on=2)],
        [link("a", "EVOLVED_INTO", "b"), link("b", "EVOLVED_INTO", "c")],
    )
    (found,) = ask(made, "Porto", LEXICAL)
    assert [str(step) for step in found.hits[0].path] == ["a -[EVOLVED_INTO]-> b", "b -[EVOLVED_INTO]-> c"]


def test_the_head_is_at_least_as_good_and_as_relevant_as_its_past():
    made = parts(
        [memory("old", "green tea at four"), memory("new", "tea", on=1), memory("other", "tea at home")],
        [link("old", "EVOLVED_INTO", "new")],
    )
    (before,) = ask(made, "green tea at four", "hybrid", state="history")
    (found,) = ask(made, "green tea at four", "hybrid")
    past = next(hit for hit in before.hits if hit.memory_id == "old")
    assert ids(found)[0] == "new"
    assert found.hits[0].score == past.score == 1.0
    assert found.hits[0].relevance == past.relevance
    assert ids(ask(made, "green tea at four", "hybrid", min_relevance=past.relevance)[0]) == ["new"]


def test_a_head_that_is_better_than_its_past_has_no_path():
    made = parts([memory("old", "tea"), memory("new", "green tea", on=1)], [link("old", "EVOLVED_INTO", "new")])
    (found,) = ask(made, "green tea", LEXICAL)
    assert (ids(found), found.hits[0].path) == (["new"], ())
    assert "current" not in found.hits[0].parts


def test_the_past_lends_to_nothing_but_its_head():
    made = parts(
        [
            memory("old", "green tea", session_id="s", sequence=1),
            memory("beside", "a boat", session_id="s", sequence=2),
            memory("linked", "a well"),
            memory("new", "coffee", on=1),
        ],
        [link("old", "EVOLVED_INTO", "new"), link("old", "LEADS_TO", "linked", 1.0)],
    )
    method = Method("m", lexical=1.0, neighbours=0.5, associations=0.5)
    assert ids(ask(made, "green tea", method)[0]) == ["new"]
    assert set(ids(ask(made, "green tea", method, state="history")[0])) == {"old", "beside", "linked", "new"}


def test_neighbours_are_the_turns_right_beside_in_the_same_session_and_space():
    def turn(name, text, **where):
        return memory(name, text, **{"session_id": "s", "sequence": 5, **where})

    made = parts(
        [
            turn("hit", "green tea"),
            turn("next", "a", sequence=6),
            turn("gap", "b", sequence=3),
            turn("else", "c", session_id="t", sequence=6),
            turn("wall", "d", space="other", sequence=4),
        ]
    )
    (found,) = ask(made, "tea", Method("m", lexical=1.0, neighbours=0.5), spaces=("default", "other"))
    assert ids(found) == ["hit", "next"]
    assert found.hits[1].parts["neighbours"].share == 0.5


def test_neighbours_that_the_filters_cut_neither_lend_nor_gain():
    made = parts(
        [
            memory("a", "green tea", session_id="s", sequence=1, tags=("no",)),
            memory("b", "boat", session_id="s", sequence=2),
            memory("c", "green", session_id="s", sequence=3),
        ]
    )
    (found,) = ask(made, "green tea", Method("m", lexical=1.0, neighbours=0.5), wanted=parse_filter(exclude_tags="no"))
    assert ids(found) == ["c", "b"]
    assert found.hits[1].score == 0.5


def test_associations_bring_in_what_the_words_miss_with_the_path():
    made = parts(
        [memory("a", "green tea"), memory("b", "a boat"), memory("c", "a well", tags=("no",))],
        [link("b", "DERIVED_FROM", "a", 0.8), link("a", "LEADS_TO", "c", 1.0)],
    )
    method = Method("m", lexical=1.0, associations=0.5)
    (found,) = ask(made, "tea", method, wanted=parse_filter(exclude_tags="no"))
    assert ids(found) == ["a", "b"]
    assert found.hits[1].score == pytest.approx(0.4)
    assert found.hits[1].path == (Step("b", "DERIVED_FROM", "a", "a"),)
    assert found.hits[0].path == ()


def test_a_relation_of_weight_zero_brings_nothing_in():
    mute = custom_relation("MUTE", weight=0.0)
    made = parts([memory("a", "green tea"), memory("b", "boat")], [link("a", "MUTE", "b", 1.0)], MUTE=mute)
    assert ids(ask(made, "tea", Method("m", lexical=1.0, associations=1.0))[0]) == ["a"]


def test_idf_and_lengths_of_a_space_are_its_own():
    here = [memory("a", "green tea"), memory("b", "green boat and more")]
    noise = [memory(f"n{n}", "green " * 9, space="noise") for n in range(20)]
    alone, beside = ask(parts(here), "green tea", LEXICAL)[0], ask(parts([*here, *noise]), "green tea", LEXICAL)[0]
    assert alone.hits == beside.hits
    (both,) = ask(parts([*here, *noise]), "green tea", LEXICAL, spaces=("default", "noise"), k=30)
    raw = {hit.memory_id: hit.parts["lexical"].score for hit in both.hits}
    assert {hit.memory_id: hit.parts["lexical"].score for hit in alone.hits}.items() <= raw.items()
    assert len(both.hits) == 22


@given(st.lists(TEXTS, min_size=1, max_size=8), TEXTS, st.sampled_from(PRESETS), st.floats(0, 1), st.floats(0, 1))
def test_min_relevance_means_at_least_and_only_ever_takes_away(texts, query, method, one, other):
    made = parts([memory(f"m{n}", text) for n, text in enumerate(texts)])
    low, high = sorted((one, other))
    everything, some, few = (ask(made, query, method, min_relevance=bar)[0] for bar in (0.0, low, high))
    assert ids(some) == [hit.memory_id for hit in everything.hits if hit.relevance >= low]
    assert [i for i in ids(some) if i in ids(few)] == ids(few)
    for hit in everything.hits:
        assert hit.memory_id in ids(ask(made, query, method, min_relevance=hit.relevance)[0])


def test_a_threshold_cuts_before_the_k_best_are_taken():
    texts = ["tea tea tea", "tea tea", "green tea from far away over the sea in a big boat"]
    made = parts([memory(f"m{n}", text) for n, text in enumerate(texts)])
    (first,) = ask(made, "green tea", LEXICAL, k=3)
    bar = max(hit.relevance for hit in first.hits)
    (found,) = ask(made, "green tea", LEXICAL, k=1, min_relevance=bar)
    assert ids(found) == ["m2"]


def test_relevance_means_the_same_whatever_else_is_found():
    one = memory("a", "green tea at four")
    other = [memory(f"n{n}", "green tea at five and six") for n in range(5)]
    alone = ask(parts([one]), "green tea at four", "dense")[0].hits[0]
    beside = ask(parts([one, *other]), "green tea at four", "dense")[0].hits[0]
    assert alone.relevance == beside.relevance == 1.0


def test_temporal_recall_finds_by_date_alone():
    made = parts(
        [memory("may", "x", happened_at=day(3)), memory("june", "y", happened_at=day(39)), memory("written", "z", on=4)]
    )
    (found,) = ask(made, "what happened on 4 May 2024?", Method("when", temporal=1.0))
    assert ids(found) == ["may", "written"]
    assert found.hits[0].relevance == 1.0
    assert ask(made, "what may have happened?", Method("when", temporal=1.0))[0].hits == ()


def test_relative_dates_count_from_now_in_the_zone():
    made = parts([memory("late", "x", happened_at=day(40.95)), memory("early", "y", happened_at=day(40.5))])
    method = Method("when", temporal=1.0)
    # 23:00 UTC of the tenth of June is the eleventh in Oslo, and the twelfth is now.
    assert ids(ask(made, "yesterday", method, zone="Europe/Oslo")[0])[0] == "late"
    (utc,) = ask(made, "the day before yesterday", method)
    assert [hit.score for hit in utc.hits] == [1.0, 1.0]


def test_diversity_changes_the_order_and_keeps_the_scores():
    made = parts([memory("a", "green tea"), memory("b", "green tea"), memory("c", "green boat")])
    plain, varied = (ask(made, "green tea", preset("hybrid").but(diversify=w), k=3)[0] for w in (0.0, 0.9))
    assert (ids(plain), ids(varied)) == (["a", "b", "c"], ["a", "c", "b"])
    assert {h.memory_id: h.score for h in plain.hits} == {h.memory_id: h.score for h in varied.hits}
    assert [hit.rank for hit in varied.hits] == [1, 2, 3]


def test_diversity_without_vectors_keeps_the_order():
    made = parts([memory(name, "green tea " + more) for name, more in zip("abc", ("", "x", "x y"), strict=True)])
    for method in (LEXICAL, LEXICAL.but(diversify=0.7)):
        assert ids(ask(made, "green tea", method)[0]) == ["a", "b", "c"]


def test_every_step_is_timed_under_the_name_of_its_channel():
    (found,) = ask(parts([memory("a", "green tea")]), "tea in May 2024")
    wanted = {"candidates", "dense", "lexical", "temporal", "salience", "fuse", "rank", "evidence"}
    assert wanted <= set(found.seconds)
    assert all(seconds >= 0 for seconds in found.seconds.values())


def test_the_weights_are_those_of_the_channels_that_spoke():
    made = parts([memory("a", "green tea")])
    (found,) = ask(made, "tea", Method("m", dense=3.0, lexical=1.0, temporal=5.0))
    assert found.weights == {"dense": 0.75, "lexical": 0.25}


def test_no_memories_give_no_hits():
    for method, queries in itertools.product(PRESETS, ("tea", ["tea", "boat"], [])):
        found = ask(parts([]), queries, method)
        assert [one.hits for one in found] == [()] * (1 if queries == "tea" else len(queries))


def test_large_batches_are_cut_into_blocks_without_a_trace(monkeypatch):
    made = parts([memory(f"m{n}", "green tea " * n + "boat") for n in range(1, 6)])
    queries = ["tea", "boat", "green", "tea boat", "well"]
    whole = ask(made, queries)
    monkeypatch.setattr("memlab.recall.engine.BLOCK", 10)
    assert [one.hits for one in ask(made, queries)] == [one.hits for one in whole]


def test_the_best_are_found_among_many_equals():
    made = parts([memory(f"m{n:02}", "green tea") for n in range(30)])
    request = Request(
        method=LEXICAL, k=3, spaces=("default",), wanted=parse_filter(), state="current", at=NOW, now=NOW, zone="UTC",
        min_relevance=0.0,
    )  # fmt: skip
    pool = gather(made, ("default",), request.wanted, "current", NOW)
    ranking = _Ranking(made, request, pool, "tea", None, None)
    scores = np.array([0.5] * 15 + [-np.inf] * 10 + [0.7] * 5)
    assert ranking._best(scores, 7) == [25, 26, 27, 28, 29, 0, 1]
    assert len(ranking._best(scores, 99)) == 20
    assert ranking._best(np.full(30, -np.inf), 7) == []
