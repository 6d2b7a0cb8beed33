"""Recall: questions to a store."""

import math
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from time import perf_counter
from typing import Any

import pandas as pd

from memlab.errors import InvalidArgument, MethodError
from memlab.recall.engine import Answer, Request, answer
from memlab.recall.method import STATES, Method, preset
from memlab.recalls import Hit, Recall
from memlab.store_items import choice
from memlab.store_read import Reading
from memlab.text import check_text
from memlab.times import now, to_micros

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
            How many hits at the most, from 1 up. Fewer come where fewer fit.
        method : str, Method or callable, default "default"
            ``"lexical"``, ``"dense"``, ``"hybrid"``, ``"default"``, a :class:`~memlab.recall.method.Method`, or a
            function of ``(store, query, k)`` that gives memory ids or ``(memory_id, score)`` pairs, best
            first. A function filters for itself: filters given beside one are refused.
        space : str or list of str, optional
            Names or ids of the spaces to look in; ``"*"`` for all. By default ``"default"``.
        where, tags, tag_mode, tag_match, exclude_tags, since, until, time : optional
            Filters as for :meth:`select`; they cut before the k best are taken, in every channel.
        state : {"current", "history"}, default "current"
            Leave out what is archived, expired, not yet valid or superseded, the head of a chain of
            supersessions standing for its past; or rank all.
        at : datetime or str, optional
            The time that "current" means; by default `now`.
        now : datetime or str, optional
            The reference for relative dates and for ages; by default the present.
        zone : str, optional
            The zone of times and dates that name none; by default the store's, else UTC.
        min_relevance : float, default 0.0
            Hits of a smaller relevance are left out: see :mod:`memlab.recall.evidence`.
        diversify : float, optional
            In the place of the method's own: how much hits must differ, from 0 to 1.
        actor : str, default "user"
            Who asks, for the telemetry.

        Returns
        -------
        Recall or list of Recall
            The ranked hits; for a list of queries a list, in order.

        Raises
        ------
        InvalidArgument
            If the query is blank or k isn't a whole number from 1 up.
        MethodError, FilterError, TimeError, UnknownSpace
            If the method, a filter, a time or a space can't be read.
        EncoderMismatch
            If the method needs an encoder and the store has none, or another made its vectors.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> _ = store.add_many(["Ana moved to Oslo.", "The tea is green."])
        >>> store.recall("where did Ana move?", k=1)[0].memory.content
        'Ana moved to Oslo.'
        """
        single = isinstance(query, str)
        queries = [query] if isinstance(query, str) else list(query)
        for text in queries:
            check_text(text, "the query", error=InvalidArgument)
        _check_k(k)
        bounds = {"where": where, "tags": tags, "tag_mode": tag_mode, "tag_match": tag_match}
        wanted = self._filter(
            **bounds, exclude_tags=exclude_tags, since=since, until=until, time=time, now=now, zone=zone
        )
        choice("state", state, STATES)
        moment = self._moment(now, zone, "now")
        if not isinstance(method, str | Method):
            narrowed = {**bounds, "exclude_tags": exclude_tags, "since": since, "until": until, "time": time, "at": at}
            _refuse_beside_callable(method, narrowed, space, state, min_relevance, diversify)
            found = [self._own(method, text, k, moment, actor) for text in queries]
        else:
            chosen = preset(method) if isinstance(method, str) else method
            chosen = chosen if diversify is None else chosen.but(diversify=diversify)
            request = Request(
                method=chosen,
                k=k,
                spaces=(),
                wanted=wanted,
                state=state,
                at=moment if at is None else self._moment(at, zone, "at"),
                now=moment,
                zone=zone or self._zone or "UTC",
                min_relevance=_check_relevance(min_relevance),
            )
            found = self._answer(queries, request, space, actor)
        return found[0] if single else found

    def _answer(self, queries: list[str], request: Request, space: Any, actor: str) -> list[Recall]:
        method, notes = self._able(request.method)
        begin = perf_counter()
        # The one slow step that needs no state: it stays outside the lock.
        vectors = self._embedder.encode_queries(queries) if method.dense and queries else None
        encoding = (perf_counter() - begin) / max(1, len(queries))
        recalls = []
        with self._reading():
            spaces = self._space_names(space)
            request = replace(request, method=method, spaces=spaces)
            dense = self._dense() if method.dense else {}
            parts = self._parts(dense, self._words() if method.lexical else {})
            for query, found in zip(queries, answer(parts, request, queries, vectors), strict=True):
                if vectors is not None:
                    found.seconds["encode"] = encoding
                said = notes if found.hits else (*notes, *self._elsewhere(spaces))
                recalls.append(self._recall(query, request, found, said))
        for recall in recalls:
            self._note(recall, actor)
        return recalls

    def _able(self, method: Method) -> tuple[Method, tuple[str, ...]]:
        """Drop the dense channel where the store has no encoder, unless nothing else would rank."""
        if self._embedder.encoder is not None or not method.dense:
            return method, ()
        if not (method.lexical or method.temporal):
            raise MethodError(
                f"{method} needs an encoder, and the store was opened without one; open it with encoder=..."
            )
        return method.but(dense=0.0), ("The store has no encoder, so the dense channel is silent.",)

    def _elsewhere(self, spaces: tuple[str, ...]) -> tuple[str, ...]:
        """Say which other spaces hold memories, for an empty recall."""
        counts: dict[str, int] = {}
        for memory in self._table:
            if memory.space not in spaces:
                counts[memory.space] = counts.get(memory.space, 0) + 1
        if not counts:
            return ()
        listed = ", ".join(f"{name!r} ({count})" for name, count in sorted(counts.items()))
        return (f"Nothing found here; other spaces hold memories: {listed}.",)

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
        if not callable(method):
            raise MethodError(
                f"method is a {type(method).__name__}; give a name, a Method or a function of (store, query, k)"
            )
        name = getattr(method, "__name__", type(method).__name__)
        begin = perf_counter()
        ranking = [_pair(item, rank, name) for rank, item in enumerate(method(self, query, k))]
        seconds = {name: perf_counter() - begin}
        ids = [memory_id for memory_id, _ in ranking]
        if len(set(ids)) < len(ids):
            raise MethodError(f"the method {name} gave a memory twice; each may come once")
        with self._reading():
            hits = tuple(
                Hit(rank, self._table.get(memory_id), score, min(max(score, 0.0), 1.0))
                for rank, (memory_id, score) in enumerate(ranking[:k], start=1)
            )
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
                "k": recall.k,
                "store_seq": recall.store_seq,
                "seconds": sum(recall.seconds.values()),
                "candidates": recall.candidates,
                "hits": [[hit.memory_id, hit.score, hit.relevance] for hit in recall.hits],
            }
        )

    @property
    def recalls(self) -> pd.DataFrame:
        """All recalls so far, oldest first: when, by whom, the query, the method, and ids and scores of the hits."""
        return _frame(self._telemetry.recalls(), RECALL_FRAME)

    @property
    def calls(self) -> pd.DataFrame:
        """All tool calls of agents so far, oldest first: when, by whom, which tool, how long, whether it worked."""
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


def _check_k(k: Any) -> None:
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InvalidArgument(f"k is {k!r}; it must be a whole number from 1 up")


def _check_relevance(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidArgument(f"min_relevance is {value!r}; it must be a number from 0 to 1")
    return float(value)


def _pair(item: Any, rank: int, name: str) -> tuple[str, float]:
    """Read what a caller's function ranks: an id, or an id and a score."""
    if isinstance(item, str):
        return item, 1.0 / (1 + rank)
    if isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], str):
        score = float(item[1])
        if not math.isnan(score):
            return item[0], score
    raise MethodError(
        f"the method {name} gave {item!r}; it must give memory ids or (memory_id, score) pairs, scores no NaN"
    )


def _refuse_beside_callable(
    method: Any, bounds: dict[str, Any], space: Any, state: str, min_relevance: float, diversify: Any
) -> None:
    plain = {"tag_mode": "any", "tag_match": "exact"}
    given = [name for name, value in bounds.items() if value is not None and plain.get(name) != value]
    given += ["space"] if space is not None else []
    given += ["state"] if state != "current" else []
    given += ["min_relevance"] if min_relevance else []
    given += ["diversify"] if diversify is not None else []
    if given:
        name = getattr(method, "__name__", type(method).__name__)
        raise MethodError(
            f"the method {name} gets (store, query, k) only, so {', '.join(given)} can't be heeded; filter inside it"
        )
