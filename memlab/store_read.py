"""Reading memories without a query."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from memlab.errors import InvalidArgument, MethodError
from memlab.filters import Filter, parse_filter
from memlab.phrases import parse_phrase
from memlab.recall.candidates import active, fitting, gather
from memlab.recall.method import STATES
from memlab.records import DEFAULT_SPACE, Memory
from memlab.store_associate import Associating
from memlab.store_items import choice
from memlab.store_parts import joined
from memlab.times import now, utc


class Reading(Associating):
    """The verbs and views that read memories."""

    def __len__(self) -> int:
        with self._reading():
            return len(self._table)

    def __contains__(self, memory_id: object) -> bool:
        with self._reading():
            return isinstance(memory_id, str) and (
                memory_id in self._table.slots or self._table.aliases.get(memory_id) in self._table.slots
            )

    def __iter__(self) -> Iterator[Memory]:
        with self._reading():
            counts = self._telemetry.access()
            return iter([joined(m, *counts.get(m.memory_id, (0, 0))) for m in self._table])

    def get(self, memory_id: str) -> Memory:
        """Find a memory by its id, or by the id of one that was merged into it.

        Parameters
        ----------
        memory_id : str
            The id.

        Returns
        -------
        Memory
            The memory.

        Raises
        ------
        UnknownMemory
            If there is none; also a KeyError.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> store.get(store.add("Tea.")).content
        'Tea.'
        """
        with self._reading():
            return self._counted(self._found(memory_id))

    @property
    def memories(self) -> pd.DataFrame:
        """All memories of all spaces, one row each in the order they came.

        A frame of the reader's own: later writes to the store don't change it, and changing it doesn't change
        the store. Times are ``datetime64[us, UTC]``; missing texts are NaN.
        """
        with self._reading():
            return self._table.frame(self._telemetry.access())

    def select(
        self,
        *,
        where: Any = None,
        tags: Any = None,
        tag_mode: str = "any",
        tag_match: str = "exact",
        exclude_tags: Any = None,
        since: Any = None,
        until: Any = None,
        time: str | None = None,
        space: Any = None,
        state: str = "history",
        at: Any = None,
        now: Any = None,
        zone: str | None = None,
    ) -> pd.DataFrame:
        """Find all memories that fit, without ranking.

        Parameters
        ----------
        where : mapping, optional
            Conditions on fields and metadata: see :mod:`memlab.filters`.
        tags, exclude_tags : str or list of str, optional
            Tags wanted and unwanted. Letter case doesn't count, ``/`` and ``:`` are the same.
        tag_mode : {"any", "all"}, default "any"
            Whether one wanted tag is enough.
        tag_match : {"exact", "prefix"}, default "exact"
            How tags are compared.
        since, until : datetime or str, optional
            Bounds on the event time: from since (inclusive) until until (exclusive).
        time : str, optional
            A date phrase for both, such as ``"last 2 weeks"``.
        space : str or list of str, optional
            Names or ids of spaces; ``"*"`` for all. By default ``"default"``.
        state : {"history", "current"}, default "history"
            Whether archived, expired, not yet valid and superseded memories are there too, or left out.
        at : datetime or str, optional
            The time that "current" means; by default now. There is none with ``state="history"``.
        now : datetime or str, optional
            The reference of `time`; by default the present.
        zone : str, optional
            The zone of times that name none; by default the store's.

        Returns
        -------
        DataFrame
            Rows of :attr:`memories`, in the order they came; no row is left out, however many there are.

        Raises
        ------
        FilterError, TimeError, UnknownSpace
            If a filter, a time or a space can't be read.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> _ = store.add_many([{"content": "Tea.", "tags": ["drink/hot"]}, {"content": "Rain."}])
        >>> store.select(tags="drink", tag_match="prefix")["content"].tolist()
        ['Tea.']
        """
        bounds = {"where": where, "tags": tags, "tag_mode": tag_mode, "tag_match": tag_match}
        wanted = self._filter(
            **bounds, exclude_tags=exclude_tags, since=since, until=until, time=time, now=now, zone=zone
        )
        self._check_state(state, at)
        moment = self._moment(at, zone, "at")
        with self._reading():
            slots = self._slots(wanted, self._space_names(space), state, moment)
            frame = self._table.frame(self._telemetry.access())
            places = np.flatnonzero(np.isin(np.flatnonzero(self._table.alive), slots))
        return frame.iloc[places].reset_index(drop=True)

    def _slots(self, wanted: Filter, spaces: tuple[str, ...], state: str, at: datetime) -> list[int]:
        if state == "current":
            pool = gather(self._parts({}, {}), spaces, wanted, state, at)
            return [int(slot) for slot in np.sort(pool.slots[: pool.count])]
        return [int(slot) for slot in np.flatnonzero(fitting(self._table, spaces, wanted))]

    def _filter(self, *, since: Any, until: Any, time: Any, now: Any, zone: Any, **bounds: Any) -> Filter:
        """Parse everything that bounds a reading but its spaces."""
        if time is not None:
            if since is not None or until is not None:
                raise InvalidArgument("give time or since and until, not both")
            interval = parse_phrase(time, self._moment(now, zone, "now"), zone or self._zone or "UTC")
            return parse_filter(**bounds, since=interval.start, until=interval.end)
        begin = None if since is None else self._moment(since, zone, "since")
        end = None if until is None else self._moment(until, zone, "until")
        return parse_filter(**bounds, since=begin, until=end)

    def _check_state(self, state: str, at: Any) -> None:
        choice("state", state, STATES)
        if state == "history" and at is not None:
            raise InvalidArgument("at says what 'current' means, and state='history' takes all times; leave one out")

    def _moment(self, value: Any, zone: str | None, what: str) -> datetime:
        return now() if value is None else utc(value, zone or self._zone, what)

    def _space_names(self, space: Any) -> tuple[str, ...]:
        """Give the names of the spaces asked for; a default space not made yet is an empty one."""
        if space is None:
            return (DEFAULT_SPACE,)
        if isinstance(space, str) and space == "*":
            return tuple(self._spaces)
        if not isinstance(space, Iterable):
            raise InvalidArgument(f"space is a {type(space).__name__}; give a name, a list of names, or '*' for all")
        names = [space] if isinstance(space, str) else list(space)
        if not names:
            raise MethodError("the list of spaces is empty; name one, or leave space out")
        return tuple(dict.fromkeys(self._space(name).name for name in names))

    def embeddings(self) -> pd.DataFrame:
        """Give the embeddings of all memories, made where they are missing.

        Returns
        -------
        DataFrame of float32
            One row a window, indexed by ``memory_id`` and ``window`` (from 0); one column a dimension. A frame
            of the reader's own. A text without anything to encode has no row.

        Raises
        ------
        EncoderMismatch
            If the store has no encoder, or another made its vectors.

        Examples
        --------
        >>> from memlab.encoders import HashEncoder
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=HashEncoder(dimension=8))
        >>> _ = store.add("Tea at four.")
        >>> store.embeddings().shape
        (1, 8)
        """
        with self._reading():
            indexes = self._dense()
            width = self._embedder.row["dimension"]
            found = [
                (memory.memory_id, window, vector)
                for memory in self._table
                if memory.space in indexes
                for window, vector in enumerate(indexes[memory.space].vectors(self._table.slots[memory.memory_id]))
            ]
        ids, windows = [row[0] for row in found], [row[1] for row in found]
        index = pd.MultiIndex.from_arrays([pd.array(ids, dtype="str"), windows], names=["memory_id", "window"])
        values = np.array([row[2] for row in found], dtype=np.float32).reshape(len(found), width)
        return pd.DataFrame(values, index=index)

    def describe(self) -> pd.Series:
        """Give the store in a few figures.

        Returns
        -------
        Series
            The path, which processes may have it open, counts of memories, associations, spaces and changes,
            the encoder, and how many memories are archived, superseded or without a known time.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> _ = store.add("Tea.")
        >>> int(store.describe()["memories"])
        1
        """
        with self._reading():
            frame = self._table
            alive = frame.alive
            present = self._slots(parse_filter(), tuple(self._spaces), "current", now())
            holds = int((active(frame, now()) & alive).sum())
            figures: Mapping[str, Any] = {
                "path": self._journal.name,
                "open to": self._sharing,
                "memories": len(frame),
                "associations": len(self._graph),
                "spaces": len(self._spaces),
                "changes": self._applied,
                "encoder": self._encoder_name(),
                "archived": int((frame.column("archived") & alive).sum()),
                "superseded": holds - len(present),
                "without event time": sum(memory.happened_at is None for memory in frame),
            }
        return pd.Series(figures, name="store", dtype=object)

    def _encoder_name(self) -> str:
        if self._active is not None:
            return str(self._active["name"])
        return "none" if self._embedder.encoder is None else str(self._embedder.encoder.name)
