"""A scene as one still SVG picture: for README files, papers, and readers that show no scripts."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from memlab.markup import Html, element
from memlab.text import snippet
from memlab.views.scene import Dot, Line, Scene
from memlab.vocabulary import BLACK

LABEL_SIZE, MOST_LABELS, MARGIN, LEGEND_WIDTH = 12, 40, 90.0, 210.0
# A README shows a picture some 900 pixels wide; a wider one would be shrunk until its labels can't be read.
MOST_WIDTH = 1000.0
_STYLE = """
text { font: 12px system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif; fill: #1c2126; }
.soft { fill: #5c6670; } .title { font-size: 16px; font-weight: 600; } .ground { fill: #ffffff; }
.label { stroke: #ffffff; stroke-width: 3.5px; stroke-linejoin: round; paint-order: stroke; }
.hollow { fill: #ffffff; stroke: #5c6670; } .black { stroke: #1c2126; }
.rank { font-size: 10px; font-weight: 600; fill: #000000; stroke: #ffffff; stroke-width: 2px; paint-order: stroke; }
@media (prefers-color-scheme: dark) {
  text { fill: #e8eaed; } .soft { fill: #a3abb4; } .ground { fill: #15181c; } .label { stroke: #15181c; }
  .hollow { fill: #15181c; stroke: #a3abb4; } .black { stroke: #e8eaed; }
}"""
_DIRECTION = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")

Box = tuple[float, float, float, float]


def drawing(scene: Scene) -> Html:
    """Make the picture of a scene.

    Parameters
    ----------
    scene : Scene
        What to draw.

    Returns
    -------
    Html
        An SVG document with dots, lines, at most 40 labels of which none covers another, and a legend.
        It has no script and no reference to anything outside.
    """
    scene = _shrunk(scene)
    left, top, right, bottom = _bounds(scene)
    legend = _legend(scene, right + 30, top + 40)
    wide = right - left + LEGEND_WIDTH
    high = max(bottom - top, 60 + 20 * (len(legend) + 2))
    parts = [
        element("rect", "", {"class": "ground", "x": left, "y": top, "width": wide, "height": high}),
        *(_line(line, scene.dots) for line in scene.lines),
        *(_dot(dot) for dot in scene.dots),
        *_labels(scene, (left, top + 50, right, top + high)),
        element("text", scene.title, {"class": "title", "x": left + 20, "y": top + 28}),
        element("text", scene.summary, {"class": "soft", "x": left + 20, "y": top + 46}),
        *legend,
    ]
    size = {"viewBox": f"{left:g} {top:g} {wide:g} {high:g}", "width": f"{wide:g}", "height": f"{high:g}"}
    style = Html(f"<style>{_STYLE}</style>")
    content = Html(style + "\n" + "\n".join(parts))
    return element("svg", content, {"xmlns": "http://www.w3.org/2000/svg", "role": "img", **size})


def _shrunk(scene: Scene) -> Scene:
    """The scene with its dots closer, and somewhat smaller, if it is too wide for a page."""
    left, _, right, _ = _bounds(scene)
    room = MOST_WIDTH - LEGEND_WIDTH - 2 * MARGIN
    by = max(1.0, (right - left - 2 * MARGIN) / room)
    dots = (
        replace(d, x=round(d.x / by, 1), y=round(d.y / by, 1), radius=round(d.radius / by**0.5, 2)) for d in scene.dots
    )
    return replace(scene, dots=tuple(dots))


def _bounds(scene: Scene) -> Box:
    """The picture's edges without the legend: left, top, right, bottom."""
    xs, ys = [dot.x for dot in scene.dots] or [0.0], [dot.y for dot in scene.dots] or [0.0]
    return min(xs) - MARGIN, min(ys) - MARGIN, max(xs) + MARGIN, max(ys) + MARGIN / 2


def _line(line: Line, dots: Sequence[Dot]) -> Html:
    """A line with a small arrow, ending at the borders of its dots."""
    a, b = dots[line.source], dots[line.target]
    along, across = b.x - a.x, b.y - a.y
    length = max((along**2 + across**2) ** 0.5, 1e-6)
    middle = ((a.x + b.x) / 2 - across * line.bend, (a.y + b.y) / 2 + along * line.bend)
    end = _towards((b.x, b.y), middle, b.radius + 2) if length > b.radius + 4 else (b.x, b.y)
    black = line.relation.colour == BLACK
    looks: dict[str, object] = {"class": "black"} if black else {"stroke": line.relation.colour}
    dash = {"stroke-dasharray": " ".join(map(str, line.relation.dash))} if line.relation.dash else {}
    path = f"M{a.x:g} {a.y:g}Q{middle[0]:.1f} {middle[1]:.1f} {end[0]:.1f} {end[1]:.1f}"
    head = _head(end, middle, 6.0)
    shaft = element("path", "", {"d": path, "fill": "none", "stroke-width": line.width, **dash})
    arrow = element("path", "", {"d": head, "fill": "none", "stroke-width": max(1.2, line.width)})
    return element("g", Html(shaft + arrow), {**looks, "stroke-opacity": 0.75})


def _towards(start: tuple[float, float], aim: tuple[float, float], step: float) -> tuple[float, float]:
    """The point at a distance from the start on the way to the aim."""
    x, y = aim[0] - start[0], aim[1] - start[1]
    length = max((x**2 + y**2) ** 0.5, 1e-6)
    return start[0] + x / length * step, start[1] + y / length * step


def _head(tip: tuple[float, float], origin: tuple[float, float], size: float) -> str:
    """An open arrow head at the tip of a line that comes from the origin."""
    back = _towards(tip, origin, size)
    x, y = (back[0] - tip[0]) * 0.5, (back[1] - tip[1]) * 0.5
    wings = ((back[0] - y, back[1] + x), (back[0] + y, back[1] - x))
    return "M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}".format(*wings[0], *tip, *wings[1])


def _dot(dot: Dot) -> Html:
    """A dot with the border of its state and the full text for who points at it."""
    looks: dict[str, object] = {"cx": dot.x, "cy": dot.y, "r": dot.radius}
    if dot.state == "current":
        looks |= {"fill": dot.colour, "stroke": "#00000055", "stroke-width": 1}
    elif dot.state == "superseded":
        looks |= {"class": "ground", "stroke": dot.colour, "stroke-width": 2, "stroke-dasharray": "4 3"}
    else:
        looks |= {"class": "hollow", "stroke-dasharray": "1.5 2.5" if dot.state == "archived" else "none"}
    circle = element("circle", element("title", snippet(dot.text, 300)), looks)
    if dot.rank is None:
        return circle
    place = {"x": dot.x, "y": round(dot.y + 4, 1), "text-anchor": "middle", "class": "rank"}
    return Html(circle + element("text", dot.rank, place))


def _labels(scene: Scene, page: Box) -> list[Html]:
    """Labels in order of importance, each at the first side of its dot where nothing is in the way."""
    own = [(d.x - d.radius, d.y - d.radius, d.x + d.radius, d.y + d.radius) for d in scene.dots]
    taken = list(own)
    made: list[Html] = []
    for dot, circle in zip(scene.dots, own, strict=True):
        if len(made) == MOST_LABELS:
            break
        text = snippet(_DIRECTION.sub("", dot.text) or dot.memory_id, 28)
        wide, half, gap = _width(text), LABEL_SIZE * 0.7, dot.radius + LABEL_SIZE * 0.7 + 2
        places = (
            (dot.x - wide / 2, dot.y + gap),
            (dot.x - wide / 2, dot.y - gap),
            (dot.x + dot.radius + 5, dot.y),
            (dot.x - dot.radius - 5 - wide, dot.y),
        )
        boxes = [(x - 3, y - half, x + wide + 3, y + half) for x, y in places]
        free = [box for box in boxes if _inside(box, page) and not any(_meet(box, b) for b in taken if b is not circle)]
        if free:
            taken.append(free[0])
            middle = {"x": f"{(free[0][0] + free[0][2]) / 2:.1f}", "y": f"{(free[0][1] + free[0][3]) / 2 + 4:.1f}"}
            made.append(element("text", text, {"class": "label", "text-anchor": "middle", **middle}))
    return made


def _inside(box: Box, page: Box) -> bool:
    return page[0] <= box[0] and page[1] <= box[1] and box[2] <= page[2] and box[3] <= page[3]


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _width(text: str) -> float:
    """About how wide a text is drawn: full-width signs count one size, others somewhat over half."""
    return sum(LABEL_SIZE * (1.0 if unicodedata.east_asian_width(sign) in "WF" else 0.56) for sign in text)


def _legend(scene: Scene, x: float, y: float) -> list[Html]:
    """Types and relations with their counts, below each other."""
    rows: list[tuple[Html, str]] = []
    for name, (colour, count) in scene.types.items():
        mark = element("circle", "", {"cx": x + 13, "cy": y + 20 * len(rows) - 4, "r": 6, "fill": colour})
        rows.append((mark, f"{name}  {count:,}"))
    for name, (relation, count) in scene.relations.items():
        at = y + 20 * (len(rows) + 1) - 4
        looks: dict[str, object] = {"class": "black" if relation.colour == BLACK else "line"}
        looks |= {"stroke": relation.colour}
        dash = {"stroke-dasharray": " ".join(map(str, relation.dash))} if relation.dash else {}
        ends = {"x1": x, "y1": at, "x2": x + 28, "y2": at, "stroke-width": 2.5}
        rows.append((element("line", "", {**looks, **dash, **ends}), f"{name}  {count:,}"))
    made = []
    for i, (mark, words) in enumerate(rows):
        # One empty row parts the types from the relations.
        at = y + 20 * (i + (i >= len(scene.types)))
        made.append(Html(mark + element("text", words, {"x": x + 36, "y": at})))
    return made
