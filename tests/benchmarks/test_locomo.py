"""LoCoMo's native form, with all the faults its files are known to have, in conversations made up for this."""

import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
import require

from memlab.benchmarks.load import load_benchmark
from memlab.benchmarks.locomo import CATEGORIES, load_locomo, parse_date, resolve_evidence
from memlab.errors import DatasetError

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
SMALL = FIXTURES / "locomo_small.json"
AUDIT = FIXTURES / "locomo_audit.json"


def changed(tmp_path: Path, change) -> Path:
    """The small file with one thing made wrong."""
    samples = json.loads(SMALL.read_text(encoding="utf-8"))
    change(samples)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(samples), encoding="utf-8")
    return path


def test_each_turn_is_a_memory_with_its_speaker_session_and_date():
    memories = {memory["memory_id"]: memory for memory in load_locomo(SMALL).memories}
    assert len(memories) == 11
    assert memories["conv-901/D10:2"] == {
        "memory_id": "conv-901/D10:2",
        "content": "Climbing! My sister Runa teaches it in the old mill.",
        "space": "conv-901",
        "role": "Ingrid",
        "session_id": "conv-901/session_10",
        "sequence": 2,
        "happened_at": datetime(2021, 12, 31, 0, 5, tzinfo=UTC),
        "source": "locomo",
    }


def test_a_photo_s_caption_is_part_of_the_turn():
    content = {memory["memory_id"]: memory["content"] for memory in load_locomo(SMALL).memories}
    assert content["conv-901/D1:2"].endswith("now. [shares a photo: a red kayak on two wooden trestles]")
    assert content["conv-901/D2:1"] == "[shares a photo: a balcony full of tomato plants]"
    assert content["conv-901/D2:2"] == "They have grown! I am just back from the dentist."


def test_what_a_model_wrote_about_the_conversation_is_not_read():
    text = " ".join(memory["content"] for memory in load_locomo(SMALL).memories)
    assert "Marco owns a kayak" not in text
    assert "They talk about plants" not in text


def test_misprinted_evidence_is_mended_and_every_repair_is_listed():
    bench = load_locomo(SMALL)
    assert {query_id: tuple(units) for query_id, units in bench.qrels.items()} == {
        "conv-901/qa0": ("conv-901/D1:1",),
        "conv-901/qa1": ("conv-901/D1:2", "conv-901/D10:1"),
        "conv-901/qa2": ("conv-901/D2:2",),
        "conv-901/qa4": ("conv-901/D2:1", "conv-901/D2:3", "conv-901/D1:1"),
        "conv-901/qa5": ("conv-901/D1:4",),
        "conv-901/qa6": ("conv-901/D1:3",),
        "conv-901/qa7": ("conv-901/D10:1",),
        "conv-901/qa8": ("conv-901/D1:4",),
        "conv-902/qa0": ("conv-902/D1:1",),
        "conv-902/qa1": ("conv-902/D1:1",),
    }
    assert bench.repairs == (
        "conv-901: 2 dates (3 to 4) have no session",
        "conv-901 qa[1]: 'D1:2; D10:01' is read as D1:2, D10:1",
        "conv-901 qa[2]: 'D:2:2' is read as D2:2",
        "conv-901 qa[3]: no evidence, so it is asked and not scored",
        "conv-901 qa[4]: 'D2:1 D2:3 D1:1' is read as D2:1, D2:3, D1:1",
        "conv-901 qa[4]: D2:3 is given twice and counts once",
        "conv-901 qa[5]: D1:19 is a turn that isn't there and is dropped",
        "conv-901 qa[5]: 'D' names no turn and is dropped",
    )
    assert not any(query.text in repair for query in bench.queries for repair in bench.repairs)


@pytest.mark.parametrize(
    ("evidence", "kept"),
    [
        (["D1:1", "D1:2"], ["D1:1", "D1:2"]),
        (["D1:2; D2:1"], ["D1:2", "D2:1"]),
        (["D1:1 D1:2 D2:1"], ["D1:1", "D1:2", "D2:1"]),
        (["D:2:1"], ["D2:1"]),
        (["D02:01"], ["D2:1"]),
        (["D", "D1:1"], ["D1:1"]),
        (["D9:1", "D1:1"], ["D1:1"]),
        (["D1:1", "D1:1"], ["D1:1"]),
        ([], []),
    ],
)
def test_evidence_follows_one_rule(evidence, kept):
    turns, mended = resolve_evidence(evidence, {"D1:1", "D1:2", "D2:1"})
    assert turns == kept
    assert bool(mended) == (evidence != kept)


def test_adversarial_questions_are_told_apart_and_load_without_an_answer():
    queries = {query.query_id: query for query in load_locomo(SMALL).queries}
    assert [query_id for query_id, query in queries.items() if not query.answerable] == [
        "conv-901/qa6",
        "conv-901/qa7",
    ]
    assert queries["conv-901/qa6"].note == "adversarial answer: a boat"
    assert queries["conv-901/qa7"].note == "answer: nothing that we know of"
    assert queries["conv-901/qa0"].note == "answer: 12"


def test_a_question_without_evidence_is_asked_and_not_scored():
    bench = load_locomo(SMALL)
    assert (len(bench.queries), bench.n_asked, bench.n_scored, bench.n_unanswerable) == (11, 9, 8, 2)


def test_category_numbers_have_the_names_of_the_official_code():
    assert CATEGORIES == {
        1: "multi-hop",
        2: "temporal",
        3: "open-domain",
        4: "single-hop",
        5: "adversarial",
    }
    frame = load_locomo(SMALL).queries_frame
    assert list(frame["category"].iloc[:4]) == ["single-hop", "multi-hop", "temporal", "open-domain"]
    assert set(frame["conversation"]) == {"conv-901", "conv-902"}


def test_a_question_is_asked_in_its_conversation_after_its_last_session():
    queries = {query.query_id: query for query in load_locomo(SMALL).queries}
    assert queries["conv-902/qa0"].space == "conv-902"
    assert queries["conv-902/qa0"].now == datetime(2020, 2, 29, 19, 45, tzinfo=UTC)
    assert queries["conv-901/qa0"].now == datetime(2021, 12, 31, 0, 5, tzinfo=UTC)


def test_at_session_level_the_sessions_are_relevant():
    bench = load_locomo(SMALL, level="session")
    assert bench.level == "session"
    assert dict(bench.qrels["conv-901/qa4"]) == {"conv-901/session_2": 1, "conv-901/session_1": 1}
    assert bench.unit_of("conv-901/D2:3") == "conv-901/session_2"
    assert len(bench.memories) == 11


def test_an_audit_replaces_wrong_citations_and_nothing_else():
    bench = load_locomo(SMALL, audit=AUDIT)
    assert dict(bench.qrels["conv-902/qa1"]) == {"conv-902/D1:2": 1}
    assert dict(bench.qrels["conv-901/qa0"]) == {"conv-901/D1:1": 1}
    assert "conv-902 qa[1]: evidence corrected by the audit" in bench.repairs


def test_an_audit_of_another_file_is_refused(tmp_path):
    path = changed(tmp_path, lambda samples: samples[1]["qa"].reverse())
    with pytest.raises(DatasetError, match=r"\$\[1\]\.qa\[1\]\.question isn't the one that the audit corrects"):
        load_locomo(path, audit=AUDIT)


def test_an_audit_that_does_not_name_the_sample_counts_them(tmp_path):
    items = json.loads(AUDIT.read_text(encoding="utf-8"))
    for item in items:
        del item["sample_id"]
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(items), encoding="utf-8")
    assert dict(load_locomo(SMALL, audit=path).qrels["conv-902/qa1"]) == {"conv-902/D1:2": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("12:00 am on 1 January, 2024", datetime(2024, 1, 1, 0, 0, tzinfo=UTC)),
        ("12:59 pm on 31 December, 2022", datetime(2022, 12, 31, 12, 59, tzinfo=UTC)),
        ("11:01 am on 29 February, 2020", datetime(2020, 2, 29, 11, 1, tzinfo=UTC)),
    ],
)
def test_session_dates_are_read_as_utc(text, expected):
    assert parse_date(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "13:56 pm on 8 May, 2023",
        "0:10 am on 8 May, 2023",
        "1:60 pm on 8 May, 2023",
        "1:56 pm on 31 June, 2023",
        "1:56 pm on 8 Mai, 2023",
        "1:56 pm on 8 May 2023",
        "8 May, 2023",
        "1:56 pm on 8 May, 2023 ",
        "",
    ],
)
def test_other_dates_are_refused(text):
    with pytest.raises(DatasetError, match="date"):
        parse_date(text)


WRONG = {
    r"\$\[0\] has no 'sample_id'": lambda s: s[0].pop("sample_id"),
    r"\$\[0\]\.conversation has no session": lambda s: s[0].update(conversation={"speaker_a": "x"}),
    r"\$\[0\]\.conversation has no 'session_2_date_time'": lambda s: s[0]["conversation"].pop("session_2_date_time"),
    r"\$\[0\]\.conversation\.session_2_date_time is 'soon'": lambda s: s[0]["conversation"].update(
        session_2_date_time="soon"
    ),
    r"\$\[0\]\.conversation\.session_1\[0\]\.dia_id is 'D2:1'": lambda s: s[0]["conversation"]["session_1"][0].update(
        dia_id="D2:1"
    ),
    r"\$\[0\]\.conversation\.session_1\[1\]\.dia_id is 'D1:1', which": lambda s: s[0]["conversation"]["session_1"][
        1
    ].update(dia_id="D1:1"),
    r"\$\[0\]\.conversation\.session_1\[3\]\.text is 7; expected a string": lambda s: s[0]["conversation"]["session_1"][
        3
    ].update(text=7),
    r"\$\[1\]\.qa\[0\]\.category is 6; expected 1 to 5": lambda s: s[1]["qa"][0].update(category=6),
    r"\$\[1\]\.qa\[0\]\.category is true": lambda s: s[1]["qa"][0].update(category=True),
    r"\$\[1\]\.qa\[1\] has no 'evidence'": lambda s: s[1]["qa"][1].pop("evidence"),
    r"\$\[1\]\.qa\[1\]\.evidence\[0\] is 5": lambda s: s[1]["qa"][1].update(evidence=[5]),
    r"the sample_id 'conv-901' twice": lambda s: s[1].update(sample_id="conv-901"),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_file_that_is_not_as_documented_is_refused_with_the_place(message, tmp_path):
    with pytest.raises(DatasetError, match=message):
        load_locomo(changed(tmp_path, WRONG[message]))


def test_files_that_are_no_such_json_are_refused(tmp_path):
    path = tmp_path / "x.json"
    for text in ('{"a": 1}', "[1,", '[{"a": NaN}]', ""):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DatasetError, match=r"\$ is|isn't JSON"):
            load_locomo(path)
    path.write_bytes(b'["\xff"]')
    with pytest.raises(DatasetError, match="isn't UTF-8"):
        load_locomo(path)


def test_a_byte_order_mark_is_skipped(tmp_path):
    path = tmp_path / "bom.json"
    path.write_bytes(b"\xef\xbb\xbf" + SMALL.read_bytes())
    assert len(load_locomo(path).memories) == 11


def test_a_turn_with_nothing_in_it_is_left_out_and_listed(tmp_path):
    bench = load_locomo(changed(tmp_path, lambda s: s[1]["conversation"]["session_1"][0].update(text=" ")))
    assert "conv-902 D1:1: a turn without text or caption is left out" in bench.repairs
    assert "conv-902 qa[0]: D1:1 is a turn that isn't there and is dropped" in bench.repairs
    assert "conv-902/D1:1" not in {memory["memory_id"] for memory in bench.memories}


def test_the_level_is_one_of_two():
    with pytest.raises(DatasetError, match="'turn' and 'session'"):
        load_locomo(SMALL, level="dialogue")


def test_nothing_is_downloaded():
    with pytest.raises(DatasetError, match="never downloaded; give its file as path="):
        load_benchmark("locomo")
    with pytest.raises(DatasetError, match="can't be read"):
        load_benchmark("locomo", path="no/such/file.json")


@pytest.mark.data
def test_the_real_file_gives_the_counts_that_are_known_of_it():
    bench = load_benchmark("locomo", path=require.data("locomo", "locomo_dev5.json"))
    assert (len(bench.memories), len(bench.queries)) == (2960, 1020)
    assert (len(bench.qrels), sum(map(len, bench.qrels.values()))) == (1018, 1466)
    assert Counter(query.slices["category"] for query in bench.queries) == {
        "multi-hop": 151,
        "temporal": 157,
        "open-domain": 61,
        "single-hop": 419,
        "adversarial": 232,
    }
    assert (bench.n_asked, bench.n_scored) == (788, 786)
    assert any("'D:11:26' is read as D11:26" in repair for repair in bench.repairs)
    assert not any(re.search(r"[A-Za-z]{6,} [a-z]+\?", repair) for repair in bench.repairs)


@pytest.mark.data
def test_the_real_audit_corrects_32_citations():
    path = require.data("locomo", "locomo_dev5.json")
    bench = load_benchmark("locomo", path=path, audit=require.data("locomo", "audit_dev5.json"))
    assert sum("corrected by the audit" in repair for repair in bench.repairs) == 32
