"""The still picture."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from frames import NASTY, links, memories

from memlab.views.graph import view


@pytest.mark.parametrize("count", [0, 1, 30])
def test_the_picture_is_svg_without_script_or_reference(count: int, tmp_path: Path) -> None:
    rows = memories(count, content=[*NASTY, *["plain"] * 30][:count])
    pairs = links(("m0", "LEADS_TO", "m1"), ("m1", "CONTRADICTS", "m0")) if count > 1 else links()
    text = view((rows, pairs)).to_svg(tmp_path / "graph.svg").read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    names = {node.tag.removeprefix("{http://www.w3.org/2000/svg}") for node in root.iter()}
    assert names <= {"svg", "style", "rect", "g", "path", "circle", "title", "text", "line"}
    assert sum(node.tag.endswith("circle") for node in root.iter()) == count + len(view((rows, pairs)).scene.types)
    assert "url(" not in text
    assert "href=" not in re.sub(r">[^<]*<", "><", text)


def test_a_wide_picture_is_brought_to_the_width_of_a_page(tmp_path: Path) -> None:
    chain = links(*((f"m{i}", "LEADS_TO", f"m{i + 1}") for i in range(0, 198, 2)))
    text = view((memories(200), chain)).to_svg(tmp_path / "graph.svg").read_text(encoding="utf-8")
    assert float(ElementTree.fromstring(text).attrib["width"]) <= 1001
