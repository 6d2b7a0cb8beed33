"""Pieces of long texts: all of the text, nothing above the limit."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memlab.encoders import HashEncoder
from memlab.errors import EncoderError
from memlab.windows import Measure, token_windows, windows_of


def word_starts(text):
    return [found.start() for found in re.finditer(r"\S+", text)]


def word_count(text):
    return len(text.split())


def assert_law(text, spans, count, measure):
    """Whole text, in order, none empty, none above the limits."""
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    for (start, end), (next_start, next_end) in pairwise(spans):
        assert start < next_start <= end < next_end
    for start, end in spans:
        assert start < end or not text
        assert end - start <= measure.characters
        assert count(text[start:end]) <= measure.limit or end - start == 1


def test_words_are_shared_between_windows():
    text = "one two three four five six seven"
    spans = token_windows(text, word_starts(text), word_count, Measure(4, 2, 1000))
    assert [text[a:b] for a, b in spans] == ["one two three four ", "three four five six ", "five six seven"]


def test_a_text_that_fits_is_one_window_and_so_is_an_empty_one():
    assert token_windows("one two", [0, 4], word_count, Measure(2, 1, 1000)) == [(0, 7)]
    assert token_windows("", [], word_count, Measure(2, 1, 1000)) == [(0, 0)]


def test_blank_text_after_the_last_token_is_covered():
    text = "one two three" + " " * 50
    assert_law(
        text, token_windows(text, word_starts(text), word_count, Measure(2, 0, 20)), word_count, Measure(2, 0, 20)
    )


def test_an_endless_word_is_cut_by_characters_and_overlaps():
    text = "a" * 1000
    measure = Measure(limit=10, overlap=1, characters=120)
    spans = token_windows(text, [0], word_count, measure)
    assert_law(text, spans, word_count, measure)
    assert spans[:2] == [(0, 120), (105, 225)]


def test_a_piece_that_alone_has_more_tokens_is_cut_shorter():
    text = "abcdefghijklmnop" * 4
    measure = Measure(limit=6, overlap=2, characters=72)
    doubled = lambda piece: 2 * len(piece)  # noqa: E731
    spans = token_windows(text, list(range(len(text))), doubled, measure)
    assert_law(text, spans, doubled, measure)


def test_one_character_of_too_many_tokens_is_a_window_of_its_own():
    text = "xyz"
    spans = token_windows(text, [0, 0, 0, 1, 1, 1, 2, 2, 2], lambda piece: 3 * len(piece), Measure(2, 1, 24))
    assert spans == [(0, 1), (1, 2), (2, 3)]


@given(
    st.text(st.sampled_from("ab é漢\n\u0301🦊"), max_size=300),
    st.integers(1, 12),
    st.integers(0, 12),
    st.integers(1, 60),
)
@settings(max_examples=200, deadline=None)
def test_any_text_is_covered_by_windows_within_the_limits(text, limit, overlap, characters):
    measure = Measure(limit, min(overlap, limit - 1), characters)
    for starts, count in (
        (word_starts(text), word_count),
        (list(range(len(text))), len),
        ([i for i in range(len(text)) for _ in range(3)], lambda piece: 3 * len(piece)),
    ):
        assert_law(text, token_windows(text, starts, count, measure), count, measure)


class Windowed:
    name, dimension, fingerprint = "windowed", 2, "w"

    def __init__(self, spans):
        self.spans = spans

    def encode(self, texts, kind="passage", progress=False):
        raise AssertionError

    def windows(self, text):
        return self.spans


def test_an_encoder_without_windows_takes_each_text_whole():
    assert windows_of(HashEncoder(), "a" * 100_000) == [(0, 100_000)]
    assert windows_of(HashEncoder(), "") == [(0, 0)]


def test_an_own_encoders_windows_are_taken():
    assert windows_of(Windowed([[0, 6], [4, 10]]), "0123456789") == [(0, 6), (4, 10)]


@pytest.mark.parametrize(
    "spans",
    [
        [],
        [(0, 5)],
        [(1, 10)],
        [(0, 4), (6, 10)],
        [(0, 10), (10, 10)],
        [(0, 0), (0, 10)],
        [(0, 12)],
        [(0, 6), (0, 4), (4, 10)],
        [(-1, 10)],
    ],
)
def test_windows_that_lose_a_part_of_the_text_are_refused(spans):
    with pytest.raises(EncoderError, match="10 characters"):
        windows_of(Windowed(spans), "0123456789")
