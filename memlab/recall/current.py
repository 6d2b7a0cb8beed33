"""Current state: which memories are a thing of the past, and what stands in their place.

INVALIDATED_BY and EVOLVED_INTO read old to new, but people and agents also write them the other way round. So the
end that is superseded is decided by event time, the older one, and only on a tie by the direction of the
sentence. A memory is superseded while a memory that supersedes it is active: not archived, and valid at the time
asked about. The memories that supersede one another form chains; the *head* is what no active memory
supersedes. In a cycle (all ends tie) the first id is the head, so that something is always left to show.
"""

from collections.abc import Callable, Iterable

from memlab.records import Association, Memory


def superseded_end(association: Association, source: Memory, target: Memory) -> str:
    """Say which end of a superseding association is the thing of the past.

    Parameters
    ----------
    association : Association
        Of a relation that supersedes.
    source, target : Memory
        Its ends.

    Returns
    -------
    str
        The id of the older by event time; of the source if they tie.

    Examples
    --------
    >>> from datetime import datetime, timezone
    >>> def made(id, day):
    ...     t = datetime(2024, 5, day, tzinfo=timezone.utc)
    ...     return Memory(memory_id=id, content="x", created_at=t, updated_at=t)
    >>> new, old = made("new", 2), made("old", 1)
    >>> a = Association(source="new", relation="INVALIDATED_BY", target="old",
    ...                 created_at=new.created_at, updated_at=new.created_at)
    >>> superseded_end(a, new, old)
    'old'
    """
    return association.target if target.event_time < source.event_time else association.source


def successors(
    associations: Iterable[Association], get: Callable[[str], Memory], active: Callable[[Memory], bool]
) -> dict[str, list[str]]:
    """Map each superseded memory to the active ones that supersede it.

    Parameters
    ----------
    associations : iterable of Association
        Of relations that supersede.
    get : callable
        Id to memory.
    active : callable
        Whether a memory counts now.

    Returns
    -------
    dict of str to list of str
        Superseded id to superseding ids.
    """
    found: dict[str, list[str]] = {}
    for association in associations:
        source, target = get(association.source), get(association.target)
        past = superseded_end(association, source, target)
        present = target if past == association.source else source
        if active(present):
            found.setdefault(past, []).append(present.memory_id)
    return found


def heads(memory_id: str, following: dict[str, list[str]]) -> list[str]:
    """Follow a chain to what stands at its end.

    Parameters
    ----------
    memory_id : str
        Where to start.
    following : dict of str to list of str
        What :func:`successors` gave.

    Returns
    -------
    list of str
        The memories that nothing supersedes; of a cycle without a way out, its first id. The memory itself
        if nothing supersedes it.

    Examples
    --------
    >>> heads("a", {"a": ["b"], "b": ["c"]}), heads("x", {"x": ["y"], "y": ["x"]})
    (['c'], ['x'])
    """
    seen, waiting, ends = {memory_id}, [memory_id], []
    while waiting:
        here = waiting.pop()
        if here not in following:
            ends.append(here)
        for there in following.get(here, ()):
            if there not in seen:
                seen.add(there)
                waiting.append(there)
    return sorted(ends) or [min(seen)]
