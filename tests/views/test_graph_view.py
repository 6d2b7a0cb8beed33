"""The page of a view, and how it is written."""

import base64
import hashlib
import json
import os
import re
import stat
from enum import Enum
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from frames import NASTY, links, memories

from memlab.errors import StorageError
from memlab.views.graph import GraphView, view


def page_of(made: GraphView, folder: Path) -> str:
    return made.to_html(folder / "graph.html").read_text(encoding="utf-8")


def data_of(page: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(re.findall(r'id="memlab-data">(.*?)</script>', page, re.DOTALL)[0])
    return found


def elements_of(page: str) -> list[tuple[str, dict[str, str | None]]]:
    """The elements of a page and their attributes, as a parser reads them."""
    found: list[tuple[str, dict[str, str | None]]] = []
    reader = HTMLParser()
    reader.handle_starttag = lambda tag, attrs: found.append((tag, dict(attrs)))  # type: ignore[method-assign]
    reader.feed(page)
    return found


def ids(made: GraphView) -> list[str]:
    return [dot.memory_id for dot in made.scene.dots]


def test_the_page_names_no_other_host_and_no_other_file(tmp_path: Path) -> None:
    page = page_of(view((memories(3), links(("m0", "LEADS_TO", "m1")))), tmp_path)
    elements = elements_of(page)
    loading = {"link", "img", "iframe", "object", "embed", "base", "a", "form", "source", "video", "audio"}
    assert not loading & {name for name, _ in elements}
    assert not {"src", "href", "action", "data", "srcset"} & {key for _, pairs in elements for key in pairs}
    assert not re.findall(r"@import|url\((?!\"?data:)", page)
    assert not re.findall(r"\b(?:fetch|importScripts)\(|XMLHttpRequest|WebSocket|sendBeacon", page)
    assert "bootstrap" not in page


def test_the_policy_lets_only_the_pages_own_scripts_run(tmp_path: Path) -> None:
    page = page_of(view(memories(2)), tmp_path)
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    assert policy.startswith("default-src 'none'; ")
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
    bodies = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() for body in bodies]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert page.index("Content-Security-Policy") < page.index("<script")


def test_the_page_is_utf8_and_says_so_first(tmp_path: Path) -> None:
    page = page_of(view(memories(1, content=["Grüße, 日本, 👩‍👩‍👧"])), tmp_path)
    assert page.startswith("<!DOCTYPE html>")
    assert page.index('<meta charset="utf-8">') < 200
    assert "👩‍👩‍👧" in page


@pytest.mark.parametrize("text", NASTY)
def test_nasty_text_stays_data(text: str, tmp_path: Path) -> None:
    rows = pd.DataFrame(
        {"memory_id": [text, "b"], "content": [text, "plain"], "type": [text, None], "tags": [[text], []]}
    )
    made = view((rows, links((text, text, "b"))), title=text)
    page, clean = page_of(made, tmp_path), page_of(view((memories(2), links(("m0", "LEADS_TO", "m1")))), tmp_path)
    assert page.count("<script") == clean.count("<script")
    assert page.count("<img") == page.count("<!--") == 0
    assert text in [dot["text"] for dot in data_of(page)["dots"]]  # type: ignore[attr-defined]
    assert [name for name, _ in elements_of(page)].count("li") == 3
    assert "popup.innerHTML" not in page


def test_the_page_carries_the_whole_text(tmp_path: Path) -> None:
    text = "long " * 20_000
    assert data_of(page_of(view(memories(1, content=[text])), tmp_path))["dots"][0]["text"] == text  # type: ignore[index]


class Colour(Enum):
    """Not a plain value."""

    RED = 1


def test_values_of_any_type_reach_the_page_as_text(tmp_path: Path) -> None:
    rows = memories(
        2,
        importance=np.array([0.5, np.nan], dtype="float32"),
        confidence=[np.float32(0.5), pd.NA],
        sequence=pd.array([3, None], dtype="Int64"),
        happened_at=pd.to_datetime(["2024-05-20T09:00+01:00", None], utc=True),
        metadata=[{"path": Path("a") / "b", "colour": Colour.RED, "n": np.int64(7)}, {}],
        tags=[{"x"}, np.array(["y", "z"])],
        archived=[np.bool_(False), pd.NA],
    )
    dots = data_of(page_of(view(rows), tmp_path))["dots"]
    assert dict(dots[0]["details"]) == {  # type: ignore[index]
        "id": "m0",
        "tags": "x",
        "importance": "0.5",
        "confidence": "0.5",
        "happened": "2024-05-20 08:00 UTC",
        "sequence": "3",
        "metadata": f"path: {Path('a') / 'b'}, colour: Colour.RED, n: 7",
    }
    assert dict(dots[1]["details"]) == {"id": "m1", "tags": "y, z"}  # type: ignore[index]


def test_ids_that_are_no_text_become_text() -> None:
    made = view((memories(2, memory_id=[1, 2]), links((1, "LEADS_TO", 2))))  # type: ignore[arg-type]
    assert ids(made) == ["1", "2"]
    assert len(made.scene.lines) == 1


def test_the_legend_counts_what_is_drawn(tmp_path: Path) -> None:
    rows = memories(4, type=["Decision", "Decision", "Insight", None], importance=[1, 1, 1, 0])
    pairs = links(("m0", "LEADS_TO", "m1"), ("m1", "LEADS_TO", "m2"), ("m2", "PART_OF", "m0"), ("m3", "PART_OF", "m0"))
    page = page_of(view((rows, pairs), limit=3), tmp_path)
    found = re.findall(r"<li>.*?<bdi>(.*?)</bdi>.*?<b>(.*?)</b></li>", page)
    assert found == [("Decision", "2"), ("Insight", "1"), ("LEADS_TO", "2"), ("PART_OF", "1")]
    assert "3 of 4 memories shown · 3 associations" in unescape(page)


def test_equal_input_gives_an_equal_page(tmp_path: Path) -> None:
    rows, pairs = (
        memories(20, importance=np.linspace(0, 1, 20)),
        links(("m0", "LEADS_TO", "m1"), ("m3", "PART_OF", "m9")),
    )
    shuffled = rows.sample(frac=1, random_state=0), pairs[::-1]
    assert page_of(view((rows, pairs)), tmp_path) == page_of(view(shuffled), tmp_path)


def test_a_notebook_shows_the_same_page_in_a_sandbox(tmp_path: Path) -> None:
    made = view(memories(2))
    output = made._repr_html_()
    (document,) = re.findall(r'srcdoc="([^"]*)"', output)
    assert unescape(document) == page_of(made, tmp_path)
    assert 'sandbox="allow-scripts"' in output


def test_viewing_writes_nothing_and_leaves_the_users_lib_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "mine.txt").write_text("mine")
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o500)
    view(memories(2))._repr_html_()
    tmp_path.chmod(0o700)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["lib", "mine.txt"]


def test_writing_leaves_one_file_that_others_may_read_too(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        written = view(memories(2)).to_html(tmp_path / "graph.html")
    finally:
        os.umask(old)
    assert written == tmp_path / "graph.html"
    assert list(tmp_path.iterdir()) == [written]
    assert stat.S_IMODE(written.stat().st_mode) == 0o644


def test_a_missing_folder_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"there is no folder .*nowhere; make it first"):
        view(memories(1)).to_html(tmp_path / "nowhere" / "graph.html")
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_is_a_folder_is_refused_and_no_part_stays_behind(tmp_path: Path) -> None:
    (tmp_path / "graph.html").mkdir()
    with pytest.raises(StorageError, match="can't be written"):
        view(memories(1)).to_html(tmp_path / "graph.html")
    assert [path.name for path in tmp_path.iterdir()] == ["graph.html"]


def test_a_relative_path_is_taken_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert view(memories(1)).to_html("graph.html") == tmp_path / "graph.html"
