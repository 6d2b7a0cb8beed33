"""Kind A: Unicode, scripts, emoji, bytes.

Law: a text goes in once and comes out the same, character for character. Words are compared by one key, in which
composed and decomposed forms and letter case are the same. What UTF-8 can't hold, and NUL, is refused at the door
of every argument that is a text, so that no later save, reading or display can fail for it. Names (of memories,
spaces, sessions) are opaque: two that differ in one code point are two names.
"""

import json
from pathlib import Path

import pytest
from worlds import METHODS, diary, found, state

from memlab.errors import MemlabError
from memlab.store import MemoryStore

COMPOSED, DECOMPOSED = "caf\u00e9 on the corner", "cafe\u0301 on the corner"
TEXTS = {
    "cjk": "漢字とかな交じり文、東京。",
    "arabic": "السلام عليكم",
    "hebrew with points": "שָׁלוֹם",
    "devanagari": "नमस्ते दुनिया",
    "thai": "สวัสดีชาวโลก",
    "family emoji": "picnic 👩‍👩‍👧‍👦 and 🇳🇴 and 👍🏽",
    "bidi controls": "safe \u202eelif.exe\u202c and \u2066isolated\u2069",
    "combining storm": "z" + "\u0300\u0301\u0327" * 200,
    "zero width": "zero\u200bwidth\u200djoin\u2060er",
    "byte order mark": "\ufeffbegins with a mark",
    "noncharacters": "odd \ufffe\uffff\U0010ffff end",
    "private use": "logo \ue000 \U000f0000",
    "control characters": "bell \x07 escape \x1b[31m red \x7f",
    "line ends": "one\r\ntwo\rthree\u2028four\u2029five\x85six\n",
    "ligatures": "ﬁne ﬀ Ǆ",
    "case without a pair": "Straße ı İ ſ ẞ",
    "not a character at all": "\ufffd replacement",
}
REFUSED = {
    "A04 low surrogate": json.loads('"\\udc9f"'),
    "high surrogate": "x\ud83d",
    "surrogates swapped": "\udc9f\ud83d",
    "surrogates as escapes of an emoji": "\ud83d\ude00",
    "NUL": "a\x00b",
    "only NUL": "\x00",
}
WRITES = {
    "content": lambda s, t: s.add(t),
    "memory_id": lambda s, t: s.add("x", memory_id=t),
    "a tag": lambda s, t: s.add("x", tags=["ok", t]),
    "an alias": lambda s, t: s.add("x", aliases=[t]),
    "type": lambda s, t: s.add("x", type=t),
    "role": lambda s, t: s.add("x", role=t),
    "session_id": lambda s, t: s.add("x", session_id=t),
    "source": lambda s, t: s.add("x", source=t),
    "content_type": lambda s, t: s.add("x", content_type=t),
    "a metadata key": lambda s, t: s.add("x", metadata={t: 1}),
    "a nested metadata key": lambda s, t: s.add("x", metadata={"a": [{t: 1}]}),
    "a metadata value": lambda s, t: s.add("x", metadata={"a": {"b": [t]}}),
    "space": lambda s, t: s.add("x", space=t),
    "actor": lambda s, t: s.add("x", actor=t),
    "supersedes": lambda s, t: s.add("x", supersedes=t),
    "an item of many": lambda s, t: s.add_many(["x", t], progress=False),
    "update of content": lambda s, t: s.update("move", content=t),
    "update of metadata": lambda s, t: s.update("move", metadata={t: t}),
    "a property": lambda s, t: s.associate("move", "PART_OF", "garden", role=t),
    "a relation": lambda s, t: s.associate("move", t, "garden"),
    "a new relation's label": lambda s, t: s.register_relation("CITES", t),
    "a space's name": lambda s, t: s.spaces.create(t),
    "a space's new name": lambda s, t: s.spaces.rename("attic", t),
    "a space's description": lambda s, t: s.spaces.describe("attic", t),
}
ASKS = {
    "query": lambda s, t: s.recall(t),
    "a query of many": lambda s, t: s.recall(["x", t]),
    "a wanted tag": lambda s, t: s.select(tags=[t]),
    "an unwanted tag": lambda s, t: s.select(exclude_tags=t),
    "a name in where": lambda s, t: s.select(where={t: 1}),
    "a value in where": lambda s, t: s.select(where={"city": t}),
    "a date phrase": lambda s, t: s.select(time=t),
    "since": lambda s, t: s.select(since=t),
    "zone": lambda s, t: s.select(since="2024-05-20", zone=t),
    "a space": lambda s, t: s.select(space=t),
    "state": lambda s, t: s.select(state=t),
    "an id": lambda s, t: s.get(t),
    "an id's history": lambda s, t: s.history(t),
    "actor of the log": lambda s, t: s.log(actor=t),
    "an id to delete": lambda s, t: s.delete(t),
    "a neighbour's relation": lambda s, t: s.neighbours("move", t),
    "method": lambda s, t: s.recall("x", method=t),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_goes_in_comes_out_equal_from_every_field(tmp_path: Path, text: str) -> None:
    fields = {"role": text, "session_id": text, "source": text, "tags": (text,), "metadata": {text: [text]}}
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        made = store.add(text, memory_id=text, space=text, **fields)
        before = store.get(text)
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        again = store.get(made)
        assert again == before
        assert (made, again.content, again.space) == (text, text, text)
        assert {name: getattr(again, name) for name in fields} == fields
        assert store.memories["content"].tolist() == [text]


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_cannot_be_saved_is_refused_where_it_is_written(write: object, text: str) -> None:
    store = diary(encoder=None)
    before = state(store)
    with pytest.raises(MemlabError) as caught:
        write(store, text)  # type: ignore[operator]
    str(caught.value).encode("utf-8")
    assert state(store) == before


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
def test_what_cannot_be_saved_is_refused_where_it_is_asked(ask: object, text: str) -> None:
    store = diary(encoder=None)
    with pytest.raises(MemlabError) as caught:
        ask(store, text)  # type: ignore[operator]
    str(caught.value).encode("utf-8")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("stored", "asked"),
    [(COMPOSED, "cafe\u0301"), (DECOMPOSED, "caf\u00e9"), (COMPOSED, "CAFÉ"), (DECOMPOSED, "CAFE\u0301")],
    ids=["A02 composed", "A02 decomposed", "upper case", "upper case decomposed"],
)
def test_a_word_is_found_in_whatever_form_it_is_typed(stored: str, asked: str, method: str) -> None:
    store = diary()
    wanted = store.add(stored)
    hits = store.recall(asked, k=1, method=method)
    assert hits[0].memory_id == wanted
    assert hits[0].memory.content == stored


def test_both_forms_of_a_word_rank_alike() -> None:
    store = diary()
    store.add_many([COMPOSED, DECOMPOSED], progress=False)
    for method in METHODS:
        first, second = ([hit.score for hit in store.recall(asked, k=2, method=method)] for asked in TEXT_FORMS)
        assert first == second and first[0] == pytest.approx(first[1])


TEXT_FORMS = ("caf\u00e9", "cafe\u0301")


@pytest.mark.parametrize(("stored", "asked"), [TEXT_FORMS, TEXT_FORMS[::-1], ("Straße", "STRASSE")])
def test_tags_and_contains_compare_by_the_key(stored: str, asked: str) -> None:
    store = diary(encoder=None)
    wanted = store.add("x", tags=[stored], metadata={"where": f"the {stored}"})
    assert store.select(tags=asked)["memory_id"].tolist() == [wanted]
    assert store.select(where={"where": {"contains": asked}})["memory_id"].tolist() == [wanted]


def test_names_are_opaque_so_two_forms_are_two_names() -> None:
    store = MemoryStore(encoder=None)
    for name in TEXT_FORMS:
        store.add("tea", memory_id=name, space=name)
    assert len(store) == len(store.spaces) == 2
    assert [found(store, "tea", space=name) for name in TEXT_FORMS] == [[name] for name in TEXT_FORMS]


def test_what_is_composed_differently_is_one_content_for_skipping_repeats() -> None:
    store = MemoryStore(encoder=None)
    assert store.add(COMPOSED) == store.add(DECOMPOSED, on_duplicate="skip")


@pytest.mark.parametrize("query", TEXTS.values(), ids=TEXTS)
def test_any_text_can_be_asked(query: str) -> None:
    store = diary()
    wanted = store.add(query)
    assert wanted in found(store, query, method="dense")
