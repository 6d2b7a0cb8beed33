"""Changes: the one currency of writing.

Every write is a list of changes. The journal writes them to the file and its log, each part in memory applies
them, other processes catch up by reading them, and undoing is applying their inverse.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from memlab.values import dumps


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One row of the change log: what one thing was before, and what it became.

    Parameters
    ----------
    verb : str
        What was done, such as ``"add"``.
    kind : {"memory", "association", "space", "relation", "encoder"}
        What it was done to.
    key : str
        The id of it; an association's source.
    relation, other : str, optional
        An association's relation and target.
    before, after : mapping, optional
        Rows. None before means it was made, None after means it was removed; in an update both hold
        the fields that changed and no others.
    actor : str, default "user"
        Who did it.
    seq, change, time : int
        Set by the journal: its place in the log, the number of the call it was part of (the seq of that
        call's first row), and microseconds since 1970.
    """

    verb: str
    kind: str
    key: str
    relation: str | None = None
    other: str | None = None
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    actor: str = "user"
    seq: int = 0
    change: int = 0
    time: int = 0

    @property
    def identity(self) -> tuple[str, ...]:
        """What was changed: its kind and its key, an association's whole triple."""
        return (self.kind, self.key, self.relation or "", self.other or "")

    @property
    def inverse(self) -> "Change":
        """The change that takes this one back."""
        return replace(self, verb="undo", before=self.after, after=self.before, seq=0, change=0, time=0)


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keep of two rows only the fields that differ.

    Parameters
    ----------
    before, after : mapping
        Rows with the same keys.

    Returns
    -------
    tuple of dict
        The differing fields as they were and as they became; both empty for equal rows.

    Examples
    --------
    >>> difference({"a": 1, "b": 2}, {"a": 1, "b": 3})
    ({'b': 2}, {'b': 3})
    """
    # As JSON, so that True and 1 differ, as do 1 and 1.0.
    keys = [key for key in after if dumps(before[key]) != dumps(after[key])]
    return {key: before[key] for key in keys}, {key: after[key] for key in keys}
