"""BM25 against hand-computed numbers, the plain twin, and bm25s."""

import math
from typing import Any

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_lexical import PlainBM25

from memlab.errors import MethodError
from memlab.lexical import LexicalIndex

WORDS = ["tide", "cod", "oslo", "ana", "moved", "not", "EXP-7", "猫が", "3.14"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


def built(texts: dict[int, str], **options: Any) -> LexicalIndex:
    index = LexicalIndex(**options)
    index.add(list(texts), list(texts.values()))
    return index


def matched(index: LexicalIndex, query: str, n_rows: int = 20) -> list[int]:
    return np.flatnonzero(index.scores(query, n_rows)).tolist()


def test_scores_are_those_worked_out_by_hand() -> None:
    index = built({0: "cod cod tide", 1: "tide", 3: "oslo oslo"}, k1=1.0, b=0.5)
    # N = 3, mean length 2; idf(cod) = ln(1 + 2.5 / 1.5), idf(tide) = ln(1 + 1.5 / 2.5).
    idf_cod, idf_tide = math.log(8 / 3), math.log(1.6)
    # Norm of row 0: 1 - 0.5 + 0.5 * 3/2 = 1.25; of row 1: 0.5 + 0.5 * 1/2 = 0.75.
    expected = [idf_cod * 2 / 3.25 + idf_tide / 2.25, idf_tide / 1.75, 0.0, 0.0]
    assert index.scores("cod tide", 4) == pytest.approx(expected, rel=1e-12)
    assert index.coverage("cod tide", range(4)) == pytest.approx([1.0, idf_tide / (idf_cod + idf_tide), 0, 0])
    first, second = index.explain("cod tide", 0)
    assert (first.term, first.surface, first.tf) == ("cod", "cod", 2)
    assert (first.idf, first.contribution) == pytest.approx((idf_cod, idf_cod * 2 / 3.25))
    assert (second.term, second.contribution) == ("tide", pytest.approx(idf_tide / 2.25))


def bm25s_scores(index: LexicalIndex, texts: dict[int, str], query: str, n_rows: int) -> np.ndarray:
    expected = np.zeros(n_rows)
    analysed = [index.analyse(text) for text in texts.values()]
    terms = index.analyse_query(query)
    if any(analysed) and terms:
        peer = bm25s.BM25(k1=index.k1, b=index.b, method="lucene", dtype="float64")
        peer.index(analysed, show_progress=False)
        expected[list(texts)] = peer.get_scores(terms)
    return expected


def agree(index: LexicalIndex, texts: dict[int, str], query: str) -> None:
    n_rows = max(texts, default=0) + 3
    scores, coverage = index.scores(query, n_rows), index.coverage(query, range(n_rows))
    assert scores.dtype == np.float64
    assert scores.shape == coverage.shape == (n_rows,)
    assert scores == pytest.approx(bm25s_scores(index, texts, query, n_rows), rel=1e-6, abs=1e-12)
    twin = PlainBM25({row: index.analyse(text) for row, text in texts.items()}, index.k1, index.b)
    terms = index.analyse_query(query)
    for row in texts:
        assert scores[row] == pytest.approx(twin.score(terms, row), rel=1e-9)
        assert coverage[row] == pytest.approx(twin.coverage(terms, row), rel=1e-9)
        evidence = index.explain(query, row)
        assert math.fsum(found.contribution for found in evidence) == pytest.approx(scores[row], rel=1e-9)
        assert {found.term: found.tf for found in evidence} == {
            term: twin.documents[row].count(term) for term in terms if term in twin.documents[row]
        }
    assert ((coverage >= 0) & (coverage <= 1)).all()


CHANGES = st.lists(
    st.tuples(st.sampled_from(["add", "remove", "replace"]), st.integers(0, 30), TEXTS), min_size=1, max_size=25
)


@given(CHANGES, TEXTS, st.sampled_from([(0.9, 0.4), (1.5, 0.75), (0.0, 0.0), (1.2, 1.0)]))
@settings(max_examples=60, deadline=None)
def test_scores_equal_bm25s_after_any_adds_removes_and_replaces(
    changes: list[tuple[str, int, str]], query: str, parameters: tuple[float, float]
) -> None:
    index = LexicalIndex(*parameters)
    texts: dict[int, str] = {}
    for kind, pick, text in changes:
        if kind == "add":
            row = max(texts, default=-1) + 1 + pick % 3
            index.add([row], [text])
            texts[row] = text
        elif texts:
            row = sorted(texts)[pick % len(texts)]
            index.remove([row])
            del texts[row]
            if kind == "replace":
                index.add([row], [text])
                texts[row] = text
        assert len(index) == len(texts)
        agree(index, texts, query)


def test_one_batch_gives_the_scores_of_single_adds() -> None:
    texts = {3 * row: " ".join(WORDS[: 1 + row % 5]) for row in range(12)}
    batch, single = built(texts), LexicalIndex()
    for row, text in texts.items():
        single.add([row], [text])
    for query in WORDS:
        assert batch.scores(query, 40).tolist() == single.scores(query, 40).tolist()


def test_a_repeated_query_term_counts_as_often_as_it_stands_there() -> None:
    index = built({0: "cod", 1: "tide"})
    assert index.scores("cod cod", 2) == pytest.approx(2 * index.scores("cod", 2))
    assert index.coverage("cod cod", range(2)).tolist() == [1.0, 0.0]


def test_removed_text_leaves_nothing_behind() -> None:
    index = built({row: f"tide word{row}" for row in range(8)})
    index.remove([2, 5])
    assert matched(index, "word2") == []
    assert matched(index, "tide") == [0, 1, 3, 4, 6, 7]
    assert 2 not in index
    assert 3 in index
    index.remove([0, 1, 3, 4, 6, 7])
    assert len(index) == 0
    assert index.scores("tide", 0).tolist() == []
    index.add([1], ["tide"])
    assert matched(index, "tide") == [1]


def test_many_replacements_dont_let_the_index_grow() -> None:
    index = built({row: f"tide {row}" for row in range(10)})
    for round_ in range(300):
        index.remove([round_ % 10])
        index.add([round_ % 10], [f"tide round{round_}"])
    assert len(index._rows) <= 20
    assert len(index._number_of) <= 50
    agree(index, {row: f"tide round{290 + row}" for row in range(10)}, "tide round293 round0")


def test_an_unknown_query_term_lowers_coverage_and_no_score() -> None:
    index = built({0: "cod tide", 1: "tide"})
    assert index.scores("cod zebra", 2).tolist() == index.scores("cod", 2).tolist()
    # idf of a term in one of two documents: ln 2; in none: ln 6.
    assert index.coverage("cod zebra", range(2)) == pytest.approx([math.log(2) / math.log(12), 0])


@pytest.mark.parametrize("query", ["", "!!!", "zebra"])
def test_a_query_that_matches_nothing_scores_nothing(query: str) -> None:
    index = built({0: "cod"})
    assert index.scores(query, 3).tolist() == index.coverage(query, range(3)).tolist() == [0, 0, 0]
    assert index.explain(query, 0) == []


def test_an_empty_index_answers() -> None:
    index = LexicalIndex()
    assert index.scores("cod", 4).tolist() == index.coverage("cod", range(4)).tolist() == [0] * 4


def test_a_text_without_terms_is_a_document_all_the_same() -> None:
    agree(built({0: "cod", 1: "!!!", 2: "cod tide"}), {0: "cod", 1: "!!!", 2: "cod tide"}, "cod tide")
    assert built({0: "!!!"}).scores("cod", 1).tolist() == [0]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("the café on the corner", "cafe\u0301"),
        ("the cafe\u0301 on the corner", "café"),
        ("see a/b for it", "a/b"),
        ("x and y or z", 'x AND (y* OR "z)'),
        ("a follow-up call", "follow-up"),
        ("a follow-up call", "follow up"),
        ("we don't eat meat", "don't"),
        ("we don't eat meat", "don’t"),
        ("we dont eat meat", "don't"),
        ("who was there", "who"),
        ("私は猫が好きです", "猫"),
        ("我们去了北京大学", "北京"),
        ("서울에서 살았다", "서울"),
        ("ผมชอบกินปลา", "ปลา"),
        ("मुझे हिन्दी आती है", "हिन्दी"),
        ("أحب الشاي", "الشاي"),
        ("🦊 likes 漢字", "🦊"),
        ("EXP-1042 failed", "exp 1042"),
        ("EXP-1042 failed", "EXP‑1042"),
        ("it cost 1,234 crowns", "1234"),
        ("Ana's boat", "ana"),
        ("a" * 20_000, "a" * 20_000),
    ],
)
def test_a_query_of_any_script_and_any_signs_finds_its_text(text: str, query: str) -> None:
    index = built({0: "nothing of that kind", 4: text})
    assert matched(index, query) == [4]


def test_a_corpus_smaller_than_any_k_gives_just_its_matches() -> None:
    assert matched(built({0: "cod tide", 1: "tide"}), "cod", n_rows=10) == [0]


def test_a_negation_tells_two_texts_apart() -> None:
    scores = built({0: "Ana does eat meat", 1: "Ana doesn't eat meat"}).scores("who doesn't eat meat", 2)
    assert scores[1] > scores[0] > 0


def test_the_evidence_names_the_words_of_the_query() -> None:
    found = built({0: "Ana moves boats", 1: "tide"}).explain("moving or moved boats?", 0)
    assert [(term.term, term.surface, term.tf) for term in found] == [("move", "moving", 1), ("boat", "boats", 1)]
    assert found[0].contribution == pytest.approx(2 * found[1].contribution)


def test_a_failed_add_changes_nothing() -> None:
    index = built({0: "cod"})
    for rows, texts in [([1, 0], ["a", "b"]), ([1, 1], ["a", "b"]), ([-1], ["a"]), ([1], []), ([1, 2], ["tide", None])]:
        with pytest.raises((ValueError, TypeError, AttributeError)):
            index.add(rows, texts)  # type: ignore[arg-type]
    assert len(index) == 1
    assert matched(index, "tide") == []


def test_a_failed_remove_changes_nothing() -> None:
    index = built({0: "cod", 1: "cod"})
    for rows in ([0, 9], [0, 0]):
        with pytest.raises(KeyError):
            index.remove(rows)
    assert matched(index, "cod") == [0, 1]
    with pytest.raises(KeyError, match="row 9 isn't in the index"):
        index.explain("cod", 9)


def test_rows_can_be_numpy_integers_and_come_in_any_order() -> None:
    index = LexicalIndex()
    index.add(np.array([9, 2]), ["cod", "tide"])  # type: ignore[arg-type]
    index.remove(np.array([9]))
    assert matched(index, "cod tide") == [2]
    assert index.explain("tide", np.int64(2))[0].tf == 1  # type: ignore[arg-type]


def test_too_few_rows_are_refused_and_the_index_lives_on() -> None:
    index = built({0: "cod", 7: "tide"})
    with pytest.raises(ValueError, match="n_rows is 7 but the index has row 7") as caught:
        index.scores("cod", 7)
    # A notebook keeps the last traceback, and with it every array of the failed call.
    assert caught.tb is not None
    index.add([8], ["cod"])
    assert matched(index, "cod") == [0, 8]


@pytest.mark.parametrize("options", [{"k1": -1}, {"k1": math.inf}, {"k1": math.nan}, {"b": 1.1}, {"b": math.nan}])
def test_parameters_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(MethodError, match="makes no sense; give k1 >= 0 and b in"):
        LexicalIndex(**options)
