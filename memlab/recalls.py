"""What a recall gives: ranked hits, each with the evidence that put it there.

A :class:`Recall` carries everything that explaining it needs, so that it can be explained, drawn and kept after
the store has moved on.
"""

import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, overload

from memlab.errors import MethodError
from memlab.markup import table
from memlab.records import Memory
from memlab.text import snippet
from memlab.values import EMPTY

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Part:
    """What one channel says of one memory.

    Parameters
    ----------
    score : float
        The channel's own score: cosine in [-1, 1] for dense, BM25 from 0 up for lexical, closeness in
        [0, 1] for temporal, and so on. Higher is better in every channel.
    share : float
        What it adds to the hit's score, after normalising and weighting. Shares add up to the score.
    detail : mapping, default {}
        The evidence: matched terms, the window that fits best, the date phrase.
    """

    score: float
    share: float
    detail: Mapping[str, Any] = EMPTY


@dataclass(frozen=True, slots=True)
class Step:
    """One association walked to reach a hit.

    Parameters
    ----------
    source, relation, target : str
        The association's triple, in its own direction.
    start : str
        The end the walk came from.
    """

    source: str
    relation: str
    target: str
    start: str

    def __str__(self) -> str:
        if self.start == self.source:
            return f"{self.source} -[{self.relation}]-> {self.target}"
        return f"{self.target} <-[{self.relation}]- {self.source}"


@dataclass(frozen=True, slots=True)
class Hit:
    """One recalled memory.

    Parameters
    ----------
    rank : int
        From 1.
    memory : Memory
        The memory as it was when recalled.
    score : float
        What ranked it; higher is better, comparable within one recall only.
    relevance : float
        From 0 to 1, meaning the same across queries: see :mod:`memlab.recall.evidence`.
    parts : mapping of str to Part
        By channel.
    path : tuple of Step, default ()
        The associations walked from a stronger hit, if that is how it came.
    """

    rank: int
    memory: Memory
    score: float
    relevance: float
    parts: Mapping[str, Part] = EMPTY
    path: tuple[Step, ...] = ()

    @property
    def memory_id(self) -> str:
        """The memory's id."""
        return self.memory.memory_id


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why one memory was recalled, as sentences.

    Parameters
    ----------
    title : str
        The hit in one line.
    reasons : tuple of (str, str)
        Channel and sentence, strongest first.
    """

    title: str
    reasons: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "\n".join([self.title, *(f"  {name:<12} {reason}" for name, reason in self.reasons)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return table(("reason", "evidence"), self.reasons, caption=self.title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall(Sequence[Hit]):
    """The ranked hits of one query, a sequence of :class:`Hit` from index 0.

    Parameters
    ----------
    recall_id : str
        Names this recall in the store's telemetry.
    query : str
        What was asked.
    k : int
        How many hits were wanted at the most.
    method : str
        How it was made: the printed method, or a callable's name.
    hits : tuple of Hit
        Best first; ties by id.
    spaces : tuple of str
        The names of the spaces that were looked in.
    now : datetime
        The reference for relative dates.
    store_seq : int
        The place in the store's log that it saw.
    candidates : int
        How many memories passed the filters.
    seconds : mapping of str to float
        Wall time by channel and step.
    weights : mapping of str to float
        The weight of each channel that spoke.
    notes : tuple of str, default ()
        What the reader should know, such as where else memories are.
    """

    recall_id: str
    query: str
    k: int
    method: str
    hits: tuple[Hit, ...]
    spaces: tuple[str, ...]
    now: datetime
    store_seq: int
    candidates: int
    seconds: Mapping[str, float] = EMPTY
    weights: Mapping[str, float] = EMPTY
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    @property
    def ids(self) -> list[str]:
        """The memory ids, best first."""
        return [hit.memory_id for hit in self.hits]

    def explain(self, rank: int) -> Explanation:
        """Say why a hit is where it is, from the evidence the recall carries.

        Parameters
        ----------
        rank : int
            From 1; numpy integers too.

        Returns
        -------
        Explanation
            Prints as sentences, shows as a table.

        Raises
        ------
        MethodError
            If there is no hit of that rank.
        """
        ranks = f"the ranks 1 to {len(self)}" if self.hits else "no hits"
        if isinstance(rank, bool) or not hasattr(rank, "__index__") or not 1 <= operator.index(rank) <= len(self):
            raise MethodError(f"rank is {rank!r}; this recall has {ranks}")
        hit = self.hits[rank - 1]
        title = f"#{rank} {hit.memory_id} (score {hit.score:.3f}, relevance {hit.relevance:.2f}): " + snippet(
            hit.memory.content, 70
        )
        parts = sorted(hit.parts.items(), key=lambda item: (-item[1].share, item[0]))
        reasons = [(name, self._reason(name, part)) for name, part in parts]
        if hit.path:
            reasons.append(("path", "; ".join(map(str, hit.path))))
        return Explanation(title, tuple(reasons))

    def _reason(self, name: str, part: Part) -> str:
        seconds = f", {1000 * self.seconds[name]:.1f} ms" if name in self.seconds else ""
        says = part.detail.get("says", "")
        return f"{says}{': ' if says else ''}{part.score:.3f}, adds {part.share:.3f}{seconds}"

    @property
    def frame(self) -> "pd.DataFrame":
        """The hits as a table: rank, memory_id, score, relevance, one column a channel, space, content.

        A channel's column holds what it adds to the score, NaN where it says nothing of a memory.
        """
        import pandas as pd

        hits = self.hits
        columns: dict[str, Any] = {
            "rank": pd.Series([hit.rank for hit in hits], dtype="int64"),
            "memory_id": pd.Series([hit.memory_id for hit in hits], dtype="str"),
            "score": pd.Series([hit.score for hit in hits], dtype="float64"),
            "relevance": pd.Series([hit.relevance for hit in hits], dtype="float64"),
        }
        for name in self._channels:
            shares = [hit.parts[name].share if name in hit.parts else math.nan for hit in hits]
            columns[name] = pd.Series(shares, dtype="float64")
        columns["space"] = pd.Series([hit.memory.space for hit in hits], dtype="str")
        columns["content"] = pd.Series([hit.memory.content for hit in hits], dtype="str")
        return pd.DataFrame(columns)

    @property
    def _channels(self) -> list[str]:
        return list(dict.fromkeys(name for hit in self.hits for name in hit.parts))

    def __repr__(self) -> str:
        head = f"Recall of {self.query!r} by {self.method}: {len(self)} of {self.candidates} memories"
        lines = [
            f"{hit.rank:>3}  {hit.score:.3f}  {snippet(hit.memory_id, 12):<12}  {snippet(hit.memory.content, 80)}"
            for hit in self.hits
        ]
        return "\n".join([head, *lines, *self.notes])

    def _repr_html_(self) -> str:
        channels = self._channels
        rows = [
            [
                str(hit.rank),
                f"{hit.score:.3f}",
                f"{hit.relevance:.2f}",
                *(f"{hit.parts[name].share:.3f}" if name in hit.parts else "" for name in channels),
                hit.memory.happened_at.date().isoformat() if hit.memory.happened_at else "",
                hit.memory_id,
                snippet(hit.memory.content, 200),
            ]
            for hit in self.hits
        ]
        headers = ("rank", "score", "relevance", *channels, "when", "memory_id", "content")
        note = " ".join((f"{len(self)} of {self.candidates} memories by {self.method}.", *self.notes))
        sides = ["right"] * (3 + len(channels)) + ["left"] * 3
        return table(headers, rows, caption=f"{self.query} · {note}", align=sides)
