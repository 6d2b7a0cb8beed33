"""The page in a real browser: it draws, it answers, and it runs nobody's text."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from browser import Visit, running_browser, visit

from memlab.views.graph import GraphView, view

READY = '#memlab[data-ready="1"]'
CONTENT = (
    "<script>window.pwned = 1</script>",
    "</script><img src=x onerror='window.pwned = 1'>",
    "<!--<script>",
    "Die Tür zum Labor klemmt.",
    "שלום עולם",
    "\u202eturned round",
    "👩‍👩‍👧‍👦 went to the sea",
    "word " * 5_000,
    "href='javascript:window.pwned = 1'",
)


def example() -> GraphView:
    rows = pd.DataFrame(
        {
            "memory_id": ["a'\"", "__proto__", "<script>", "m3", "m4", "m5", "m6", "m7", "m8"],
            "content": CONTENT,
            "type": ["Decision", "<b>own</b>", None, "Insight", "Insight", "Context", "Context", "Style", "Habit"],
            "tags": [["door"], [], [], ["DOOR", "x"], [], [], [], [], []],
            "importance": [0.9, 0.8, float("nan"), 0.7, 0.6, 0.5, 0.4, 0.3, 0.2],
        }
    )
    pairs = [("a'\"", "LEADS_TO", "__proto__"), ("m3", "CONTRADICTS", "a'\""), ("m5", "PART_OF", "m6")]
    pairs.append(("m6", "CONTRADICTS", "m5"))
    return view((rows, pd.DataFrame(pairs, columns=["source", "relation", "target"])), title=CONTENT[0])


@pytest.fixture(scope="module")
def browser(browser_path: str) -> Iterator[Any]:
    with running_browser(browser_path) as running:
        yield running


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Visit]:
    with visit(browser, example().to_html(tmp_path / "graph.html")) as found:
        found.page.wait_for_selector(READY, timeout=30_000)
        yield found
        assert found.faults == []


def click_dot(page: Any, number: int) -> None:
    at = "network.canvasToDOM(network.getPositions([i])[i])"
    box = "document.getElementById('mynetwork').getBoundingClientRect()"
    x, y = page.evaluate(f"(i) => {{ const p = {at}, b = {box}; return [b.left + p.x, b.top + p.y]; }}", number)
    page.mouse.click(x, y)


def test_the_page_becomes_ready_without_error_or_request(opened: Visit) -> None:
    assert int(opened.page.locator("#memlab").get_attribute("data-labels")) >= len(CONTENT) - 2
    assert opened.page.locator("#status").inner_text() == "9 of 9 memories shown · 4 associations"


def test_no_text_of_a_memory_runs(opened: Visit) -> None:
    page = opened.page
    for number in range(len(CONTENT)):
        click_dot(page, number)
    assert page.evaluate("window.pwned") is None
    assert page.locator("img").count() == 0
    assert page.title() == page.locator("h1").inner_text() == CONTENT[0]


def test_a_script_that_got_between_the_tags_would_still_not_run(browser: Any, tmp_path: Path) -> None:
    written = example().to_html(tmp_path / "graph.html")
    broken = written.read_text(encoding="utf-8").replace("<main", "<script>window.pwned = 1</script><main", 1)
    written.write_text(broken, encoding="utf-8")
    with visit(browser, written) as found:
        found.page.wait_for_selector(READY, timeout=30_000)
        assert found.page.evaluate("window.pwned") is None
        assert any("Content Security Policy" in fault for fault in found.faults)


def test_search_counts_and_dims_the_rest(opened: Visit) -> None:
    page = opened.page
    # One by tag in any letter case, one by tag and none by text.
    page.fill("#search", "Door")
    assert page.locator("#status").inner_text().endswith("2 matches")
    opacities = page.evaluate("nodes.get().map((node) => node.opacity)")
    assert [i for i, opacity in enumerate(opacities) if opacity == 1] == [0, 2]
    assert max(o for i, o in enumerate(opacities) if i not in (0, 2)) < 0.2
    page.keyboard.press("Enter")
    assert page.locator("#memlab").get_attribute("data-chosen") == "a'\""
    page.keyboard.press("Escape")
    assert set(page.evaluate("nodes.get().map((node) => node.opacity)")) == {1}
    assert page.locator("#status").inner_text().endswith("4 associations")


def test_a_click_shows_the_whole_text_and_the_neighbours(opened: Visit) -> None:
    page = opened.page
    click_dot(page, 0)
    assert page.locator("#memlab").get_attribute("data-chosen") == "a'\""
    assert page.locator("#card .text").inner_text() == CONTENT[0]
    assert page.locator("#card li").count() == 2
    lit = page.evaluate("nodes.get().filter((node) => node.opacity === 1).map((node) => node.id)")
    assert lit == [0, 1, 2]
    page.locator("#card li button").first.click()
    assert page.locator("#memlab").get_attribute("data-chosen") in ("__proto__", "m3")
    page.mouse.click(5, 700)
    assert page.locator("#card").is_hidden()


def test_labels_never_cover_each_other_and_keep_their_size_when_zoomed(browser: Any, tmp_path: Path) -> None:
    rows = pd.DataFrame({"memory_id": [f"m{i}" for i in range(150)], "content": ["A memory of some length"] * 150})
    pairs = pd.DataFrame([(f"m{i}", "LEADS_TO", f"m{i * 7 % 150}") for i in range(1, 150)])
    pairs.columns = ["source", "relation", "target"]
    watch = """() => { window.drawn = []; const draw = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const size = parseFloat(this.font.match(/([0-9.]+)px/)[1]), scale = this.getTransform().a / devicePixelRatio;
        window.drawn.push([text, x, y, this.measureText(text).width, size * scale]);
        draw.apply(this, arguments); }; }"""
    with visit(browser, view((rows, pairs)).to_html(tmp_path / "graph.html")) as found:
        page = found.page
        page.wait_for_selector(READY, timeout=30_000)
        page.evaluate(watch)
        for scale in (0.3, 1.0, 2.5):
            drawn = page.evaluate(
                f"() => {{ network.moveTo({{ scale: {scale} }}); drawn = []; network.redraw(); return drawn; }}"
            )
            labels = [label for label in drawn if label[0].startswith("A memory")]
            assert 0 < len(labels) <= 40
            assert {size for *_, size in labels} == {12}
            boxes = [(x, y - 6, x + width, y + 6) for _, x, y, width, _ in labels]
            meets = [
                (a, b)
                for i, a in enumerate(boxes)
                for b in boxes[:i]
                if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
            ]
            assert meets == []
        assert found.faults == []


def test_the_page_follows_a_change_of_theme(opened: Visit) -> None:
    page = opened.page
    page.emulate_media(color_scheme="light")
    ground, border = page.evaluate("[getComputedStyle(document.body).backgroundColor, nodes.get(3).color.border]")
    page.emulate_media(color_scheme="dark")
    # The page hears of the change in its own time.
    page.wait_for_function("ground => getComputedStyle(document.body).backgroundColor !== ground", arg=ground)
    page.wait_for_function("border => nodes.get(3).color.border !== border", arg=border)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_small_or_empty_store_makes_a_page_that_says_so(count: int, browser: Any, tmp_path: Path) -> None:
    rows = pd.DataFrame({"memory_id": [f"m{i}" for i in range(count)], "content": ["A memory"] * count})
    with visit(browser, view(rows).to_html(tmp_path / "graph.html")) as found:
        found.page.wait_for_selector(READY, timeout=30_000)
        assert found.page.locator(".empty").count() == (count == 0)
        assert found.faults == []


def test_two_thousand_memories_are_ready_in_a_few_seconds(browser: Any, tmp_path: Path) -> None:
    rows = pd.DataFrame({"memory_id": [f"m{i}" for i in range(2_000)], "content": ["A memory"] * 2_000})
    pairs = pd.DataFrame([(f"m{i}", "LEADS_TO", f"m{i // 3}") for i in range(1, 2_000)])
    pairs.columns = ["source", "relation", "target"]
    with visit(browser, view((rows, pairs), limit=2_000).to_html(tmp_path / "graph.html")) as found:
        found.page.wait_for_selector(READY, timeout=10_000)
        assert found.faults == []


def test_the_page_works_in_a_notebooks_sandboxed_frame(browser: Any, tmp_path: Path) -> None:
    outer = tmp_path / "notebook.html"
    outer.write_text(f'<!DOCTYPE html><meta charset="utf-8">{example()._repr_html_()}', encoding="utf-8")
    with visit(browser, outer) as found:
        inside = found.page.frame_locator("iframe")
        inside.locator(READY).wait_for(timeout=30_000)
        inside.locator("#search").fill("labor")
        assert inside.locator("#status").inner_text().endswith("1 match")
        assert found.page.evaluate("window.pwned") is None
        assert [fault for fault in found.faults if "about:srcdoc" not in fault] == []
