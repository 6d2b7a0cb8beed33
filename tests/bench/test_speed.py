"""Speed: the form of the figures, and that a wrong answer can't pass for a fast one. Times aren't judged here."""

import json
from pathlib import Path

import numpy as np
import pytest

from memlab.bench import speed_rows
from memlab.bench.speed import bench_speed, table
from memlab.bench.speed_data import FILTERS, fits, made_memories, questions, real_texts
from memlab.bench.speed_picture import draw_growth
from memlab.bench.speed_references import RawFile, fault_in, raw_row
from memlab.bench.speed_world import Row, World, row_of
from memlab.cli import main
from memlab.cli.bench import SPEED_ROWS
from memlab.encoders import HashEncoder
from memlab.errors import InvalidArgument
from memlab.filters import parse_filter
from memlab.store import MemoryStore


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with World(tmp_path_factory.mktemp("speed"), 300, progress=False) as world:
        yield world


def test_the_json_has_a_ratio_and_a_limit_for_each_row(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(speed_rows, "ROUNDS", 5)
    path = tmp_path / "speed.json"
    figures = bench_speed(300, rows=["dense", "filter", "add"], json_path=path, progress=False)
    assert json.loads(path.read_text(encoding="utf-8")) == figures
    printed = capsys.readouterr().out
    assert figures["n"] == 300
    assert len(figures["rows"]) == 1 + 2 * len(FILTERS) + 1
    for row in figures["rows"]:
        assert list(row) == ["what", "ratio", "at_most"]
        assert 0 < row["ratio"] < float("inf")
        assert row["what"] in printed


def test_the_table_names_every_row_and_what_was_wrong():
    rows = [Row("dense recall", 1.3, 1.2, 0.0012, 0.001), Row("one add", 3, float("inf"), 1, 1, fault="place 1 …")]
    written = table([*rows, Row("memory of the process", 2.5, 3.0, 3e6, 1e6, unit="B")])
    assert [line.split()[-1] for line in written.splitlines()[1:4]] == ["yes", "NO", "NO"]
    assert "1.20 ms" in written
    assert "3.0 MB" in written
    assert written.splitlines()[-1] == "WRONG: place 1 …"


def test_a_ratio_is_the_median_of_the_rounds_ratios():
    row = row_of("x", 1.0, [(2.0, 1.0), (3.0, 1.0), (100.0, 1.0)])
    assert (row.ratio, row.ours, row.reference, row.ok) == (3.0, 3.0, 1.0, False)


RIGHT = np.array([0.9, 0.5, -np.inf, 0.7, 0.7, 0.1])


@pytest.mark.parametrize("found", [[0, 3, 4], [0, 4, 3]])
def test_a_right_ranking_passes_whichever_of_equals_comes_first(found):
    assert fault_in(found, RIGHT, 3) is None


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([0, 3, 1], "place 3"),  # not the best
        ([3, 0, 4], "place 1"),  # not in order
        ([0, 3, 2], "doesn't let through"),
        ([0, 3], "2 different"),
        ([0, 3, 3], "2 different"),
    ],
)
def test_a_wrong_ranking_is_caught(found, said):
    assert said in fault_in(found, RIGHT, 3)


def test_rankings_are_right_under_every_filter_and_a_wrong_filter_is_caught(world):
    place = world.large
    for method in ("dense", "hybrid"):
        for share, bounds in FILTERS.items():
            assert speed_rows._fault(place, method, place.fits[share], **bounds) is None
        assert "doesn't let through" in speed_rows._fault(place, method, place.fits["50 %"])
        assert "score" in speed_rows._fault(place, method, place.everything(), **FILTERS["50 %"])


def test_a_wrong_answer_makes_the_command_fail_loudly(monkeypatch, capsys, tmp_path):
    row = row_of("dense recall", 1.3, [(1.0, 1.0)], fault="place 1 has memory 7")
    monkeypatch.setitem(speed_rows.ROWS, "dense", lambda world: [row])
    path = tmp_path / "speed.json"
    assert main(["bench", "speed", "-n", "300", "--rows", "dense", "--json", str(path)]) == 1
    assert "WRONG: place 1 has memory 7" in capsys.readouterr().out
    assert json.loads(path.read_text(encoding="utf-8"))["rows"][0]["ratio"] is None


def test_the_filters_let_through_what_their_names_say():
    memories = made_memories(20_000)
    for share, bounds in FILTERS.items():
        passing = sum(fits(share, memory) for memory in memories) / len(memories)
        assert passing == pytest.approx(float(share.rstrip(" %")) / 100, rel=0.15)
        parse_filter(**bounds)


def test_made_memories_are_the_same_each_time_and_new_ones_are_new():
    assert made_memories(50) == made_memories(50)
    assert not {m["content"] for m in made_memories(50)} & {m["content"] for m in made_memories(50, first=50)}
    assert made_memories(50, first=50)[0]["memory_id"] == "m0000050"
    assert {len(question.split()) for question in questions(made_memories(50))} <= {3, 4, 5}


def test_real_texts_are_of_mixed_length_and_mostly_distinct():
    texts = real_texts(400)
    assert len(texts) == 400
    assert len(set(texts)) > 390
    assert min(map(len, texts)) < 50 < 1000 < max(map(len, texts))


def test_the_raw_file_holds_the_same_rows_and_vectors(tmp_path):
    with MemoryStore(encoder=HashEncoder(8)) as store:
        store.add_many(made_memories(3), progress=False)
        memories = list(store)
    vectors = HashEncoder(8).encode([memory.text for memory in memories])
    rows = [raw_row(memory, vector) for memory, vector in zip(memories, vectors, strict=True)]
    raw = RawFile(tmp_path / "raw.sqlite")
    raw.insert(rows[0])
    raw.insert_many(rows[1:])
    assert sorted(raw.read()) == sorted(rows)
    raw.close()


def test_opening_and_memory_are_measured_in_a_process_of_their_own(world):
    (opened,), (weighed,) = speed_rows.opening(world), speed_rows.memory(world)
    assert opened.ours > opened.reference > 0
    assert weighed.unit == "B"
    assert weighed.ours > 0


def test_the_picture_is_drawn_in_the_format_of_its_name(tmp_path):
    sizes = {n: [Row("dense recall", 1.3, 1.2, n * 2e-7, n * 1e-7)] for n in (1_000, 10_000)}
    draw_growth(sizes, tmp_path / "growth.svg")
    assert "</svg>" in (tmp_path / "growth.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n": 99}, "from 100 up"),
        ({"rows": ["magic"]}, "'magic'"),
        ({"rows": []}, "there are dense"),
        ({"picture": "growth.docx"}, "ending"),
        ({"json_path": Path("no") / "such" / "folder.json"}, "no folder"),
    ],
)
def test_what_cannot_be_measured_or_written_is_refused_before_anything_is_built(options, said):
    with pytest.raises(InvalidArgument, match=said):
        bench_speed(**{"n": 300, **options})


def test_the_command_names_every_row():
    assert tuple(speed_rows.ROWS) == SPEED_ROWS
