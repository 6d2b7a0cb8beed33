"""The short list changes nothing: whatever is ranked from it is what ranking all gives, to the last digit."""

import math
from itertools import pairwise

import numpy as np
import pytest
from built import ENCODER, ask, day, memory, parts
from hypothesis import given, settings
from hypothesis import strategies as st

from memlab.filters import parse_filter
from memlab.index import DenseIndex
from memlab.recall import engine
from memlab.recall.channels import Parts
from memlab.recall.method import Method, preset
from memlab.recall.shortlist import MANY, contenders, shortlist
from memlab.scan import Scan

WORDS = ("oslo", "porto", "tea", "boat", "green", "moved", "sea", "ana", "!!!")
METHODS = {
    "dense": preset("dense"),
    "lexical": preset("lexical"),
    "hybrid": preset("hybrid"),
    "uneven": Method("uneven", dense=1e-3, lexical=2.5),
    "huge": Method("huge", dense=1e308, lexical=1e308),
    "varied": preset("hybrid").but(diversify=0.5),
}
FILTERS = ({}, {"where": {"n": {"lt": 60}}}, {"tags": "rare"}, {"since": day(2)})


def random_parts(seed: int, count: int = 150) -> Parts:
    """Memories of few words, many of them equal, some without a vector, some archived, some of several windows."""
    rng = np.random.default_rng(seed)
    made = parts(
        (
            memory(
                f"m{rng.integers(10**6):06}-{n}",
                " ".join(rng.choice(WORDS, size=rng.integers(1, 4))),
                on=int(rng.integers(5)),
                space="default" if rng.random() < 0.8 else "other",
                archived=bool(rng.random() < 0.1),
                tags=("rare",) if rng.random() < 0.3 else (),
                metadata={"n": n},
            )
            for n in range(count)
        ),
        encoder=None,
    )
    long = rng.random() < 0.5
    for space in made.lexical:
        index = made.dense[space] = DenseIndex(ENCODER.dimension)
        for slot, one in enumerate(made.table.rows):
            if one is not None and one.space == space:
                texts = [one.text, *rng.choice(WORDS, size=2)][: 1 + 2 * int(long and rng.random() < 0.3)]
                index.add([slot], [ENCODER.encode(texts)], [[(0, len(one.text))] * len(texts)])
        for slot in rng.choice(len(made.table.rows), size=10, replace=False).tolist():
            if slot in index:  # rows change places, and a memory is left without a vector
                index.remove(slot)
    return made


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=5),
    st.sampled_from(sorted(METHODS)),
    st.sampled_from(FILTERS),
    st.sampled_from([("default",), ("other",), ("default", "other")]),
    st.sampled_from(["current", "history"]),
    st.integers(1, 12),
)
def test_a_short_list_gives_the_hits_that_ranking_all_gives(seed, queries, method, bounds, spaces, state, k):
    made = random_parts(seed)
    options = {"wanted": parse_filter(**bounds), "spaces": spaces, "k": k, "state": state}
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        for worth in (0, math.inf):
            patch.setattr(engine, "WORTH", worth)
            patch.setattr("memlab.recall.shortlist.MANY", 0 if worth == 0 else MANY)
            batch = ask(made, queries, METHODS[method], **options)
            alone = [ask(made, query, METHODS[method], **options)[0] for query in queries]
            found[worth] = [one.hits for one in batch]
            assert found[worth] == [one.hits for one in alone]
            assert [one.candidates for one in batch] == [one.candidates for one in alone]
            assert [one.weights for one in batch] == [one.weights for one in alone]
    assert found[0] == found[math.inf]


@pytest.mark.parametrize("method", ["dense", "lexical", "hybrid"])
def test_a_large_store_is_ranked_from_few(method, monkeypatch):
    rng = np.random.default_rng(1)
    names = [f"word{n}" for n in range(500)]
    made = parts([memory(f"m{n}", " ".join(rng.choice(names, size=6))) for n in range(3000)])
    seen = []
    true = engine.shortlist

    def watched(*given):
        seen.append(true(*given))
        return seen[-1]

    monkeypatch.setattr(engine, "shortlist", watched)
    query = "word7 word77 word177 word277"
    (short,) = ask(made, query, method, k=3)
    assert 3 <= len(seen[0]) < 1000
    monkeypatch.setattr(engine, "WORTH", math.inf)
    (full,) = ask(made, query, method, k=3)
    assert len(seen) == 1
    assert (short.hits, short.candidates, short.weights) == (full.hits, full.candidates, full.weights)


@pytest.mark.parametrize(
    "method",
    [
        preset("default"), preset("hybrid").but(fusion="rrf"), preset("hybrid").but(neighbours=0.1),
        preset("hybrid").but(associations=0.1), preset("hybrid").but(salience=0.1), preset("hybrid").but(temporal=0.1),
    ],
)  # fmt: skip
def test_what_depends_on_all_scores_is_ranked_in_full(method, monkeypatch):
    monkeypatch.setattr(engine, "shortlist", None)
    assert ask(random_parts(3), "green tea", method, k=1)[0].hits


def scan_of(cosines, error=0.0):
    """A scan of one query."""
    return Scan.of(np.array([cosines], dtype=np.float32), None, error)


NONE = (np.empty(0, dtype=np.intp), np.empty(0))


def test_the_list_holds_the_best_the_extremes_and_those_of_their_groups():
    # 128 memories make four groups of 32: memory i is in group i modulo 4.
    cosines = np.full(128, 0.1)
    cosines[[5, 9, 6]] = 0.9, 0.8, -0.5
    words = (np.array([3, 7, 11]), np.array([4.0, 1.0, 0.1]))
    found = shortlist(scan_of(cosines), 0, words, {"dense": 0.5, "lexical": 0.5}, 2)
    # Those with words have .5 + .21, .12 + .21 and .01 + .21, so the second has .33. Above it is one group, that
    # of 5 and 9, by its largest, .5; 9 has .46. The others' largest give .21. And 6 is the smallest of all.
    assert found.tolist() == [3, 5, 6, 7, 9]


def test_all_alike_leaves_nothing_out():
    assert shortlist(scan_of(np.zeros(64)), 0, NONE, {"dense": 1.0}, 2) is None
    assert shortlist(scan_of(np.full(64, 1e-6), error=1e-4), 0, NONE, {"dense": 1.0}, 2) is None


def test_a_wider_error_only_ever_lengthens_the_list():
    rng = np.random.default_rng(2)
    cosines = rng.uniform(-1, 1, 900)
    lists = [set(shortlist(scan_of(cosines, e), 0, NONE, {"dense": 1.0}, 5).tolist()) for e in (0, 1e-4, 1e-2, 0.1)]
    assert all(one <= other for one, other in pairwise(lists))
    assert len(lists[0]) < 10 < len(lists[-1])


def test_silent_channels_leave_the_list_to_the_other():
    words = (np.array([30, 2, 8]), np.array([1.0, 3.0, 2.0]))
    assert shortlist(None, 0, words, {"dense": 0.5, "lexical": 0.5}, 2).tolist() == [2, 8]
    assert shortlist(None, 0, NONE, {"lexical": 1.0}, 2).tolist() == []


@given(st.lists(st.sampled_from([-np.inf, 0.0, 0.25, 0.2500004, 0.5, 1.0]), max_size=80), st.integers(1, 9))
def test_contenders_are_no_fewer_than_those_that_rounding_ties(values, k):
    scores = np.array(values, dtype=np.float64)
    rounded = np.round(scores, 6)
    known = sorted(rounded[rounded > -np.inf], reverse=True)
    least = {at for at in range(len(scores)) if known and rounded[at] >= known[:k][-1] and rounded[at] > -np.inf}
    for many in (0, MANY):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("memlab.recall.shortlist.MANY", many)
            found = contenders(scores, k).tolist()
        assert least <= set(found)
        assert found == sorted(found)
        assert all(scores[at] > -np.inf for at in found)
