"""The state of a store: its parts in memory, built from the journal and kept in step by applying changes.

Applying a change to memory is deterministic, so that all processes that read one log hold the same state. If
applying fails, the state is stale and is rebuilt from the journal before the next answer.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from memlab.changes import Change
from memlab.errors import CorruptStore, InvalidAssociation, MemlabError, UnknownSpace, shown
from memlab.graph import Graph
from memlab.journal import Journal
from memlab.kept_rows import kept_memory
from memlab.lexical import LexicalIndex
from memlab.recall.pool import Held
from memlab.records import Memory, Space, association_from, association_row, memory_row
from memlab.store_embedder import Embedder
from memlab.store_vectors import Embedding
from memlab.table import Table
from memlab.text import match_key
from memlab.times import from_micros, to_micros
from memlab.vocabulary import RELATIONS, Relation

if TYPE_CHECKING:
    import networkx as nx

ContentKey = tuple[str, str]
TOGETHER = 5_000  # texts that the lexical index takes in at a time: more would need more memory, and aren't faster


@dataclass(frozen=True, slots=True)
class Fresh:
    """What a writer has at hand of the things it writes, so that they needn't be made again.

    Parameters
    ----------
    embeddings : dict of str to Embedding
        By text.
    memories : dict of str to Memory
        By id, as they will be when the changes are applied.
    """

    embeddings: dict[str, Embedding] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)


class State:
    """Everything a store holds in memory.

    Parameters
    ----------
    journal : Journal
        The open journal.
    embedder : Embedder
        With the store's encoder.
    """

    _graph_made: "tuple[tuple[int, int], nx.MultiDiGraph] | None"

    def __init__(self, journal: Journal, embedder: Embedder) -> None:
        self._journal = journal
        self._embedder = embedder
        self._rebuild()

    def _rebuild(self) -> None:
        """Read everything from the journal anew."""
        self._stale = True  # until all is read
        self._table, self._graph = Table(), Graph()
        self._lexical: dict[str, LexicalIndex] | None = None
        self._unsaid: set[int] = set()  # slots of memories that the lexical indexes take in when they are next asked
        self._contents: dict[ContentKey, dict[str, None]] | None = None
        self._graph_made = None
        self._embedder.drop()
        self._spaces: dict[str, Space] = {}
        self._names: dict[str, str] = {}  # of spaces, by id
        self._relations: dict[str, Relation] = dict(RELATIONS)
        self._held = Held()
        self._active: dict[str, Any] | None = None
        with self._journal.snapshot():
            self._applied = self._journal.head()
            for kind in ("space", "relation", "encoder", "memory", "association"):
                for row in self._journal.current(kind):
                    self._read(kind, row)
        self._stale = False

    def _read(self, kind: str, row: dict[str, Any]) -> None:
        """Take in one row of the file."""
        name = next(iter(row.values()))
        try:
            if kind == "memory":
                self._table.put(self._memory(row))
            elif kind == "association":
                self._graph.put(association_from(row))
            else:
                _APPLY[kind](self, Change(verb="read", kind=kind, key=str(name), after=row), Fresh())
        except (MemlabError, TypeError, ValueError, KeyError, OverflowError) as error:
            raise CorruptStore(
                f"{self._journal.name}: the {kind} {name!r} is damaged ({error}); nothing was changed, the others "
                "are readable. Restore it from a backup"
            ) from error

    def _apply_all(self, changes: Iterable[Change], fresh: Fresh) -> None:
        try:
            for change in changes:
                _APPLY[change.kind](self, change, fresh)
                self._applied = change.seq
        except BaseException:
            # The file has it and memory only half of it: rebuild before the next answer.
            self._stale = True
            raise

    def _apply_memory(self, change: Change, fresh: Fresh) -> None:
        slot = self._table.slots.get(change.key)
        old = None if slot is None else self._table.at(slot)
        if old is None and change.before is not None:
            return  # an update or removal of what was forgotten since
        row = self._row_after(change)
        memory = None if row is None else fresh.memories.get(change.key) or self._memory(row)
        moved = old is None or memory is None or old.text != memory.text or old.space != memory.space
        self._note_content(old, memory)
        if slot is not None and old is not None and moved:
            self._embedder.remove(old, slot)
            self._drop_words(old, slot)
        if memory is None:
            self._remove(change.key)
            return
        slot = self._table.put(memory)
        if moved:
            self._embedder.put(memory, slot, fresh.embeddings)
            self._unsaid.add(slot)

    def _drop_words(self, memory: Memory, slot: int) -> None:
        """Take a memory out of the lexical index, if it is in already."""
        if slot in self._unsaid:
            self._unsaid.remove(slot)
        elif self._lexical is not None:
            self._lexical[memory.space].remove([slot])

    def _take_words(self) -> dict[str, LexicalIndex]:
        """Bring the lexical indexes up to date: most writes aren't followed by a recall at once, and many cost less."""
        if self._lexical is None:
            self._unsaid = set(self._table.slots.values())
        # What an interrupt leaves half-filled is made anew.
        lexical, self._lexical = self._lexical or {}, None
        by_space: dict[str, list[int]] = {}
        for slot in sorted(self._unsaid):
            by_space.setdefault(self._table.at(slot).space, []).append(slot)
        for space, slots in by_space.items():
            index = lexical.setdefault(space, LexicalIndex())
            for at in range(0, len(slots), TOGETHER):
                some = slots[at : at + TOGETHER]
                index.add(some, [self._table.at(slot).text for slot in some])
        self._lexical, self._unsaid = lexical, set()
        return lexical

    def _remove(self, memory_id: str) -> None:
        """Take a memory out, and any association that would be left with one end."""
        for association in self._graph.touching(memory_id):
            self._graph.remove(association.triple)
        if memory_id in self._table.slots:
            self._table.remove(memory_id)

    def _row_after(self, change: Change) -> dict[str, Any] | None:
        """Give the row of the memory that a change leaves, None where it leaves none."""
        if change.after is None:
            return None
        return dict(change.after) if change.before is None else self._row(change.key) | dict(change.after)

    def _note_content(self, old: Memory | None, memory: Memory | None) -> None:
        if self._contents is None:
            return
        if old is not None:
            self._contents.get(content_key(old), {}).pop(old.memory_id, None)
        if memory is not None:
            self._contents.setdefault(content_key(memory), {})[memory.memory_id] = None

    def _same_content(self, key: ContentKey) -> str | None:
        """Find the memory that said the same first."""
        if self._contents is None:
            contents: dict[ContentKey, dict[str, None]] = {}
            for memory in self._table:
                contents.setdefault(content_key(memory), {})[memory.memory_id] = None
            self._contents = contents
        return next(iter(self._contents.get(key, ())), None)

    def _apply_association(self, change: Change, fresh: Fresh) -> None:
        triple = (change.key, change.relation or "", change.other or "")
        if change.after is None:
            if triple in self._graph.edges:
                self._graph.remove(triple)
        elif change.before is None:
            self._graph.put(association_from(change.after))
        elif triple in self._graph.edges:  # else an end was forgotten since
            self._graph.put(association_from(association_row(self._graph.get(triple)) | dict(change.after)))

    def _apply_space(self, change: Change, fresh: Fresh) -> None:
        old = self._spaces.pop(self._names.pop(change.key, ""), None)
        if change.after is None:
            return
        row = (space_row(old) if old else {}) | dict(change.after)
        space = Space(row["space_id"], row["name"], row["description"], from_micros(row["created_at"]))
        self._names[space.space_id] = space.name
        self._spaces[space.name] = space
        if old is not None and old.name != space.name:
            self._rename(old.name, space.name)

    def _rename(self, old: str, new: str) -> None:
        """Give every memory of a space, and its indexes, the space's new name."""
        for memory in self._table:
            if memory.space == old:
                self._table.put(replace(memory, space=new))
        if self._lexical is not None and old in self._lexical:
            self._lexical[new] = self._lexical.pop(old)
        self._embedder.rename(old, new)
        self._contents = None

    def _apply_relation(self, change: Change, fresh: Fresh) -> None:
        if change.after is None:
            self._relations.pop(change.key, None)
            return
        options = change.after["definition"]
        self._relations[change.key] = Relation(
            change.key, **{**options, "dash": tuple(options["dash"]), "properties": tuple(options["properties"])}
        )

    def _apply_encoder(self, change: Change, fresh: Fresh) -> None:
        if change.after is not None and change.after["active"]:
            known = {row["fingerprint"]: row for row in self._journal.current("encoder")}
            self._active = known[change.key]

    def _memory(self, row: Mapping[str, Any]) -> Memory:
        """Make a memory of a row of the file, where spaces stand by id."""
        name = self._names.get(row["space"])
        if name is None:
            raise CorruptStore(f"{self._journal.name}: {row['memory_id']!r} lives in a space that isn't in the file")
        return kept_memory(row, name)

    def _row(self, memory_id: str) -> dict[str, Any]:
        """Give a memory of the store as a row of the file."""
        return self._to_row(self._table.get(memory_id))

    def _to_row(self, memory: Memory) -> dict[str, Any]:
        return {**memory_row(memory), "space": self._space(memory.space).space_id}

    def _space(self, name: str) -> Space:
        """Find a space by name or id."""
        found = None
        if isinstance(name, str):
            found = self._spaces.get(name) or self._spaces.get(self._names.get(name, ""))
        if found is None:
            known = ", ".join(map(repr, sorted(self._spaces))) or "none yet"
            raise UnknownSpace(f"no space is called {shown(name)}; there are: {known}")
        return found

    def _relation(self, name: str) -> Relation:
        """Find a relation that may be authored."""
        relation = self._relations.get(name) if isinstance(name, str) else None
        if relation is None or not relation.authorable:
            allowed = ", ".join(r.name for r in self._relations.values() if r.authorable)
            why = "is derived by memlab and can't be written" if relation else "isn't a relation"
            raise InvalidAssociation(f"{shown(name)} {why}; use one of {allowed}, or store.register_relation")
        return relation


def content_key(memory: Memory) -> ContentKey:
    """Give what two memories share that say the same in one space.

    Parameters
    ----------
    memory : Memory
        The memory.

    Returns
    -------
    tuple of str
        Its space, and its content but for letter case, composition and blanks at the ends.
    """
    return memory.space, match_key(memory.content.strip())


def space_row(space: Space) -> dict[str, Any]:
    """Turn a space into its plain row.

    Parameters
    ----------
    space : Space
        The space.

    Returns
    -------
    dict
        As the file holds it.
    """
    made = None if space.created_at is None else to_micros(space.created_at)
    return {"space_id": space.space_id, "name": space.name, "description": space.description, "created_at": made}


_APPLY: dict[str, Callable[[State, Change, Fresh], None]] = {
    "memory": State._apply_memory,
    "association": State._apply_association,
    "space": State._apply_space,
    "relation": State._apply_relation,
    "encoder": State._apply_encoder,
}
