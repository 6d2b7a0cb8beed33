"""Kind B: very long text.

Law: nothing is cut silently. The whole text is kept, all of it can be found by words, and an encoder that takes
less reads it in overlapping windows whose ends are counted in its own unit; a query that is too long says so in
the recall's notes. There is no limit on the length of a content, an id, a tag or a query.
"""

import itertools
from pathlib import Path

import pytest
from worlds import METHODS, diary, found

from memlab.encoders import HashEncoder
from memlab.sentence_encoder import SentenceTransformerEncoder
from memlab.store import MemoryStore
from memlab.windows import windows_of

LONG = {
    "B03 one unbroken word": "a" * 20_000,
    "B05 Chinese": "人工智能研究記憶圖譜" * 800,
    "a megabyte of words": "tea rain harbour lamp " * 50_000,
    "one emoji, often": "🦊" * 20_000,
    "combining marks": "e\u0301" * 10_000,
    "mostly blanks": "start" + " " * 50_000 + "end",
    "one line after another": "line\n" * 20_000,
    "Thai": "ภาษาไทย" * 2_000,
    "unbroken base64": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo" * 600,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_long_text_is_kept_whole(tmp_path: Path, text: str) -> None:
    with MemoryStore.open(tmp_path / "s.memlab", encoder=HashEncoder(dimension=16)) as store:
        made = store.add(text)
    with MemoryStore.open(tmp_path / "s.memlab") as store:
        assert store.get(made).content == text
        assert store.check().ok


@pytest.mark.parametrize("where", ["begin", "middle", "end"])
def test_a_word_is_found_wherever_it_stands_in_a_long_text(where: str) -> None:
    filler = "nothing of note was said that day " * 4_000
    text = {"begin": f"quokka {filler}", "middle": f"{filler} quokka {filler}", "end": f"{filler} quokka"}[where]
    store = diary(encoder=None)
    wanted = store.add(text)
    assert found(store, "quokka") == [wanted]


@pytest.mark.model
@pytest.mark.parametrize(
    "text", [LONG["B03 one unbroken word"], LONG["B05 Chinese"][:3_000], "tea 🦊 " * 600], ids=["B03", "B05", "mixed"]
)
def test_windows_fit_the_model_cover_the_text_and_none_is_empty(minilm: SentenceTransformerEncoder, text: str) -> None:
    spans = windows_of(minilm, text)
    assert all(text[a:b].strip() for a, b in spans)
    assert all(len(minilm.windows(text[a:b])) == 1 for a, b in spans)
    assert spans[0][0] == 0 and spans[-1][1] == len(text)
    assert all(second[0] <= first[1] for first, second in itertools.pairwise(spans))


@pytest.mark.model
def test_meaning_at_the_end_of_a_long_text_is_found(minilm: SentenceTransformerEncoder) -> None:
    store = MemoryStore(encoder=minilm)
    filler = "The committee approved the minutes of the previous meeting. " * 60
    wanted = store.add(filler + "A kangaroo escaped from the zoo last night.")
    store.add(filler)
    hit = store.recall("Which animal ran away?", k=1, method="dense")[0]
    assert hit.memory_id == wanted


@pytest.mark.model
def test_a_query_too_long_for_the_model_says_so(minilm: SentenceTransformerEncoder) -> None:
    store = MemoryStore(encoder=minilm)
    store.add("Ana grows tomatoes.")
    answer = store.recall("and then we spoke about the garden and its tomatoes " * 200)
    assert any("longer than the encoder takes" in note for note in answer.notes)


@pytest.mark.parametrize("method", METHODS)
def test_a_long_query_is_answered(method: str) -> None:
    store = diary()
    assert found(store, "where did Ana move to, Oslo or Bergen? " * 2_000, k=1, method=method) == ["move"]


def test_long_names_are_names_like_others(tmp_path: Path) -> None:
    name = "n" * 100_000
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        store.add("tea", memory_id=name, tags=[name], space=name, role=name, metadata={name: name})
        store.add("rain", memory_id=f"{name}!", space=name)
        store.associate(name, "LEADS_TO", f"{name}!")
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        assert store.select(tags=name, space=name, where={name: name})["memory_id"].tolist() == [name]
        assert store.neighbours(name)["memory_id"].tolist() == [f"{name}!"]
        assert store.check().ok


def test_ten_thousand_tags_and_keys_are_kept(tmp_path: Path) -> None:
    tags = [f"t{i}" for i in range(10_000)]
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        made = store.add("tea", tags=tags, metadata=dict.fromkeys(tags, 1))
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        assert store.get(made).tags == tuple(tags)
        assert store.select(tags="t9999", where={"t9999": 1})["memory_id"].tolist() == [made]
