"""A scene as one self-contained HTML page, drawn in the browser by the vis-network file that pyvis carries.

pyvis writes the graph; of what it wrote only the styles and scripts inside the page are taken, so its references
to other hosts fall away. The page's policy lets nothing else in or out: no connection at all, and no script but
those whose hash it names, so that a memory's text couldn't run even if it got between the tags.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from importlib import resources

from memlab.markup import Html, element, escape, isolate, page, script_json
from memlab.views.scene import Dot, Line, Scene

# What vis-network shall do: draw and report. Colours, labels, focus and search are graph_page.js.
OPTIONS = {
    "physics": {"enabled": False},
    "layout": {"improvedLayout": False, "randomSeed": 1},
    "interaction": {"hover": True, "multiselect": False, "selectConnectedEdges": False, "tooltipDelay": 100000},
    "nodes": {"chosen": False, "font": {"size": 0}},
    "edges": {"chosen": False, "selfReference": {"size": 12}},
}
_SCRIPT = re.compile(r"<script[^>]*?(?P<outside>\ssrc=)?[^>]*>(?P<body>.*?)</script>", re.DOTALL)
_STYLE = re.compile(r"<style[^>]*>(?P<body>.*?)</style>", re.DOTALL)
BORDERS = (
    ("current", "current"),
    ("superseded", "superseded by another"),
    ("archived", "archived"),
    ("outside", "on a path, not a hit"),
)


def graph_page(scene: Scene) -> Html:
    """Make the page of a scene.

    Parameters
    ----------
    scene : Scene
        What to draw.

    Returns
    -------
    Html
        A whole document of about 0.7 MB, with no reference to any other host or file. When it is drawn, its
        root element ``#memlab`` has ``data-ready="1"``.
    """
    written = _pyvis(scene).replace("\r\n", "\n")
    styles = [match["body"] for match in _STYLE.finditer(written)]
    scripts = [match["body"] for match in _SCRIPT.finditer(written) if not match["outside"]]
    scripts.append(_own("graph_page.js"))
    sheets = "\n".join(f"<style>{body}</style>" for body in [*styles, _own("graph_page.css")])
    head = Html(f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">\n{sheets}')
    data = f'<script type="application/json" id="memlab-data">{script_json(_data(scene))}</script>'
    running = "\n".join(f"<script>{body}</script>" for body in scripts)
    return page(scene.title, head, Html(f"{_body(scene)}\n{data}\n{running}"))


def _pyvis(scene: Scene) -> str:
    """The page as pyvis writes it: plain numbers and colours only, no text of any memory."""
    from pyvis.network import Network

    net = Network(height="100%", width="100%", directed=True, cdn_resources="in_line", bgcolor="transparent")
    for i, dot in enumerate(scene.dots):
        # A blank label, since pyvis would write the id in place of none.
        net.add_node(i, label=" ", color=dot.colour, size=dot.radius, x=dot.x, y=dot.y, shape="dot")
    for i, line in enumerate(scene.lines):
        net.add_edge(line.source, line.target, id=i, **_edge(line))
    net.set_options(json.dumps(OPTIONS))
    found: str = net.generate_html(notebook=False)
    return found


def _edge(line: Line) -> dict[str, object]:
    """An edge's looks, in vis-network's words."""
    curve = {"enabled": True, "type": "curvedCW" if line.bend > 0 else "curvedCCW", "roundness": abs(line.bend)}
    return {
        "width": line.width,
        "color": {"color": line.relation.colour, "inherit": False},
        "dashes": list(line.relation.dash) or False,
        "smooth": curve if line.bend else {"enabled": False},
        "arrows": {"to": {"enabled": True, "scaleFactor": 0.5}},
    }


def _data(scene: Scene) -> dict[str, object]:
    """What graph_page.js knows of the scene: texts, looks and the strip."""
    return {
        "dots": [_dot(dot) for dot in scene.dots],
        "lines": [
            {
                "relation": line.relation.name,
                "label": line.relation.label,
                "colour": line.relation.colour,
                "dash": list(line.relation.dash),
                "width": line.width,
                "details": line.details,
                "source": line.source,
                "target": line.target,
            }
            for line in scene.lines
        ],
        "summary": scene.summary,
        "strip": scene.strip_top,
    }


def _dot(dot: Dot) -> dict[str, object]:
    return {
        "id": dot.memory_id,
        "text": dot.text,
        "type": dot.type,
        "colour": dot.colour,
        "radius": dot.radius,
        "state": dot.state,
        "rank": dot.rank,
        "details": [list(pair) for pair in dot.details],
        "x": dot.x,
        "y": dot.y,
    }


def _own(name: str) -> str:
    """A file of this room."""
    return resources.files("memlab.views").joinpath(name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _policy(scripts: Iterable[str]) -> str:
    """A content security policy: nothing from anywhere, and these very scripts."""
    hashes = (base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() for body in scripts)
    allowed = " ".join(f"'sha256-{code}'" for code in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; font-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _body(scene: Scene) -> Html:
    """What surrounds the drawing: title, search, counts, card and legend."""
    search = (
        '<label class="search"><span class="hidden">Search the memories</span><input id="search" type="search" '
        'placeholder="Search text, tag, type or id" autocomplete="off" spellcheck="false"></label>'
    )
    zoom = "".join(
        f'<button type="button" id="{name}" title="{title}" aria-label="{title}">{sign}</button>'
        for name, title, sign in (("closer", "Zoom in", "+"), ("farther", "Zoom out", "−"), ("whole", "Show all", "⤢"))
    )
    status = element("p", scene.summary, {"id": "status", "role": "status"})
    notes = "".join(element("p", note, {"class": "note", "dir": "auto"}) for note in scene.notes)
    empty = "" if scene.dots else element("p", "No memories to draw.", {"class": "empty"})
    heading = element("h1", isolate(scene.title))
    return Html(
        f'<main id="memlab" data-ready="0">\n'
        f'<header>{heading}{search}<div class="zoom">{zoom}</div>{status}</header>\n'
        f'<div class="stage"><div id="mynetwork"></div>{empty}</div>\n'
        f'<aside><section id="card" hidden></section>{_legend(scene)}{notes}</aside>\n'
        "<noscript><p>This page draws with JavaScript, which is switched off.</p></noscript>\n</main>"
    )


def _legend(scene: Scene) -> Html:
    """Colours, dashes and borders with how often each is shown."""
    types = [
        (_swatch(colour, "current"), element("span", isolate(name)), count)
        for name, (colour, count) in scene.types.items()
    ]
    relations = [
        (_stroke(relation.colour, relation.dash), element("span", isolate(name)), count)
        for name, (relation, count) in scene.relations.items()
    ]
    states = [dot.state for dot in scene.dots]
    borders = [
        (_swatch("#7F7F7F", name), element("span", label), states.count(name))
        for name, label in BORDERS
        if name in states
    ]
    groups = (("Memories", "types", types), ("Associations", "relations", relations))
    shown = [*groups, ("Borders", "borders", borders if len(borders) > 1 else [])]
    return Html("".join(_group(title, name, rows) for title, name, rows in shown if rows))


def _group(title: str, name: str, rows: list[tuple[Html, Html, int]]) -> Html:
    items = "".join(f"<li>{mark}{label}<b>{count:,}</b></li>" for mark, label, count in rows)
    return Html(
        f'<section class="legend" id="legend-{escape(name)}"><h2>{escape(title)}</h2><ul>{items}</ul></section>'
    )


def _swatch(colour: str, state: str) -> Html:
    return element("i", "", {"class": f"swatch {state}", "data-colour": colour})


def _stroke(colour: str, dash: tuple[int, ...]) -> Html:
    line = {"x1": 0, "y1": 5, "x2": 34, "y2": 5, "stroke": colour, "stroke-width": 2.5, "data-colour": colour}
    drawn = element("line", "", line | ({"stroke-dasharray": " ".join(map(str, dash))} if dash else {}))
    return element("svg", drawn, {"class": "stroke", "width": 34, "height": 10, "aria-hidden": "true"})
