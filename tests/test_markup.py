"""Text stays text, whatever it holds."""

import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlab.markup import Html, element, escape, frame, isolate, page, script_json, table

NASTY = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "a'b\"c&d",
    "]]>",
    "\x00",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


class Reader(HTMLParser):
    """The elements, attributes and text that a browser would see."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[dict[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes.append(dict(attrs))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("text", NASTY)
def test_text_makes_no_element(text: str) -> None:
    read = Reader(table(["h"], [[text]], caption=text, note=text))
    assert set(read.names) == {"div", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert read.texts.count(text.replace("\x00", "\ufffd")) == 3


@given(st.text())
def test_escaped_text_reads_back_as_itself_but_for_what_html_cant_hold(text: str) -> None:
    markup = escape(text)
    markup.encode()
    read = Reader(f"<p>{markup}</p>")
    assert read.names == ["p"]
    same = "".join(a if a == b or b == "\ufffd" else "?" for a, b in zip(text, "".join(read.texts), strict=True))
    assert same == text


def test_escaping_twice_is_escaping_once() -> None:
    assert escape(escape("<")) == "&lt;"


def test_markup_joined_with_plain_text_is_plain_text_again() -> None:
    assert not isinstance(element("b", "x") + "<i>", Html)


@given(JSON)
def test_script_json_parses_back_to_an_equal_value(value: object) -> None:
    written = script_json(value)
    assert json.loads(written) == value
    assert not set(written) & set("<>&\u2028\u2029")
    written.encode()


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_script_json_refuses_what_json_does_not_have(number: float) -> None:
    with pytest.raises(ValueError, match="give None instead"):
        script_json({"a": [number]})


def test_script_json_refuses_what_is_not_plain_data() -> None:
    with pytest.raises(TypeError):
        script_json({1, 2})


def test_isolated_text_cant_turn_its_surroundings() -> None:
    assert isolate("\u202eabc") == "<bdi>\u202eabc</bdi>"


@pytest.mark.parametrize("name", ["onclick", "onLoad", "a b", 'x"', "", "1"])
def test_an_attribute_that_could_run_or_break_out_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="can't be an attribute"):
        element("p", "", {name: 1})


@pytest.mark.parametrize("name", ["script", "style"])
def test_an_element_whose_content_is_no_text_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="isn't text"):
        element(name, "x")


def test_a_table_puts_numbers_right_and_lets_each_cell_choose_its_direction() -> None:
    read = Reader(table(["rank", "memory"], [[1, "שלום"], [2, None]]))
    cells = [a for name, a in zip(read.names, read.attributes, strict=True) if name in ("td", "th")]
    assert ["text-align:end" in (a["style"] or "") for a in cells] == [True, False] * 3
    assert {a["dir"] for a in cells} == {"auto"}


def test_a_table_takes_its_colours_from_the_theme() -> None:
    made = table(["a"], [["b"]])
    assert "var(--jp-ui-font-color1, inherit)" in made
    assert "background" not in made


def test_a_table_keeps_markup_made_here() -> None:
    assert "<td" in table(["a"], [[element("b", "x")]]) and "<b>x</b>" in table(["a"], [[element("b", "x")]])


def test_a_table_without_rows_still_shows_its_headings() -> None:
    assert Reader(table(["a", "b"], [])).texts == ["a", "b"]


def test_a_row_of_another_length_is_refused_with_its_number() -> None:
    with pytest.raises(ValueError, match="row 1 has 1 cells where the table has 2 columns"):
        table(["a", "b"], [[1, 2], [3]])


@pytest.mark.parametrize("align", [["left"], ["left", "top"]])
def test_an_alignment_that_fits_no_table_is_refused(align: list[str]) -> None:
    with pytest.raises(ValueError, match="expected 2 of 'left', 'right', 'center'"):
        table(["a", "b"], [], align=align)


def test_a_page_says_that_it_is_utf8_before_anything_else() -> None:
    made = page("<T>", Html(""), element("p", "x"))
    assert made.index('<meta charset="utf-8">') < 200
    assert "<title>&lt;T&gt;</title>" in made


def test_a_frame_holds_the_whole_page_and_gives_it_nothing_but_scripts() -> None:
    document = page("t", Html(""), element("p", '"quoted" & <more>'))
    (attributes,) = Reader(frame(document, height=300, label="A graph")).attributes
    assert attributes["srcdoc"] == document
    assert attributes["sandbox"] == "allow-scripts"
