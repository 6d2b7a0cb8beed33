"""Recall: questions to a store."""

import math
import sys
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice, pairwise
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from memlab.errors import EncoderMismatch, InvalidArgument, MethodError, shown
from memlab.recall.engine import Answer, Request, answer
from memlab.recall.method import Method, preset
from memlab.recalls import Hit, Recall
from memlab.store_items import counting
from memlab.store_read import Reading
from memlab.text import check_text
from memlab.times import now, to_micros, zone_of
from memlab.values import share
from memlab.windows import windows_of

OwnMethod = Callable[[Any, str, int], Any]


class Recalling(Reading):
    """The verbs that rank memories by a query."""

    def recall(
        self,
        query: str | Sequence[str],
        k: int = 10,
        *,
        method: "str | Method | OwnMethod" = "default",
        space: Any = None,
        where: Any = None,
        tags: Any = None,
        tag_mode: str = "any",
        tag_match: str = "exact",
        exclude_tags: Any = None,
        since: Any = None,
        until: Any = None,
        time: str | None = None,
        state: str = "current",
        at: Any = None,
        now: Any = None,
        zone: str | None = None,
        min_relevance: float = 0.0,
        diversify: float | None = None,
        actor: str = "user",
    ) -> Any:
        """Recall the memories that fit a query best, with the reasons.

        Parameters
        ----------
        query : str or list of str
            What is asked, in plain words: no sign in it is an operator. A list is answered in one batch.
        k : int, default 10
            How many hits at the most, from 1 up. Fewer come where fewer fit, or have any evidence of the query.
        method : str, Method or callable, default "default"
            ``"lexical"``, ``"dense"``, ``"hybrid"``, ``"default"``, a :class:`~memlab.recall.method.Method`, or a
            function of ``(store, query, k)`` that gives memory ids, ``(memory_id, score)`` pairs or hits of
            another recall, best first; what comes after the first k isn't read. Its scores, cut to [0, 1],
            stand for relevance. A function filters for itself: filters given beside one are refused.
        space : str or list of str, optional
            Names or ids of the spaces to look in; ``"*"`` for all. By default ``"default"``.
        where, tags, tag_mode, tag_match, exclude_tags, since, until, time : optional
            Filters as for :meth:`select`; they cut before the k best are taken, in every channel.
        state : {"current", "history"}, default "current"
            Leave out what is archived, expired, not yet valid or superseded, the head of a chain of
            supersessions standing for its past; or rank all.
        at : datetime or str, optional
            The time that "current" means; by default `now`. There is none with ``state="history"``.
        now : datetime or str, optional
            The reference for relative dates and for ages; by default the present.
        zone : str, optional
            The zone of times and dates that name none; by default the store's, else UTC.
        min_relevance : float, default 0.0
            Hits of a smaller relevance are left out: see :mod:`memlab.recall.evidence`.
        diversify : float, optional
            In the place of the method's own: how much hits must differ, from 0 to 1. Hits then stand in the
            order of :mod:`memlab.recall.rerank`, and keep their scores.
        actor : str, default "user"
            Who asks, for the telemetry.

        Returns
        -------
        Recall or list of Recall
            The ranked hits; for a list of queries a list, in order.

        Raises
        ------
        InvalidArgument
            If the query is blank, k isn't a whole number from 1 up, or arguments contradict each other.
        MethodError, FilterError, TimeError, UnknownSpace
            If the method, a filter, a time or a space can't be read.
        EncoderMismatch
            If the method needs an encoder and the store has none, or another made its vectors.
        UnknownMemory
            If a function gives an id that the store doesn't have.

        Notes
        -----
        A query that is longer than the encoder takes is encoded in windows, and their mean stands for it; the
        recall's ``notes`` say so. A batch gives the ids and scores that its queries give one by one; only an
        encoder whose own last digits depend on the batch can move a score by a millionth.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> _ = store.add_many(["Ana moved to Oslo.", "The tea is green."])
        >>> store.recall("where did Ana move?", k=1)[0].memory.content
        'Ana moved to Oslo.'
        """
        queries, k = _queries(query), counting("k", k)
        bounds = {"where": where, "tags": tags, "tag_mode": tag_mode, "tag_match": tag_match}
        wanted = self._filter(
            **bounds, exclude_tags=exclude_tags, since=since, until=until, time=time, now=now, zone=zone
        )
        self._check_state(state, at)
        if zone is not None:
            zone_of(zone)
        moment = self._moment(now, zone, "now")
        if not isinstance(method, str | Method):
            narrowed = {**bounds, "exclude_tags": exclude_tags, "since": since, "until": until, "time": time}
            narrowed |= {"at": at, "space": space, "diversify": diversify, "zone": zone if now is None else None}
            _refuse_beside_callable(method, {**narrowed, "state": state, "min_relevance": min_relevance})
            found = [self._own(method, text, k, moment, actor) for text in queries]
        else:
            chosen = preset(method) if isinstance(method, str) else method
            request = Request(
                method=chosen if diversify is None else chosen.but(diversify=diversify),
                k=k,
                spaces=(),
                wanted=wanted,
                state=state,
                at=moment if at is None else self._moment(at, zone, "at"),
                now=moment,
                zone=zone or self._zone or "UTC",
                min_relevance=share(min_relevance, "min_relevance", InvalidArgument),
            )
            found = self._answer(queries, request, space, actor)
        return found[0] if isinstance(query, str) else found

    def _answer(self, queries: list[str], request: Request, space: Any, actor: str) -> list[Recall]:
        method, notes = self._able(request.method)
        begin = perf_counter()
        # The one slow step that needs no state: it stays outside the lock.
        vectors, windows = self._encode(queries) if method.dense else (None, [1] * len(queries))
        encoding = (perf_counter() - begin) / max(1, len(queries))
        recalls = []
        with self._reading():
            spaces = self._space_names(space)
            request = replace(request, method=method, spaces=spaces)
            dense = self._dense() if method.dense or (method.diversify and self._embedder.encoder) else {}
            parts = self._parts(dense, self._words() if method.lexical else {})
            answers = answer(parts, request, queries, vectors)
            for query, found, pieces in zip(queries, answers, windows, strict=True):
                if vectors is not None:
                    found.seconds["encode"] = encoding
                said = (*notes, *_long(pieces), *(() if found.hits else self._elsewhere(spaces)))
                recalls.append(self._recall(query, request, found, said))
        for recall in recalls:
            self._note(recall, actor)
        return recalls

    def _encode(self, queries: list[str]) -> tuple[npt.NDArray[np.float32], list[int]]:
        """Encode queries, and say in how many windows; the mean of its windows stands for a long one."""
        encoder = self._embedder.encoder
        pieces = [[query[a:b] for a, b in windows_of(encoder, query)] for query in queries] if encoder else []
        rows = self._embedder.encode_queries([piece for parts in pieces for piece in parts])
        counts = [len(parts) for parts in pieces]
        vectors = np.zeros((len(queries), rows.shape[1]), dtype=np.float32)
        for place, end in enumerate(np.cumsum(counts, dtype=int).tolist()):
            mine = rows[end - counts[place] : end]
            mean = mine[0] if len(mine) == 1 else mine.mean(axis=0)
            length = float(np.linalg.norm(mean))
            vectors[place] = mean / length if len(mine) > 1 and length > 0 else mean
        return vectors, counts

    def _able(self, method: Method) -> tuple[Method, tuple[str, ...]]:
        """Drop the dense channel where the store has no encoder, unless nothing else would rank."""
        if self._embedder.encoder is not None or not (method.dense or method.diversify):
            return method, ()
        if not (method.lexical or method.temporal):
            raise EncoderMismatch(
                f"{method} needs an encoder, and the store was opened without one; open it with encoder=..."
            )
        notes = ["The store has no encoder, so the dense channel is silent."] if method.dense else []
        if method.diversify:
            notes.append("The store has no encoder, so it can't tell what is alike, and diversify changes nothing.")
        return method.but(dense=0.0, diversify=0.0), tuple(notes)

    def _elsewhere(self, spaces: tuple[str, ...]) -> tuple[str, ...]:
        """Say which other spaces hold memories, for an empty recall."""
        codes, names = self._table.coded(("space",))
        counts = np.bincount(codes[self._table.alive], minlength=len(names)).tolist()
        others = sorted((name, n) for name, n in zip(names, counts, strict=True) if n and name not in spaces)
        listed = ", ".join(f"{name!r} ({n})" for name, n in others)
        return (f"Nothing found here; other spaces hold memories: {listed}.",) if others else ()

    def _recall(self, query: str, request: Request, found: Answer, notes: tuple[str, ...]) -> Recall:
        return Recall(
            recall_id=str(uuid.uuid4()),
            query=query,
            k=request.k,
            method=repr(request.method),
            hits=found.hits,
            spaces=request.spaces,
            now=request.now,
            store_seq=self._applied,
            candidates=found.candidates,
            seconds=found.seconds,
            weights=found.weights,
            notes=notes,
        )

    def _own(self, method: Any, query: str, k: int, moment: datetime, actor: str) -> Recall:
        """Rank by a caller's function."""
        name, begin = _name(method), perf_counter()
        ranking = _ranking(method(self, query, k), k, name)
        seconds = {name: perf_counter() - begin}
        with self._reading():
            hits = tuple(
                Hit(rank, self._table.get(memory_id), score, min(max(score, 0.0), 1.0))
                if other is None
                else replace(other, rank=rank, memory=self._table.get(memory_id))
                for rank, (memory_id, score, other) in enumerate(ranking, start=1)
            )
            if len({hit.memory_id for hit in hits}) < len(hits):
                raise MethodError(f"the method {name} gave a memory twice; each may come once")
            recall = Recall(
                recall_id=str(uuid.uuid4()),
                query=query,
                k=k,
                method=name,
                hits=hits,
                spaces=tuple(dict.fromkeys(hit.memory.space for hit in hits)),
                now=moment,
                store_seq=self._applied,
                candidates=len(self._table),
                seconds=seconds,
            )
        self._note(recall, actor)
        return recall

    def _note(self, recall: Recall, actor: str) -> None:
        self._telemetry.recalled(
            {
                "recall_id": recall.recall_id,
                "time": to_micros(now()),
                "actor": actor,
                "query": recall.query,
                "spaces": list(recall.spaces),
                "method": recall.method,
                "k": min(recall.k, sys.maxsize),  # the file holds 64 bits
                "store_seq": recall.store_seq,
                "seconds": sum(recall.seconds.values()),
                "candidates": recall.candidates,
                "hits": [[hit.memory_id, hit.score, hit.relevance] for hit in recall.hits],
            }
        )

    @property
    def recalls(self) -> pd.DataFrame:
        """All recalls so far, oldest first: when, by whom, the query, the method, and ids and scores of the hits."""
        with self._reading():
            return _frame(self._telemetry.recalls(), RECALL_FRAME)

    @property
    def calls(self) -> pd.DataFrame:
        """All tool calls of agents so far, oldest first: when, by whom, which tool, how long, whether it worked."""
        with self._reading():
            return _frame(self._telemetry.calls(), CALL_FRAME)


RECALL_FRAME = (
    *("recall_id", "time", "actor", "query", "spaces", "method", "k"),
    *("store_seq", "seconds", "candidates", "hits"),
)
CALL_FRAME = ("time", "client", "tool", "space", "arguments", "seconds", "ok", "hits", "error")


def _frame(events: list[dict[str, Any]], columns: tuple[str, ...]) -> pd.DataFrame:
    frame = pd.DataFrame(events, columns=list(columns))
    micros = frame["time"].to_numpy(dtype="int64")
    frame["time"] = pd.DatetimeIndex(micros.view("M8[us]")).tz_localize("UTC")
    return frame


def _queries(query: Any) -> list[str]:
    if not isinstance(query, str) and (not isinstance(query, Iterable) or isinstance(query, bytes | Mapping)):
        raise InvalidArgument(f"the query is of type {type(query).__name__}; give a text, or a list of texts")
    queries = [query] if isinstance(query, str) else list(query)
    many = len(queries) > 1
    return [
        check_text(text, f"query {place}" if many else "the query", error=InvalidArgument)
        for place, text in enumerate(queries)
    ]


def _long(windows: int) -> tuple[str, ...]:
    if windows == 1:
        return ()
    return (f"The query is longer than the encoder takes: the mean of its {windows} windows stands for it.",)


def _name(method: Any) -> str:
    return str(getattr(method, "__name__", type(method).__name__))


def _ranking(given: Any, k: int, name: str) -> list[tuple[str, float, Hit | None]]:
    """Read the first k of what a caller's function ranks."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise MethodError(
            f"the method {name} gave a {type(given).__name__}; it must give memory ids or (memory_id, score) pairs, "
            "best first"
        )
    ranking = [_ranked(item, rank, name) for rank, item in enumerate(islice(given, k), start=1)]
    for (_, score, _), (memory_id, worse, other) in pairwise(ranking):
        # A recall that was diversified stands in an order of its own.
        if worse > score and other is None:
            raise MethodError(
                f"the method {name} gave {memory_id!r} the score {worse:g} after {score:g}; the best comes first, with "
                "the highest score. Give ids alone where the order is no score's"
            )
    return ranking


def _ranked(item: Any, rank: int, name: str) -> tuple[str, float, Hit | None]:
    if isinstance(item, str):
        return item, 1.0 / rank, None
    if isinstance(item, Hit):
        return item.memory_id, item.score, item
    if isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], str):
        score = item[1].item() if isinstance(item[1], np.generic) else item[1]
        if isinstance(score, Real) and not isinstance(score, bool) and math.isfinite(score):
            return item[0], float(score), None
    raise MethodError(
        f"the method {name} gave {shown(item)}; it must give memory ids or (memory_id, score) pairs of finite scores"
    )


_PLAIN = {"tag_mode": "any", "tag_match": "exact", "state": "current", "min_relevance": 0}


def _refuse_beside_callable(method: Any, narrowed: Mapping[str, Any]) -> None:
    if not callable(method):
        raise MethodError(
            f"method is a {type(method).__name__}; give a name, a Method or a function of (store, query, k)"
        )
    given = [name for name, value in narrowed.items() if value is not None and _PLAIN.get(name) != value]
    if given:
        raise MethodError(
            f"the method {_name(method)} gets (store, query, k) only, so {', '.join(given)} can't be heeded; filter "
            "inside it"
        )
