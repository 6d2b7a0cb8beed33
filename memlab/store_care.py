"""Care of a store: proving that its parts agree, encoders, copies."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memlab.changes import Change
from memlab.encoder_choice import resolve_encoder
from memlab.encoders import Encoder
from memlab.errors import InvalidArgument, StorageError, StoreBusy, shown
from memlab.index import DenseIndex
from memlab.journal_backup import backup
from memlab.journal_telemetry import PATIENCE
from memlab.markup import table
from memlab.records import DEFAULT_SPACE, Memory, association_row
from memlab.store_embedder import Embedder
from memlab.store_items import switch
from memlab.store_state import space_row
from memlab.store_undo import Undoing
from memlab.store_vectors import text_key

if TYPE_CHECKING:
    import faiss


@dataclass(frozen=True, slots=True)
class Check:
    """What a check of a store found.

    Parameters
    ----------
    faults : tuple of str
        One sentence each; empty for a sound store.
    figures : tuple of (str, int)
        What was counted.
    repaired : bool
        Whether the derived parts were rebuilt.
    """

    faults: tuple[str, ...]
    figures: tuple[tuple[str, int], ...]
    repaired: bool = False

    @property
    def ok(self) -> bool:
        """True for a sound store."""
        return not self.faults

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        counted = ", ".join(f"{count:,} {what}" for what, count in self.figures)
        head = "sound" if self.ok else f"{len(self.faults)} faults"
        return "\n".join([f"{head}: {counted}", *self.faults])

    def _repr_html_(self) -> str:
        rows = [*((what, f"{count:,}") for what, count in self.figures), *(("fault", fault) for fault in self.faults)]
        return table(("part", "found"), rows, caption="sound" if self.ok else f"{len(self.faults)} faults")


class Caring(Undoing):
    """The verbs that keep a store sound."""

    def check(self, *, repair: bool = False) -> Check:
        """Prove that file, table, indexes and graph agree.

        Parameters
        ----------
        repair : bool, default False
            Rebuild the derived parts (all but the file) from the file, unless that is damaged, and check again.

        Returns
        -------
        Check
            True for a sound store; its faults otherwise, one sentence each.

        Examples
        --------
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> _ = store.add("Tea.")
        >>> store.check().ok
        True
        """
        switch("repair", repair)
        with self._reading():
            self._embedder.settle()
            faults = self._journal.faults()
            # Of a damaged file nothing else can be said, and what is in memory may be the last whole copy.
            repaired = repair and not faults
            if repaired:
                self._rebuild()
                self._drop_broken_vectors()
            parts = (self._vector_faults, self._table_faults, self._index_faults, self._graph_faults)
            with self._journal.snapshot():  # so that what others write meanwhile isn't taken for a fault
                self._catch_up()
                faults = faults or [fault for part in parts for fault in part()]
            vectors = sum(index.rows for index in self._embedder.indexes.values())
            figures = (
                ("memories", len(self._table)),
                ("associations", len(self._graph)),
                ("changes", self._applied),
                ("vectors in memory", vectors),
            )
        return Check(tuple(faults), figures, repaired)

    def _drop_broken_vectors(self) -> None:
        broken = self._embedder.cache.broken()
        if broken and not self._journal.read_only:
            with self._journal.transaction():
                self._embedder.cache.drop(broken)

    def _vector_faults(self) -> list[str]:
        broken = len(self._embedder.cache.broken())
        return [f"{broken} rows of the vector cache are damaged; they are made anew when needed"] if broken else []

    def _table_faults(self) -> list[str]:
        kept = {row["memory_id"]: row for row in self._journal.current("memory")}
        held = {memory.memory_id: self._to_row(memory) for memory in self._table}
        faults = [f"{key!r} is in the file and not in the table" for key in kept.keys() - held.keys()]
        faults += [f"{key!r} is in the table and not in the file" for key in held.keys() - kept.keys()]
        faults += [f"{key!r} differs in file and table" for key in kept.keys() & held.keys() if kept[key] != held[key]]
        spaces = {row["space_id"]: row for row in self._journal.current("space")}
        if spaces != {space.space_id: space_row(space) for space in self._spaces.values()}:
            faults.append("the spaces differ in file and memory")
        return faults

    def _index_faults(self) -> list[str]:
        faults = []
        slots: dict[str, list[int]] = {space: [] for space in self._spaces}
        for memory in self._table:
            slots[memory.space].append(self._table.slots[memory.memory_id])
        for space, lexical in ({} if self._lexical is None else self._words()).items():
            there = slots.get(space, [])
            if len(lexical) != len(there) or not all(slot in lexical for slot in there):
                faults.append(f"the lexical index of {space!r} holds {len(lexical)} of {len(there)} memories")
        for space, dense in self._embedder.indexes.items():
            dead = set(dense.owners.tolist()) - set(slots.get(space, []))
            faults += [f"the dense index of {space!r} holds {len(dead)} memories that aren't there"] if dead else []
        return faults + (self._dense_faults() if self._embedder.loaded else [])

    def _dense_faults(self) -> list[str]:
        """Compare the vectors in memory with those that the file keeps for the texts as they are."""
        owners: dict[bytes, list[Memory]] = {}
        for memory in self._table:
            owners.setdefault(text_key(memory.text), []).append(memory)
        faults = []
        for key, _, blob in self._embedder.cache.read(self._embedder.fingerprint):
            kept = np.frombuffer(blob, dtype="<f4").reshape(-1, self._embedder.row["dimension"])
            kept = kept[kept.any(axis=1)]
            for memory in owners.get(key, []):
                if self._embedder.waits(memory.memory_id):
                    continue
                index = self._embedder.indexes.get(memory.space)
                held = kept[:0] if index is None else index.vectors(self._table.slots[memory.memory_id])
                if not np.array_equal(kept, held):
                    faults.append(f"the vector of {memory.memory_id!r} isn't that of its text")
        return faults

    def _graph_faults(self) -> list[str]:
        kept = {(r["source"], r["relation"], r["target"]): r for r in self._journal.current("association")}
        held = {a.triple: association_row(a) for a in self._graph}
        differing = [t for t in kept.keys() | held.keys() if kept.get(t) != held.get(t)]
        faults = [f"the association {' '.join(t)} differs in file and graph" for t in differing]
        for source, relation, target in kept:
            ends = [self._table.get(end) for end in (source, target) if end in self._table.slots]
            if len({m.space for m in ends}) != 1 or len(ends) != 2:
                faults.append(f"the association {source} {relation} {target} has an end that is missing or elsewhere")
        return faults

    def reencode(self, encoder: Encoder | str, *, progress: bool = True, actor: str = "user") -> None:
        """Make embeddings by another encoder for all memories, and use it from now on.

        The old vectors stay in the file until :meth:`prune_vectors`.

        Parameters
        ----------
        encoder : Encoder or str
            The encoder, or the name of a sentence-transformers model.
        progress : bool, default True
            Show a bar when it takes long.
        actor : str, default "user"
            Who does it, for the log.

        Examples
        --------
        >>> from memlab.encoders import HashEncoder
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=HashEncoder(dimension=8))
        >>> _ = store.add("Tea.")
        >>> store.reencode(HashEncoder(dimension=16))
        >>> store.embeddings().shape
        (1, 16)
        """
        self._check_writable()
        switch("progress", progress)
        other = Embedder(self._journal, resolve_encoder(encoder))
        with self._reading():
            texts = [memory.text for memory in self._table]
        made = other.embed(texts, progress)
        old = self._embedder

        def plan() -> list[Change]:
            missing = [memory.text for memory in self._table if memory.text not in made]
            other.keep({**made, **other.embed(missing)})
            rows = {row["fingerprint"]: row for row in self._journal.current("encoder")}
            changes = [
                Change(verb="encode", kind="encoder", key=key, before={"active": 1}, after={"active": 0})
                for key, row in rows.items()
                if row["active"] and key != other.fingerprint
            ]
            if other.fingerprint not in rows:
                changes.append(Change(verb="encode", kind="encoder", key=other.fingerprint, after=other.row))
            elif not rows[other.fingerprint]["active"]:
                active: dict[str, Any] = {"before": {"active": 0}, "after": {"active": 1}}
                changes.append(Change(verb="encode", kind="encoder", key=other.fingerprint, **active))
            self._embedder = other
            return changes

        try:
            self._commit(plan, actor=actor)
        except BaseException:
            self._embedder = old
            self._stale = True  # whether it was written or not: read again what the file says
            raise

    def prune_vectors(self) -> int:
        """Drop the vectors that no memory needs: other encoders', and those of texts that are gone.

        Returns
        -------
        int
            How many were dropped.

        Examples
        --------
        >>> from memlab.encoders import HashEncoder
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=HashEncoder(dimension=8))
        >>> _ = store.update(store.add("Tea."), content="Green tea.")
        >>> store.prune_vectors()
        1
        """
        self._check_writable()
        with self._reading(), self._journal.transaction():
            self._catch_up()
            if self._active is None:
                return 0
            keys = {text_key(memory.text) for memory in self._table}
            return self._embedder.cache.prune(self._active["fingerprint"], keys)

    def faiss_index(self, space: str = DEFAULT_SPACE) -> "tuple[faiss.Index, list[str]]":
        """Hand out the embeddings of a space as a FAISS index, for those who go on with FAISS themselves.

        Parameters
        ----------
        space : str, default "default"
            Name or id of the space.

        Returns
        -------
        index : faiss.IndexFlatIP
            Exact inner product over a copy of the unit vectors.
        memory_ids : list of str
            The memory of each row; one that has several windows comes several times.

        Raises
        ------
        EncoderMismatch
            If the store has no encoder, or another made its vectors.

        Examples
        --------
        >>> from memlab.encoders import HashEncoder
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=HashEncoder(dimension=8))
        >>> tea = store.add("Tea.")
        >>> index, ids = store.faiss_index()
        >>> index.ntotal, ids == [tea]
        (1, True)
        """
        with self._reading():
            name = self._space(space).name
            indexes = self._dense()
            index = indexes.get(name) or DenseIndex(self._embedder.row["dimension"])
            return index.to_faiss(), [self._table.at(slot).memory_id for slot in index.owners.tolist()]

    def backup(self, path: str | Path) -> Path:
        """Copy the store to a new file, while others write; restoring is opening it.

        The copy holds all that was committed, and telemetry but for the last half second's where another
        process is writing.

        Parameters
        ----------
        path : str or Path
            A file that doesn't exist yet.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        StorageError
            If it exists, or can't be written.

        Examples
        --------
        >>> import tempfile
        >>> from memlab.store import MemoryStore
        >>> store = MemoryStore(encoder=None)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     store.backup(folder + "/copy.memlab").name
        'copy.memlab'
        """
        if not isinstance(path, str | Path) or not str(path):
            raise InvalidArgument(f"path is {shown(path)}; give the name of a new file")
        target = Path(path).absolute()
        if not target.parent.is_dir():
            raise StorageError(f"{target.parent} isn't a folder; make it first, or check the path")
        with self._reading():
            with suppress(StoreBusy):
                self._telemetry.flush(PATIENCE)
            backup(self._journal, target)
        return target
