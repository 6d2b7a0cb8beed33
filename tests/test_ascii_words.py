"""Words of ASCII text: the same as by all the rules, whatever the text."""

from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import texts

from memlab.ascii_words import words
from memlab.text import tokens

SIGNS = st.sampled_from(
    [*"abzAZ0189'`-_./\\@:+&#,", " ", "\n", "\t", "\x00", "(", "$", "é", "東", "s", "c++", "1,234", "1.5"]
)


@settings(max_examples=500)
@given(st.lists(SIGNS, max_size=12).map("".join))
def test_words_are_the_tokens_whatever_signs_stand_where(text: str) -> None:
    assert words(text) == tokens(text)


@given(st.one_of(texts(), st.text(st.characters(max_codepoint=127))))
def test_words_are_the_tokens_of_any_text(text: str) -> None:
    assert words(text) == tokens(text)
