"""The command line, run in this process with the hashing encoder, and once as a program."""

import json
import os
import subprocess
import sys

import pytest

from memlab import __version__
from memlab.cli import main
from memlab.encoders import HashEncoder
from memlab.store import MemoryStore


@pytest.fixture
def diary(tmp_path):
    path = tmp_path / "diary.memlab"
    with MemoryStore.open(path, encoder=HashEncoder(64)) as store:
        store.add("Ana moved to Oslo.", memory_id="move", tags=["home"], happened_at="2024-05-20T00:00Z")
        store.add("O chá está pronto 🍵.", memory_id="tea", type="Context")
    return path


def test_recall_prints_the_hits_and_their_reasons(diary, capsys):
    assert main(["recall", str(diary), "where did Ana move?", "-k", "1", "--explain"]) == 0
    printed = capsys.readouterr().out
    assert "Ana moved to Oslo." in printed
    assert "BM25 of" in printed


def test_recall_prints_json_that_reads_back(diary, capsys):
    assert main(["recall", str(diary), "chá", "--method", "lexical", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [hit["memory_id"] for hit in found["hits"]] == ["tea"]
    assert found["hits"][0]["content"] == "O chá está pronto 🍵."


def test_recall_filters_by_tag_where_and_time(diary, capsys):
    for options in (["--tag", "HOME"], ["--where", '{"type": {"exists": false}}'], ["--time", "in May 2024"]):
        assert main(["recall", str(diary), "ana chá", "--json", *options]) == 0
        assert [hit["memory_id"] for hit in json.loads(capsys.readouterr().out)["hits"]] == ["move"]


def test_recall_leaves_the_file_as_it_is(diary, capsys):
    with MemoryStore.open(diary, encoder=None) as store:
        before = store.log()
    main(["recall", str(diary), "Ana"])
    with MemoryStore.open(diary, encoder=None) as store:
        assert store.log().equals(before)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["recall", "{missing}", "x"], "doesn't exist"),
        (["recall", "{diary}", "  "], "blank"),
        (["recall", "{diary}", "x", "-k", "0"], "k is 0"),
        (["recall", "{diary}", "x", "--method", "magic"], "magic"),
        (["recall", "{diary}", "x", "--where", "{"], "isn't JSON"),
        (["recall", "{diary}", "x", "--time", "whenever"], "whenever"),
        (["recall", "{diary}", "x", "--space", "nowhere"], "nowhere"),
        (["check", "{missing}"], "doesn't exist"),
        (["bench", "locomo", "--path", "{missing}"], "missing"),
        (["lab", "{missing}"], "isn't a folder"),
    ],
)
def test_a_bad_command_says_one_sentence_and_exits_with_1(arguments, said, diary, tmp_path, capsys):
    places = {"{diary}": str(diary), "{missing}": str(tmp_path / "missing")}
    assert main([places.get(argument, argument) for argument in arguments]) == 1
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.err.startswith(f"memlab {arguments[0]}: ")
    assert "Traceback" not in printed.err


def test_check_says_sound_and_exits_with_0(diary, capsys):
    assert main(["check", str(diary)]) == 0
    assert "sound: 2 memories" in capsys.readouterr().out


def test_bench_writes_the_documented_json(tmp_path, capsys):
    path = tmp_path / "figures.json"
    arguments = ["bench", "synthetic", "-n", "60", "--encoder", "hash", "--methods", "lexical", "hybrid"]
    assert main([*arguments, "--json", str(path)]) == 0
    figures = json.loads(path.read_text(encoding="utf-8"))
    assert figures.keys() == {"benchmark", "level", "n_asked", "n_scored", "methods"}
    assert figures["methods"].keys() == {"lexical", "hybrid"}
    assert figures["methods"]["lexical"].keys() == {"recall@5", "recall@10", "nDCG@10", "by"}


def test_demo_does_the_whole_job_and_says_where_each_file_is(tmp_path, capsys):
    assert main(["demo", "--folder", str(tmp_path / "demo"), "--encoder", "hash"]) == 0
    printed = capsys.readouterr().out
    for name in ("diary.memlab", "graph.html", "recall.json"):
        assert (tmp_path / "demo" / name).is_file()
        assert str(tmp_path / "demo" / name) in printed
    assert "70 of 70" in printed
    assert "why #1" in printed
    assert main(["demo", "--folder", str(tmp_path / "demo"), "--encoder", "hash"]) == 0  # again, over its own files


def test_the_program_speaks_utf8_whatever_the_locale(diary):
    program = [sys.executable, "-m", "memlab", "recall", str(diary), "chá", "--encoder", "none"]
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    done = subprocess.run(program, capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert "🍵" in done.stdout.decode("utf-8")


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert __version__ in capsys.readouterr().out
