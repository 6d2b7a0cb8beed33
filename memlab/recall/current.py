"""Current state: which memories are a thing of the past, and what stands in their place.

INVALIDATED_BY and EVOLVED_INTO read old to new, but people and agents also write them the other way round. So the
end that is superseded is decided by event time, the older one, and only on a tie by the direction of the
sentence. A memory is a thing of the past while an active memory supersedes it, at once or through others; active
is what isn't archived and is valid at the time asked about. Those others needn't be active: where a was replaced
by b and b by c, putting b away doesn't bring a back. The *heads* of a chain are its active ends, which no active
memory supersedes. In a cycle (all ends tie) the active memory with the first id is the head, so that something is
always left to show.

References
----------
R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1(2), 1972: a cycle is found
as a strongly connected component, and components come out with the ends of the chains first.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from memlab.records import Association, Memory

# Older id to newer id to the association that says so.
Links = Mapping[str, Mapping[str, Association]]


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


def links_of(associations: Iterable[Association], when: Callable[[str], Any]) -> dict[str, dict[str, Association]]:
    """Turn superseding associations the right way round.

    Parameters
    ----------
    associations : iterable of Association
        Of relations that supersede.
    when : callable
        Id to event time, in anything that compares.

    Returns
    -------
    dict of str to dict
        Older id to newer id to association; of several for one pair the one whose triple sorts first.
    """
    links: dict[str, dict[str, Association]] = {}
    for association in associations:
        past, present = association.source, association.target
        if when(present) < when(past):
            past, present = present, past
        known = links.setdefault(past, {})
        if present not in known or association.triple < known[present].triple:
            known[present] = association
    return links


def standing(following: Mapping[str, Collection[str]], active: Callable[[str], bool]) -> dict[str, tuple[str, ...]]:
    """Say what stands for each memory now.

    Parameters
    ----------
    following : mapping of str to collection of str
        Older id to newer ids, such as what :func:`links_of` gives.
    active : callable
        Whether the memory of an id counts now.

    Returns
    -------
    dict of str to tuple of str
        Of each id that is linked: its heads, sorted. It is a thing of the past if it has heads and isn't one
        of them; none are active where there is no head.

    Examples
    --------
    >>> standing({"a": ["b"], "b": ["c"]}, {"a", "c"}.__contains__)
    {'c': ('c',), 'b': ('c',), 'a': ('c',)}
    """
    return _settle(following, following, active)


def heads(memory_id: str, following: Mapping[str, Collection[str]]) -> list[str]:
    """Follow a chain of active memories to what stands at its end.

    Parameters
    ----------
    memory_id : str
        Where to start.
    following : mapping of str to collection of str
        Older id to newer ids, all of active memories.

    Returns
    -------
    list of str
        The memories that nothing supersedes, sorted; for a cycle without a way out its first id. The memory
        itself if nothing supersedes it.

    Examples
    --------
    >>> heads("a", {"a": ["b"], "b": ["c"]}), heads("x", {"x": ["y"], "y": ["x"]})
    (['c'], ['x'])
    """
    return list(_settle([memory_id], following, lambda _: True)[memory_id])


def _settle(
    starts: Iterable[str], following: Mapping[str, Collection[str]], active: Callable[[str], bool]
) -> dict[str, tuple[str, ...]]:
    """Find the heads of all that can be reached, cycles as one, by Tarjan's algorithm without recursion."""
    found: dict[str, tuple[str, ...]] = {}
    low: dict[str, int] = {}  # by id: the first of those still waiting that it leads back to
    place: dict[str, int] = {}
    waiting: list[str] = []  # seen, and not yet in a finished chain or cycle
    trail: list[tuple[str, Iterator[str]]] = []

    def enter(memory_id: str) -> None:
        low[memory_id] = place[memory_id] = len(waiting)
        waiting.append(memory_id)
        trail.append((memory_id, iter(following.get(memory_id, ()))))

    for start in starts:
        if start not in found:
            enter(start)
        while trail:
            here, others = trail[-1]
            for there in others:
                if there not in low:
                    enter(there)
                    break
                if there not in found:
                    low[here] = min(low[here], low[there])
            else:
                trail.pop()
                if trail:
                    low[trail[-1][0]] = min(low[trail[-1][0]], low[here])
                if low[here] == place[here]:
                    group = waiting[place[here] :]
                    del waiting[place[here] :]
                    found |= dict.fromkeys(group, _heads_of(group, following, active, found))
    return found


def _heads_of(
    group: list[str],
    following: Mapping[str, Collection[str]],
    active: Callable[[str], bool],
    found: Mapping[str, tuple[str, ...]],
) -> tuple[str, ...]:
    """The heads of one memory, or of those of a cycle: what stands beyond it, else its first active one."""
    beyond = [found[there] for here in group for there in following.get(here, ()) if there in found]
    if len(beyond) == 1 and beyond[0]:
        return beyond[0]
    return tuple(sorted({head for ends in beyond for head in ends})) or tuple(sorted(filter(active, group))[:1])


def chain(start: str, end: str, links: Links) -> list[Association]:
    """Give the associations from a memory of the past to what stands for it.

    Parameters
    ----------
    start, end : str
        Their ids.
    links : mapping
        What :func:`links_of` gave.

    Returns
    -------
    list of Association
        In order, as few as there can be; of several such ways the one whose ids sort first. Empty if none leads
        there.
    """
    came: dict[str, str] = {}
    waiting = [start]
    while waiting and end not in came:
        reached = []
        for here in waiting:
            for there in sorted(links.get(here, ())):
                if there != start and there not in came:
                    came[there] = here
                    reached.append(there)
        waiting = reached
    steps: list[Association] = []
    here = end
    while here in came:
        steps.append(links[came[here]][here])
        here = came[here]
    return steps[::-1]
