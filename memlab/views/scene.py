"""What a drawing shows: dots, lines, their marks and places, before any page or file is made of it."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pandas as pd

from memlab.recall.current import heads
from memlab.views.layout import layout
from memlab.views.sources import Tables, missing, plain_text
from memlab.vocabulary import BLACK, GREY, MEMORY_TYPES, Relation

T = TypeVar("T")

# Beyond this a drawing is a cloud that nobody reads, and a browser stutters.
MOST_DOTS = 2_000
LEAST_RADIUS, MOST_RADIUS = 4.5, 13.0
NO_TYPE, OTHER_TYPES = "no type", "other types"
# Details of a memory that a card shows below its text, in this order: column and how it is called.
DETAILS = (
    ("memory_id", "id"),
    ("space", "space"),
    ("tags", "tags"),
    ("role", "role"),
    ("importance", "importance"),
    ("confidence", "confidence"),
    ("happened_at", "happened"),
    ("created_at", "recorded"),
    ("valid_from", "valid from"),
    ("valid_until", "valid until"),
    ("session_id", "session"),
    ("sequence", "sequence"),
    ("source", "source"),
    ("metadata", "metadata"),
)


@dataclass(frozen=True, slots=True)
class Dot:
    """A memory as it is drawn.

    Parameters
    ----------
    memory_id, text : str
        The memory and its full content.
    type : str
        Its type, "other types" or "no type", as the legend says it.
    colour : str
        ``#RRGGBB``, of its type.
    radius : float
        In pixels; the area grows with importance.
    state : {"current", "superseded", "archived", "outside"}
        Which decides its border; "outside" lies on a path of a recall but isn't among the hits.
    x, y : float
        Place in pixels, y downwards.
    rank : int or None
        In a recall, from 1.
    details : tuple of (str, str)
        What else its card says.
    """

    memory_id: str
    text: str
    type: str
    colour: str
    radius: float
    state: str
    x: float
    y: float
    rank: int | None
    details: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Line:
    """An association as it is drawn.

    Parameters
    ----------
    source, target : int
        Numbers of two dots.
    relation : Relation
        With its label, colour and dash.
    width : float
        In pixels, by strength.
    bend : float
        How far it curves to one side, so that lines of one pair lie apart; 0 is straight.
    details : str
        Strength and properties, in words.
    """

    source: int
    target: int
    relation: Relation
    width: float
    bend: float
    details: str


@dataclass(frozen=True, slots=True)
class Scene:
    """A whole drawing.

    Parameters
    ----------
    title : str
        What is drawn.
    dots : tuple of Dot
        Most important (in a recall: best) first.
    lines : tuple of Line
        Among these dots.
    summary : str
        How much is shown of how much there is.
    notes : tuple of str
        More that the reader should know.
    strip_top : float or None
        The line under which memories without an association stand.
    """

    title: str
    dots: tuple[Dot, ...]
    lines: tuple[Line, ...]
    summary: str
    notes: tuple[str, ...]
    strip_top: float | None

    @property
    def types(self) -> dict[str, tuple[str, int]]:
        """Colour and count of each type shown, most frequent first; of dots outside a recall none is known."""
        return _counted([(dot.type, dot.colour) for dot in self.dots if dot.state != "outside"])

    @property
    def relations(self) -> dict[str, tuple[Relation, int]]:
        """Relation and count of each kind of line shown, most frequent first."""
        return _counted([(line.relation.name, line.relation) for line in self.lines])


def scene(
    tables: Tables, *, limit: int, title: str | None = None, places: Mapping[str, tuple[float, float]] | None = None
) -> Scene:
    """Choose what is drawn and where.

    Parameters
    ----------
    tables : Tables
        What there is.
    limit : int
        The most memories to draw; the first ones of the table are taken.
    title : str, optional
        By default the source's own.
    places : mapping of str to (float, float), optional
        Places of an earlier drawing, which its memories keep.

    Returns
    -------
    Scene
        The same for the same input.

    Raises
    ------
    ValueError
        If the limit isn't from 1 to 2,000.
    """
    if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or not 1 <= limit <= MOST_DOTS:
        raise ValueError(
            f"limit is {limit!r}; a drawing holds 1 to {MOST_DOTS:,} memories. For a larger store draw a part: "
            "a recall, one space, or a selection of its frame"
        )
    shown = _with_outsiders(tables, tables.memories.iloc[: int(limit)])
    number = {name: i for i, name in enumerate(shown["memory_id"])}
    inside = tables.associations["source"].isin(number) & tables.associations["target"].isin(number)
    lines = _lines(tables.associations[inside], number, tables.relations)
    start = None
    if places is not None:
        start = np.array([places.get(name, (np.nan, np.nan)) for name in number], dtype=float).reshape(-1, 2)
    pairs = np.array([(line.source, line.target) for line in lines], dtype=np.int64).reshape(-1, 2)
    at = layout(len(shown), pairs, start=start)
    dots = _dots(shown, tables, at.points)
    summary, notes = _summary(tables, dots, len(lines))
    return Scene(title or tables.title, dots, lines, summary, notes, at.strip_top)


def _with_outsiders(tables: Tables, shown: pd.DataFrame) -> pd.DataFrame:
    """Add a row for each memory that a recall's path crosses without recalling it."""
    if not tables.ranks:
        return shown
    known = set(tables.memories["memory_id"])
    ends = pd.unique(tables.associations[["source", "target"]].to_numpy().ravel())
    outside = [name for name in ends if name not in known]
    rows = pd.DataFrame({"memory_id": outside, "content": [f"{name} (not among the hits)" for name in outside]})
    return pd.concat([shown, rows], ignore_index=True) if outside else shown


def _lines(
    associations: pd.DataFrame, number: Mapping[str, int], relations: Mapping[str, Relation]
) -> tuple[Line, ...]:
    """The associations among the dots, those of one pair bent apart."""
    made: list[Line] = []
    same: dict[frozenset[int], int] = {}
    rows = associations.sort_values(["source", "target", "relation"], kind="stable").to_dict("records")
    ends = [frozenset((number[row["source"]], number[row["target"]])) for row in rows]
    together = Counter(ends)
    for row, pair in zip(rows, ends, strict=True):
        nth = same[pair] = same.get(pair, -1) + 1
        bend = 0.0 if together[pair] == 1 else (0.14 + 0.1 * (nth // 2)) * (1 if nth % 2 == 0 else -1)
        # A bend is to the left of its own direction; seen from one end, the pair's lines must alternate.
        bend = bend if row["source"] <= row["target"] else -bend
        relation = relations.get(row["relation"]) or Relation(row["relation"], row["relation"].lower(), dash=(2, 2))
        strength = 0.5 if math.isnan(row["strength"]) else min(1.0, max(0.0, row["strength"]))
        said = [f"strength {row['strength']:.2f}"] if not math.isnan(row["strength"]) else []
        said += [] if missing(row.get("properties")) else [plain_text(row["properties"])]
        pieces = (number[row["source"]], number[row["target"]], relation, round(0.9 + 2.1 * strength, 2))
        made.append(Line(*pieces, round(bend, 3), " · ".join(said)))
    return tuple(made)


def _dots(shown: pd.DataFrame, tables: Tables, points: np.ndarray) -> tuple[Dot, ...]:
    """One dot a row."""
    rows = shown.to_dict("records")
    colours = _type_colours([plain_text(row.get("type")) for row in rows])
    states = dict.fromkeys(_superseded(tables), "superseded") | dict.fromkeys(_archived(tables.memories), "archived")
    made = []
    for row, (x, y) in zip(rows, points, strict=True):
        kind = plain_text(row.get("type"))
        name = kind if kind in colours else OTHER_TYPES if kind else NO_TYPE
        rank = tables.ranks.get(row["memory_id"])
        outside = bool(tables.ranks) and rank is None
        state = "outside" if outside else states.get(row["memory_id"], "current")
        details = tuple((said, plain_text(row[key])) for key, said in DETAILS if not missing(row.get(key)))
        colour = colours.get(kind, BLACK if kind else GREY)
        place = (round(float(x), 1), round(float(y), 1))
        made.append(
            Dot(
                row["memory_id"],
                row["content"],
                name,
                colour,
                _radius(row.get("importance")),
                state,
                *place,
                rank,
                details,
            )
        )
    return tuple(made)


def _radius(importance: float | None) -> float:
    """The area grows with importance; one that isn't known counts as 0."""
    share = 0.0 if importance is None or math.isnan(importance) else min(1.0, max(0.0, float(importance)))
    return round(math.sqrt(LEAST_RADIUS**2 + share * (MOST_RADIUS**2 - LEAST_RADIUS**2)), 2)


def _type_colours(kinds: Sequence[str]) -> dict[str, str]:
    """The vocabulary's colours; types of one's own get those left over, most frequent first."""
    found = {kind: MEMORY_TYPES[kind].colour for kind in kinds if kind in MEMORY_TYPES}
    free = [known.colour for known in MEMORY_TYPES.values() if known.colour not in found.values()]
    own = Counter(kind for kind in kinds if kind and kind not in MEMORY_TYPES)
    order = sorted(own, key=lambda kind: (-own[kind], kind))
    return found | dict(zip(order, free, strict=False))


def _superseded(tables: Tables) -> set[str]:
    """The memories that one that isn't archived replaces: the older end by event time, on a tie the source."""
    names = [name for name, relation in tables.relations.items() if relation.supersedes]
    links = tables.associations[tables.associations["relation"].isin(names)]
    times = _event_times(tables.memories)
    away = _archived(tables.memories)
    following: dict[str, list[str]] = {}
    for source, target in zip(links["source"], links["target"], strict=True):
        begun, ended = times.get(source), times.get(target)
        later = begun is not None and ended is not None and begun > ended
        past, present = (target, source) if later else (source, target)
        if present not in away:
            following.setdefault(past, []).append(present)
    return {past for past in following if past not in heads(past, following)}


def _archived(memories: pd.DataFrame) -> set[str]:
    """The ids of the memories that were put away."""
    if "archived" not in memories.columns:
        return set()
    pairs = zip(memories["memory_id"], memories["archived"], strict=True)
    return {name for name, archived in pairs if not missing(archived) and bool(archived)}


def _event_times(memories: pd.DataFrame) -> dict[str, pd.Timestamp]:
    """When each memory's event was, for those that know it."""
    when = pd.Series(pd.NaT, index=memories.index, dtype="datetime64[us, UTC]")
    for column in ("happened_at", "created_at"):
        if column in memories.columns:
            when = when.fillna(pd.to_datetime(memories[column], utc=True).astype("datetime64[us, UTC]"))
    known = when.notna()
    return dict(zip(memories["memory_id"][known], when[known], strict=True))


def _summary(tables: Tables, dots: Sequence[Dot], lines: int) -> tuple[str, tuple[str, ...]]:
    """How much is drawn of what there is."""
    total = len(tables.memories)
    if tables.ranks:
        hits = sum(dot.rank is not None for dot in dots)
        words = f"{hits:,} of {total:,} {'hit' if total == 1 else 'hits'} shown"
        words += f" · {len(dots) - hits:,} more on their paths" if len(dots) > hits else ""
    else:
        words = f"{len(dots):,} of {total:,} {'memory' if total == 1 else 'memories'} shown"
    words += f" · {lines:,} {'association' if lines == 1 else 'associations'}"
    away = len(tables.associations) - lines
    notes = list(tables.notes)
    if away:
        ends = "association has" if away == 1 else "associations have"
        notes.append(f"{away:,} more {ends} an end that isn't shown.")
    return words, tuple(notes)


def _counted(pairs: Sequence[tuple[str, T]]) -> dict[str, tuple[T, int]]:
    """Each name with its value and how often it is there, most frequent first, ties by name."""
    counts, values = Counter(name for name, _ in pairs), dict(pairs)
    order = sorted(counts, key=lambda name: (-counts[name], name))
    return {name: (values[name], counts[name]) for name in order}
