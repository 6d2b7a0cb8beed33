"""The one place where text becomes HTML or script JSON.

Memories are written by anybody, agents included, so no other file of memlab puts text between tags.
What this file makes is `Html`; whatever isn't `Html` is text and gets escaped when it is put into
some. Joining `Html` and plain text with ``+`` gives plain text again, so a mistake shows as visible
tags, never as running ones.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape as _escape_html
from numbers import Number

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SCRIPT_ENDERS = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_ATTRIBUTE_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9-]*")
_LINE = "1px solid var(--jp-border-color2, rgba(128, 128, 128, 0.35))"
_PLAIN = f"padding:4px 10px;border:0;border-bottom:{_LINE}"
_CELL = f"{_PLAIN};vertical-align:top;white-space:pre-wrap;overflow-wrap:anywhere"
_HEAD = f"{_PLAIN};vertical-align:bottom;white-space:nowrap;font-weight:600"
_ALIGN = {"left": "start", "right": "end", "center": "center"}


class Html(str):
    """A string that is markup already, made by this file only."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def escape(text: object) -> Html:
    """Return text as HTML that shows exactly that text.

    Parameters
    ----------
    text : object
        What to show; anything but a string is turned into one first, and `Html` is returned as it is.

    Returns
    -------
    Html
        The text with ``& < > " '`` as entities, fit for element content and quoted attributes.
        Control characters, lone surrogates and noncharacters, which HTML, XML or UTF-8 can't hold,
        become U+FFFD.

    Examples
    --------
    >>> escape("<b> & 'c'")
    '&lt;b&gt; &amp; &#x27;c&#x27;'
    """
    if isinstance(text, Html):
        return text
    return Html(_escape_html(_UNPRINTABLE.sub("\ufffd", str(text)), quote=True))


def isolate(text: object) -> Html:
    """Return text inside ``<bdi>``, so that its direction and bidi controls end where it ends.

    Parameters
    ----------
    text : object
        What to show within a sentence of another direction, such as a query in a caption.

    Returns
    -------
    Html
        The escaped text in its own bidirectional isolate.

    Examples
    --------
    >>> isolate("שלום")
    '<bdi>שלום</bdi>'
    """
    return Html(f"<bdi>{escape(text)}</bdi>")


def script_json(value: object) -> Html:
    """Return a value as JSON that is safe between ``<script>`` and ``</script>``.

    Parameters
    ----------
    value : object
        Plain JSON data: dicts with string keys, lists, tuples, strings, numbers, booleans, None.

    Returns
    -------
    Html
        JSON without ``<``, ``>``, ``&``, U+2028 and U+2029, which stand there as ``\\uXXXX``: no text can
        close the script, open a comment, or end a line. It parses back to an equal value.

    Raises
    ------
    ValueError
        For NaN and infinities, which JSON doesn't have.
    TypeError
        For a value that isn't plain JSON data.

    Examples
    --------
    >>> script_json({"text": "</script>"})
    '{"text":"\\\\u003c/script\\\\u003e"}'
    """
    try:
        found = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise ValueError(f"{error}: JSON has neither NaN nor infinity; give None instead") from error
    for sign, code in _SCRIPT_ENDERS.items():
        found = found.replace(sign, code)
    return Html(_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", found))


def element(name: str, content: object = "", attributes: Mapping[str, object] | None = None) -> Html:
    """Return one HTML element.

    Parameters
    ----------
    name : str
        The element's name, such as ``"p"``; not ``script`` or ``style``, whose content isn't text.
    content : object
        `Html`, or text, which is escaped.
    attributes : mapping, optional
        Attribute names (letters, digits and ``-``) and their values. Event handlers (``on…``) are refused.

    Returns
    -------
    Html
        The element with its end tag.

    Raises
    ------
    ValueError
        For a name that isn't an attribute's, or that would run a script.

    Examples
    --------
    >>> element("p", "1 < 2", {"dir": "auto"})
    '<p dir="auto">1 &lt; 2</p>'
    """
    if name in {"script", "style"}:
        raise ValueError(f"element() makes no <{name}>: its content isn't text; use script_json() or page()")
    pairs = dict(attributes or {})
    wrong = [key for key in pairs if key.lower().startswith("on") or not _ATTRIBUTE_NAME.fullmatch(key)]
    if wrong:
        raise ValueError(f"{wrong[0]!r} can't be an attribute: lower case letters, digits and '-', no event handler")
    written = "".join(f' {key}="{_quoted(value)}"' for key, value in pairs.items())
    return Html(f"<{name}{written}>{escape(content)}</{name}>")


def table(
    headers: Sequence[object],
    rows: Iterable[Sequence[object]],
    *,
    caption: object = "",
    align: Sequence[str] | None = None,
    note: object = "",
) -> Html:
    """Return a small HTML table for a notebook cell, legible in light and dark themes.

    Parameters
    ----------
    headers : sequence
        One heading per column.
    rows : iterable of sequences
        The cells: `Html`, or anything that `str` turns into text; None is an empty cell. Line breaks stay.
    caption : object
        A line above the table, text or `Html`.
    align : sequence of {"left", "right", "center"}, optional
        One word per column. By default numbers stand right and everything else left, judged by the first row.
        Left and right swap for text that runs from right to left.
    note : object
        A line below the table, text or `Html`, such as how many rows aren't shown.

    Returns
    -------
    Html
        A ``<table>`` whose styles are inline and whose colours are those of the notebook's theme.

    Raises
    ------
    ValueError
        If a row or `align` isn't as long as `headers`, or `align` has another word.

    Examples
    --------
    >>> "<script>" in table(["rank", "memory"], [[1, "<script>"]])
    False
    """
    cells = [list(row) for row in rows]
    odd = next((i for i, row in enumerate(cells) if len(row) != len(headers)), None)
    if odd is not None:
        raise ValueError(f"row {odd} has {len(cells[odd])} cells where the table has {len(headers)} columns")
    sides = _sides(len(headers), cells, align)
    head = "".join(
        element("th", name, {"style": f"{_HEAD};text-align:{side}", "scope": "col", "dir": "auto"})
        for name, side in zip(headers, sides, strict=True)
    )
    body = "".join(f"<tr>{_row(row, sides)}</tr>" for row in cells)
    top = element("caption", caption, {"style": "caption-side:top;text-align:start;padding:4px 10px", "dir": "auto"})
    below = element("div", note, {"style": "padding:4px 10px;opacity:0.75", "dir": "auto"})
    return Html(
        '<div style="color:var(--jp-ui-font-color1, inherit);overflow-x:auto">'
        '<table style="border-collapse:collapse;border:0;text-align:start">'
        f"{top if caption else ''}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"{below if note else ''}</div>"
    )


def page(title: object, head: Html, body: Html) -> Html:
    """Return a whole HTML document, in UTF-8, that names no other.

    Parameters
    ----------
    title : object
        The page's title, as text.
    head : Html
        What else stands in ``<head>``: styles, policies.
    body : Html
        The content.

    Returns
    -------
    Html
        The document. Write it as UTF-8, which its first line says it is.
    """
    return Html(
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{escape(head)}\n</head>\n<body>\n{escape(body)}\n</body>\n</html>\n"
    )


def frame(document: Html, *, height: int, label: str) -> Html:
    """Return a document inside a sandboxed ``<iframe>``, which may run its scripts but touch nothing else.

    Parameters
    ----------
    document : Html
        A whole page.
    height : int
        The frame's height in CSS pixels; its width is that of the cell.
    label : str
        What a screen reader calls the frame.

    Returns
    -------
    Html
        The frame. It has an origin of its own: no cookie, no storage, no notebook within reach.
    """
    style = f"width:100%;height:{int(height)}px;border:{_LINE};border-radius:4px"
    pairs = {"srcdoc": document, "sandbox": "allow-scripts", "title": label, "style": style}
    return element("iframe", "", pairs)


def _quoted(value: object) -> str:
    """An attribute's value; markup, which a frame's document is, gets escaped like text, yet never altered."""
    return _escape_html(value, quote=True) if isinstance(value, Html) else escape(value)


def _sides(count: int, cells: list[list[object]], align: Sequence[str] | None) -> list[str]:
    """The text-align word of each column."""
    if align is None:
        first = cells[0] if cells else [""] * count
        align = ["right" if isinstance(value, Number) else "left" for value in first]
    if len(align) != count or not set(align) <= set(_ALIGN):
        raise ValueError(f"align is {list(align)}: expected {count} of {', '.join(map(repr, _ALIGN))}")
    return [_ALIGN[word] for word in align]


def _row(row: list[object], sides: list[str]) -> str:
    """The cells of one row."""
    return "".join(
        element("td", "" if value is None else value, {"style": f"{_CELL};text-align:{side}", "dir": "auto"})
        for value, side in zip(row, sides, strict=True)
    )
