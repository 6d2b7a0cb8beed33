"""Care of a store: proving that its parts agree, encoders, copies."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memlab.changes import Change
from memlab.encoder_choice import resolve_encoder
from memlab.encoders import Encoder
from memlab.errors import EncoderMismatch, InvalidArgument, StorageError
from memlab.journal_backup import backup
from memlab.markup import table
from memlab.records import DEFAULT_SPACE
from memlab.store_embedder import Embedder, text_key
from memlab.store_history import Remembering

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


class Caring(Remembering):
    """The verbs that keep a store sound."""

    def check(self, *, repair: bool = False) -> Check:
        """Prove that file, table, indexes and graph agree.

        Parameters
        ----------
        repair : bool, default False
            Rebuild the derived parts (all but the file) from the file, and check again.

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
        with self._reading():
            if repair:
                self._rebuild()
            faults = self._journal.faults() or [*self._table_faults(), *self._index_faults(), *self._graph_faults()]
            vectors = sum(index.rows for index in self._embedder.indexes.values())
            figures = (
                ("memories", len(self._table)),
                ("associations", len(self._graph)),
                ("changes", self._applied),
                ("vectors in memory", vectors),
            )
        return Check(tuple(faults), figures, repair)

    def _table_faults(self) -> list[str]:
        kept = {row["memory_id"]: row for row in self._journal.current("memory")}
        held = {memory.memory_id: self._to_row(memory) for memory in self._table}
        faults = [f"{key!r} is in the file and not in the table" for key in kept.keys() - held.keys()]
        faults += [f"{key!r} is in the table and not in the file" for key in held.keys() - kept.keys()]
        faults += [f"{key!r} differs in file and table" for key in kept.keys() & held.keys() if kept[key] != held[key]]
        return faults

    def _index_faults(self) -> list[str]:
        faults = []
        if self._embedder.loaded and self._active is not None:
            keys = {text_key(m.text): m for m in self._table}
            for key, spans, blob in self._embedder.cache.read(self._embedder.fingerprint):
                memory = keys.pop(key, None)
                if memory is None:
                    continue
                slot = self._table.slots[memory.memory_id]
                index = self._embedder.indexes.get(memory.space)
                said = np.frombuffer(blob, dtype="<f4")
                held = index.vectors(slot) if index is not None else np.zeros((0, 1), dtype=np.float32)
                if said.any() and not np.array_equal(said, held.ravel()) and spans is None:
                    faults.append(f"the vector of {memory.memory_id!r} isn't that of its text")
        for space, lexical in (self._lexical or {}).items():
            slots = [self._table.slots[m.memory_id] for m in self._table if m.space == space]
            if len(lexical) != len(slots) or not all(slot in lexical for slot in slots):
                faults.append(f"the lexical index of {space!r} holds {len(lexical)} of {len(slots)} memories")
        return faults

    def _graph_faults(self) -> list[str]:
        kept = {(r["source"], r["relation"], r["target"]) for r in self._journal.current("association")}
        faults = [f"the association {' '.join(t)} differs in file and graph" for t in kept ^ self._graph.edges.keys()]
        for source, relation, target in kept:
            ends = [self._table.rows[self._table.slots[e]] for e in (source, target) if e in self._table.slots]
            if len({m.space for m in ends if m}) != 1 or len(ends) != 2:
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
        other = Embedder(self._journal, resolve_encoder(encoder))
        with self._reading():
            texts = [memory.text for memory in self._table]
        made = other.embed(texts, progress)

        def plan() -> list[Change]:
            missing = [memory.text for memory in self._table if memory.text not in made]
            other.keep({**made, **other.embed(missing)})
            rows = {row["fingerprint"]: row for row in self._journal.current("encoder")}
            changes = [
                Change(verb="encode", kind="encoder", key=key, before={"active": 1}, after={"active": 0})
                for key, row in rows.items()
                if row["active"] and key != other.fingerprint
            ]
            known = other.fingerprint in rows
            before, after = ({"active": 0}, {"active": 1}) if known else (None, other.row)
            self._embedder = other
            named = Change(verb="encode", kind="encoder", key=other.fingerprint, before=before, after=after)
            return [*changes, named]

        old = self._embedder
        try:
            self._commit(plan, actor=actor)
        except BaseException:
            self._embedder = old
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
        if self._active is None:
            return 0
        with self._reading(), self._journal.transaction():
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
            if name not in indexes:
                raise EncoderMismatch(f"the space {name!r} holds no embeddings yet; add memories first")
            owners = indexes[name].owners.tolist()
            return indexes[name].to_faiss(), [self._table.at(slot).memory_id for slot in owners]

    def backup(self, path: str | Path) -> Path:
        """Copy the store to a new file, while others write; restoring is opening it.

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
            raise InvalidArgument(f"path is {path!r}; give the name of a new file")
        target = Path(path).absolute()
        if not target.parent.is_dir():
            raise StorageError(f"{target.parent} isn't a folder; make it first, or check the path")
        with self._reading():
            self._telemetry.flush()
            backup(self._journal, target)
        return target
