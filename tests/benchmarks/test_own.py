"""memlab's own sets: found by name, read by the form their folder has to have."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memlab.benchmarks.load import benchmark_names, load_benchmark
from memlab.benchmarks.own import load_own, own_folder, own_names
from memlab.errors import DatasetError

FILES = {
    "memories.jsonl": """\
{"memory_id": "m1", "content": "Ines fixed the pump.", "happened_at": "2024-03-01T09:00+01:00", "tags": ["pump"]}
{"memory_id": "m2", "content": "The pump failed again.", "happened_at": "2024-03-09T09:00+01:00"}

{"memory_id": "m3", "content": "Lunch was late."}
""",
    "associations.jsonl": '{"source": "m1", "relation": "LEADS_TO", "target": "m2", "strength": 0.7}\n',
    "queries.jsonl": """\
{"query_id": "q1", "text": "Who fixed the pump?", "kind": "lexical", "now": "2024-04-01T00:00:00Z"}
{"query_id": "q2", "text": "What colour is the pump?", "kind": "unanswerable", "note": "nobody says"}
{"query_id": "q3", "text": "What time is dinner?", "kind": "temporal", "answerable": false}
""",
    "qrels.tsv": "query_id\tmemory_id\tgrade\tnote\nq1\tm1\t2\tsays so\nq1\tm2\t0\tonly names it\n",
    "README.md": "# A set about a pump\n\nLicence: CC0 1.0\n",
}


@pytest.fixture
def folder(tmp_path):
    """Write a set, with some of its files otherwise if asked."""

    def write(**changes: str) -> Path:
        for name, text in {**FILES, **{key.replace("_", "."): value for key, value in changes.items()}}.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_a_set_is_read_whole(folder):
    bench = load_own("pump", folder())
    assert (bench.name, bench.level, bench.licence) == ("pump", "memory", "CC0 1.0")
    assert bench.description == "A set about a pump"
    assert [memory["memory_id"] for memory in bench.memories] == ["m1", "m2", "m3"]
    assert bench.associations == ({"source": "m1", "relation": "LEADS_TO", "target": "m2", "strength": 0.7},)
    assert dict(bench.qrels["q1"]) == {"m1": 2, "m2": 0}
    first, second, third = bench.queries
    assert (first.slices, first.now) == ({"kind": "lexical"}, datetime(2024, 4, 1, tzinfo=UTC))
    assert (second.answerable, second.note, third.answerable) == (False, "nobody says", False)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("queries.jsonl", '"kind": "lexical"', '"sort": "lexical"', r"queries.jsonl, line 1 has 'sort'"),
        ("queries.jsonl", '"kind": "lexical", ', "", r"queries.jsonl, line 1 has no 'kind'"),
        ("queries.jsonl", "00:00Z", "00:00", r"line 1.now is '2024-04-01T00:00:00', without a zone"),
        ("queries.jsonl", "2024-04-01", "soon", r"queries.jsonl, line 1.now is 'soonT"),
        ("queries.jsonl", "false", '"no"', r"queries.jsonl, line 3.answerable is \"no\"; expected true or false"),
        ("queries.jsonl", '"unanswerable"', '"lexical"', r"'q2' is answerable, but qrels.tsv has no relevant"),
        ("queries.jsonl", '"lexical"', '"unanswerable"', r"'q1' is not answerable, but qrels.tsv has a relevant"),
        ("queries.jsonl", "{", "", r"queries.jsonl, line 1 isn't JSON"),
        ("memories.jsonl", '{"memory_id": "m3", "content": "Lunch was late."}', "[]", r"memories.jsonl, line 4 is"),
        ("qrels.tsv", "memory_id", "unit_id", r"qrels.tsv has the header"),
        ("qrels.tsv", "\t2\t", "\ttwo\t", r"qrels.tsv, line 2 has the grade 'two'"),
        ("qrels.tsv", "\t2\t", "\t٢\t", r"qrels.tsv, line 2 has the grade"),
        ("qrels.tsv", "\tsays so", "", r"qrels.tsv, line 2 has 3 cells; expected 4"),
        ("qrels.tsv", "q1\tm2", "q1\tm1", r"qrels.tsv, line 3 grades 'm1' for 'q1' a second time"),
        ("qrels.tsv", "m1\t2", "m8\t2", r"the qrels of query 'q1' name 'm8'"),
    ],
)
def test_a_file_that_is_not_as_documented_is_refused_with_the_place(folder, file, old, new, message):
    path = folder()
    text = (path / file).read_text(encoding="utf-8")
    assert old in text
    (path / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DatasetError, match=message):
        load_own("pump", path)


def test_the_licence_may_be_a_link_and_the_page_may_be_missing(folder):
    path = folder(README_md="# Pumps\n\nLicence: [CC BY 4.0](https://example.org/by). Source: ours.\n")
    assert load_own("pump", path).licence == "CC BY 4.0"
    (path / "README.md").unlink()
    assert (load_own("pump", path).licence, load_own("pump", path).description) == ("", "")


@pytest.mark.parametrize("file", ["memories.jsonl", "associations.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named(folder, file):
    path = folder()
    (path / file).unlink()
    with pytest.raises(DatasetError, match=file):
        load_own("pump", path)


def test_text_with_a_line_separator_stays_one_line(folder):
    path = folder(
        memories_jsonl='{"memory_id": "m1", "content": "one\u2028two"}\n{"memory_id": "m2", "content": "x"}\n'
    )
    assert load_own("pump", path).memories[0]["content"] == "one\u2028two"


def test_every_own_set_loads_by_name():
    assert own_names() == sorted(path.parent.name for path in own_folder().glob("*/queries.jsonl"))
    for name in own_names():
        bench = load_benchmark(name)
        assert bench.name == name
        assert bench.n_scored == bench.n_asked > 0


def test_an_unknown_name_lists_the_known():
    with pytest.raises(DatasetError, match=r"there is no benchmark 'lokomo'; there are .*locomo.*synthetic"):
        load_benchmark("lokomo")
    with pytest.raises(DatasetError, match="memlab has no set called 'nope'"):
        load_own("nope")
    assert {"locomo", "synthetic"} <= set(benchmark_names())
