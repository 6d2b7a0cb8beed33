"""Two states of a store, side by side."""

from dataclasses import dataclass

import pandas as pd

from memlab.markup import table
from memlab.records import Association, Memory
from memlab.text import snippet
from memlab.vocabulary import RELATIONS


@dataclass(frozen=True, slots=True)
class Diff:
    """What is different in a later state of a store.

    Parameters
    ----------
    added, removed : tuple of Memory
        Memories that only the later, or only the earlier state has.
    changed : tuple of (Memory, Memory)
        Memories of both that differ, as they were and as they became.
    associated, dissociated : tuple of Association
        Associations that only the later, or only the earlier state has. One whose strength or properties
        changed is in both.
    """

    added: tuple[Memory, ...] = ()
    removed: tuple[Memory, ...] = ()
    changed: tuple[tuple[Memory, Memory], ...] = ()
    associated: tuple[Association, ...] = ()
    dissociated: tuple[Association, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.associated or self.dissociated)

    @property
    def superseded(self) -> tuple[Association, ...]:
        """The new associations that make one of their ends a thing of the past."""
        return tuple(a for a in self.associated if a.relation in RELATIONS and RELATIONS[a.relation].supersedes)

    @property
    def frame(self) -> pd.DataFrame:
        """One row a difference: what happened, the memory or the triple, and the text."""
        return pd.DataFrame(self._rows(), columns=["change", "what", "text"])

    def _rows(self) -> list[tuple[str, str, str]]:
        rows = [("added", m.memory_id, snippet(m.content, 120)) for m in self.added]
        rows += [("removed", m.memory_id, snippet(m.content, 120)) for m in self.removed]
        rows += [("changed", new.memory_id, snippet(new.content, 120)) for _, new in self.changed]
        rows += [("associated", " ".join(a.triple), f"strength {a.strength:.2f}") for a in self.associated]
        rows += [("dissociated", " ".join(a.triple), f"strength {a.strength:.2f}") for a in self.dissociated]
        return rows

    def __repr__(self) -> str:
        counts = (
            f"{len(self.added)} added, {len(self.removed)} removed, {len(self.changed)} changed, "
            f"{len(self.associated)} associated, {len(self.dissociated)} dissociated"
        )
        return f"Diff({counts})"

    def _repr_html_(self) -> str:
        return table(("change", "what", "text"), self._rows(), caption=repr(self))
