"""What text may enter, and how it is matched."""

import json
import time
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memlab.errors import FilterError, InvalidAssociation, InvalidMemory
from memlab.text import check_text, match_key, snippet, tag_key, tag_matches, tokens

TEXT = st.text(max_size=60)


def forms(text: str) -> list[str]:
    return [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]


# The door


@given(TEXT)
def test_text_comes_out_as_it_went_in(text: str) -> None:
    if "\x00" in text:
        with pytest.raises(InvalidMemory, match="NUL character at position"):
            check_text(text, allow_blank=True)
    else:
        assert check_text(text, allow_blank=True) == text


@pytest.mark.parametrize("value", [None, 7, b"tea", ["tea"], float("nan")])
def test_what_is_no_string_is_refused_by_its_type(value: object) -> None:
    with pytest.raises(InvalidMemory, match=f"content is of type {type(value).__name__}; give a str"):
        check_text(value)


def test_a_subclass_of_str_comes_back_plain() -> None:
    assert type(check_text(np.str_("tea"))) is str


@pytest.mark.parametrize(("text", "position"), [(json.loads('"\\udc9f"'), 0), ("ok \ud83e", 3), ("\udd8a\ud83e", 0)])
def test_an_unpaired_surrogate_is_refused_with_its_position(text: str, position: int) -> None:
    with pytest.raises(InvalidMemory, match=f"unpaired surrogate U\\+D[0-9A-F]+ at position {position}"):
        check_text(text)


BLANK = [
    "",
    " ",
    "\t\n\r",
    "\u200b",
    "\ufeff \u200d",
    "\u00a0\u3000",
    "\u2060\u00ad",
    "\u3164",
    "\u2800",
    "\ufe0f",
    "\x01",
]


@pytest.mark.parametrize("text", BLANK)
def test_text_that_shows_nothing_is_blank(text: str) -> None:
    with pytest.raises(InvalidMemory, match=r"^name is blank .*; give some text$"):
        check_text(text, "name")
    assert check_text(text, "name", allow_blank=True) == text


@pytest.mark.parametrize("text", ["0", "!!!", "🦊", "\u0301", "\u200bx", "漢", "\ufffe", "a" * 20_000, "tea\n"])
def test_text_that_shows_something_is_not_blank(text: str) -> None:
    assert check_text(text) is text


def test_the_caller_names_the_class_of_the_error() -> None:
    with pytest.raises(InvalidAssociation):
        check_text(" ", "relation", error=InvalidAssociation)


# Keys


@given(TEXT)
def test_the_match_key_is_stable_and_ignores_form_and_case(text: str) -> None:
    composed, decomposed = forms(text)
    assert match_key(composed) == match_key(decomposed) == match_key(text)
    assert match_key(match_key(text)) == match_key(text)
    assert unicodedata.is_normalized("NFC", match_key(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [("caf\u00e9", "CAFE\u0301"), ("Straße", "STRASSE"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("Home", "hOME")],
)
def test_texts_that_differ_in_form_or_case_have_one_key(one: str, other: str) -> None:
    assert match_key(one) == match_key(other)


@pytest.mark.parametrize(("one", "other"), [("cafe", "café"), ("tea", "tea\n"), ("ABC", "ＡＢＣ"), ("a b", "a  b")])
def test_accents_blanks_and_width_keep_keys_apart(one: str, other: str) -> None:
    assert match_key(one) != match_key(other)


def test_a_tag_has_one_key_for_both_separators_and_any_case() -> None:
    assert tag_key(" Project/Tide:North\n") == tag_key("project:tide/NORTH") == "project:tide:north"


def test_tags_match_exactly_or_by_their_beginning() -> None:
    wanted = tag_key("project/tide")
    tags = ["project:tide", "project:tide:north", "project:tidepool", "project", "myproject:tide"]
    assert [tag for tag in tags if tag_matches(tag, wanted)] == ["project:tide"]
    assert [tag for tag in tags if tag_matches(tag, wanted, "prefix")] == tags[:3]
    with pytest.raises(FilterError, match="tag match 'glob' is unknown; use 'exact' or 'prefix'"):
        tag_matches("a", "a", "glob")


# Tokens

TOKENS = {
    "words lose case": ("Ana moved to OSLO.", "ana moved to oslo"),
    "an identifier and its parts": ("EXP-1042", "exp-1042 exp 1042"),
    "an unusual hyphen": ("EXP\u20111042", "exp-1042 exp 1042"),
    "a version": ("v2.3.1", "v2.3.1 v2 3 1"),
    "snake case": ("foo_bar", "foo_bar foo bar"),
    "a hyphenated word": ("follow-up", "follow-up follow up"),
    "a path": ("/usr/lib/x.py", "usr/lib/x.py usr lib x py"),
    "an address": ("https://example.org/a?b=c", "https example.org/a example org a b c"),
    "an e-mail": ("Ana@lab.org", "ana@lab.org ana lab org"),
    "slash": ("a/b", "a/b a b"),
    "query syntax is plain words": ('x AND (y* OR "z)', "x and y or z"),
    "languages": ("C++, C# and c.", "c++ c# and c"),
    "ampersand": ("R&D", "r&d r d"),
    "dashes": ("yes—no 2019–2020", "yes no 2019-2020 2019 2020"),
    "thousands": ("1,234 and 12,345,678.90", "1234 and 12345678.90"),
    "decimals": ("3.14 costs 2.50kg", "3.14 costs 2.50 kg"),
    "lists of numbers": ("1,2,3 2023,2024", "1 2 3 2023 2024"),
    "a date and a time": ("2024-05-20 12:30", "2024-05-20 2024 05 20 12:30 12 30"),
    "superscripts": ("10² m² 3½", "10 2 m2 3 1 2"),
    "other digits": ("٣٤ १२", "34 12"),
    "negation": ("don't don’t dont DON'T", "dont dont dont dont"),
    "possessives": ("Ana's the students' it’s", "ana the students it"),
    "clitics": ("I'm she'll we're they've he'd", "i she we they he"),
    "elision": ("l'homme aujourd’hui O'Brien", "lhomme homme aujourdhui hui obrien brien"),
    "quotes": ("'tea' \"cake\" ‘x’", "tea cake x"),
    "accents stay": ("café CAFE\u0301 cafe", "café café cafe"),
    "full width and ligatures": ("ＡＢＣ ﬁne ｶﾞｰ", "abc fine ガー"),
    "folding": ("Straße İstanbul ΟΔΟΣ", "strasse istanbul οδοσ"),
    "Devanagari": ("नमस्ते हिन्दी", "नमस्ते हिन्दी"),
    "Arabic and Hebrew": ("مرحبا بالعالم שלום", "مرحبا بالعالم שלום"),
    "Persian joiner": ("می\u200cخواهم", "میخواهم"),
    "Cyrillic": ("Ёлка п'ять", "ёлка пять ять"),
    "Han and kana": ("猫が好き", "猫 猫が が好 好 好き"),
    "one sign": ("猫 ネ", "猫 ネ"),
    "Hangul": ("집을 샀다", "집 집을 을 샀 샀다 다"),
    "Latin beside Han": ("iPhone手机2024年", "iphone 手 手机 机 2024 年"),
    "Thai": ("ที่นี่", "ที่นี่"),
    "Thai pairs": ("ปลาดี", "ปล ลา าดี"),
    "Lao, Khmer, Myanmar": ("ລາວ ខ្មែរ မြန်မာ", "ລາ າວ ខ្មែ មែរ မြန် န်မာ"),
    "emoji": ("tea 🦊👍🏽 ❤️ 👨‍👩‍👧", "tea 🦊 👍 ❤ 👨 👩 👧"),
    "flags and keycaps": ("🇳🇴🇵🇹 1️⃣", "🇳🇴 🇵🇹 1"),
    "soft hyphen and zero width": ("co\u00adop zero\u200bwidth \ufeffx", "coop zero width x"),
    "signs alone": ("!!! --- ─── © … '", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", TOKENS)
def test_tokens(name: str) -> None:
    text, expected = TOKENS[name]
    assert tokens(text) == expected.split()
    assert tokens(unicodedata.normalize("NFD", text)) == expected.split()


@given(TEXT)
def test_composed_and_decomposed_text_have_the_same_tokens(text: str) -> None:
    composed, decomposed = forms(text)
    assert tokens(composed) == tokens(decomposed) == tokens(text)


@given(TEXT)
def test_no_token_is_empty_or_holds_a_blank(text: str) -> None:
    assert all(token and token.split() == [token] for token in tokens(text))


@given(st.text(st.characters(categories=["Lu", "Ll", "Lt"]), min_size=1, max_size=8))
def test_every_letter_is_in_some_token(word: str) -> None:
    assert tokens(word)
    assert tokens(word.upper()) == tokens(word.upper().lower())


@pytest.mark.parametrize(
    "text",
    [
        "a" * 20_000,
        "漢" * 20_000,
        "a-" * 10_000,
        "1,234" * 4_000,
        "a'" * 10_000,
        "1.1a" * 5_000,
        "e\u0301" * 9_000,
    ],
)
def test_a_very_long_word_takes_no_more_than_its_length(text: str) -> None:
    start = time.perf_counter()
    assert tokens(text)
    assert time.perf_counter() - start < 0.5


def test_a_long_word_is_one_token() -> None:
    assert tokens("a" * 20_000) == ["a" * 20_000]


# One line


def test_a_snippet_is_one_line_of_the_length_asked() -> None:
    assert snippet("tea\n\n and  cake") == "tea and cake"
    assert snippet("tea and cake", 12) == "tea and cake"
    assert snippet("tea and cake", 11) == "tea and ca…"
    assert snippet("tea and cake", 5) == "tea…"
    assert snippet("tea", 1) == "…"
    with pytest.raises(ValueError, match="length is 0; give 1 or more"):
        snippet("tea", 0)


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("cafe\u0301s x", 5, "caf…"),
        ("xx👨‍👩‍👧yy", 5, "xx…"),
        ("xx👍🏽yyy", 4, "xx…"),
        ("xx🇳🇴yy", 4, "xx…"),
        ("नमस्ते दुनिया", 5, "नमस्…"),
    ],
)
def test_a_snippet_cuts_between_characters_as_people_see_them(text: str, length: int, expected: str) -> None:
    assert snippet(text, length) == expected


@given(TEXT, st.integers(1, 70))
@settings(max_examples=50)
def test_a_snippet_is_never_longer_than_asked(text: str, length: int) -> None:
    assert len(snippet(text, length)) <= length
    assert "\n" not in snippet(text, length)
