"""Stems and stop words."""

import pytest

from memlab.errors import MethodError
from memlab.terms import STOP_WORDS, Analyser


def test_words_of_one_stem_are_one_term() -> None:
    analyser = Analyser()
    assert analyser.terms("moved moving moves MOVE") == ["move"] * 4
    assert analyser.terms("studies study") == ["studi"] * 2


@pytest.mark.parametrize(
    "text", ["exp-1042s", "v2.3.1", "1990s", "foo_tests", "привет", "猫", "νησιά", "दुनिया", "q" * 99]
)
def test_what_is_no_word_of_the_script_stays_as_it_is(text: str) -> None:
    assert Analyser().terms(text)[0] == text


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("russian", "книги книга", ["книг", "книг"]),
        ("russian", "running", ["running"]),
        ("german", "Häuser", ["haus"]),
        ("norwegian", "fiskene", ["fisk"]),
        ("serbian", "kuće куће", ["kuć", "kuć"]),
        ("porter", "moving", ["move"]),
    ],
)
def test_each_language_stems_its_own_script(language: str, text: str, expected: list[str]) -> None:
    assert Analyser(language).terms(text) == expected


def test_no_language_turns_a_word_into_nothing() -> None:
    for language in ("arabic", "persian", "tamil", "turkish", "irish"):
        text = "a ال ها s தான் ' t و"
        assert all(Analyser(language).terms(text))


def test_an_unknown_language_is_refused_with_the_known_ones() -> None:
    with pytest.raises(MethodError, match=r"language 'klingon' has no stemmer; use one of arabic, .*english"):
        Analyser("klingon")


def test_a_query_loses_its_question_words_and_a_document_doesnt() -> None:
    analyser = Analyser()
    assert [term for term, _ in analyser.query_terms("What did Ana do in May 2023?")] == ["ana", "may", "2023"]
    assert analyser.terms("what did Ana do") == ["what", "did", "ana", "do"]


def test_a_query_of_stop_words_only_keeps_them() -> None:
    assert Analyser().query_terms("who was it") == [("who", "who"), ("was", "was"), ("it", "it")]


def test_a_language_without_a_list_has_no_stop_words() -> None:
    assert [term for term, _ in Analyser("german").query_terms("wer ist das")] == Analyser("german").terms(
        "wer ist das"
    )


@pytest.mark.parametrize(
    "word", ["no", "not", "never", "nor", "none", "nobody", "nothing", "without", "didn't", "cannot", "dont"]
)
def test_a_negation_is_never_a_stop_word(word: str) -> None:
    analyser = Analyser()
    assert [term for term, _ in analyser.query_terms(f"did {word} go")] == [*analyser.terms(word), "go"]


def test_stop_words_are_single_tokens() -> None:
    analyser = Analyser()
    for words in STOP_WORDS.values():
        assert all(len(analyser.terms(word)) == 1 for word in words)


def test_forgetting_stems_changes_no_term(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memlab.terms._MOST_STEMS", 2)
    analyser = Analyser()
    text = "moving houses takes days and moving boats takes weeks"
    assert analyser.terms(text) == Analyser().terms(text) == analyser.terms(text)
