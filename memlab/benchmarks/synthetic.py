"""Synthetic stores of any size, with questions whose answers are known because they were put there.

A made-up world is told person by person, as a *chapter* of up to seventeen memories: a job at a house (and, once a
house, the town it is in), one to three homes of which each makes the one before a thing of the past, a favourite
dish, a badge number, a project (and, once a project, what it is about and two claims of its end that contradict
each other), three meetings, and three memories that answer nothing but share the names and topics. What is left
of the wanted size is filled with more of those. Everything has a date in 2022 or 2023; the questions are asked on
8 January 2024.

=============  =====================================================================  ======================
kind           a question                                                             relevant
=============  =====================================================================  ======================
lexical        Who has the badge KV-4821?                                             the one that says so
semantic       What does Ana Lindholm do for a living?                                the one that says so
multi-hop      In which town does Ana Lindholm work?                                  her job; the house's town
superseded     Where does Ana Lindholm live now?                                      her last home only
contradiction  When will Project Amber Heron be finished?                             both claims
temporal       Whom did Ana Lindholm meet in March 2023?                              all meetings of then
unanswerable   Which instrument does Ana Lindholm play?                               nothing
=============  =====================================================================  ======================

Multi-hop questions go through a name that two memories share, or through a PART_OF association. Homes are joined
by INVALIDATED_BY (old to new), claims by CONTRADICTS.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, TypeVar

from memlab.benchmarks import synthetic_words as words
from memlab.errors import InvalidArgument
from memlab.trials import Benchmark, Qrels, Query

Item = TypeVar("Item")

KINDS = ("lexical", "semantic", "multi-hop", "superseded", "contradiction", "temporal", "unanswerable")
START = datetime(2022, 1, 3, tzinfo=UTC)
DAYS = 727
NOW = datetime(2024, 1, 8, 9, tzinfo=UTC)
CHAPTER = 17
PER_HOUSE, PER_PROJECT = 4, 3


def synthetic(n: int = 1000, seed: int = 0, *, queries: int = 20) -> Benchmark:
    """Make a synthetic store with questions.

    Parameters
    ----------
    n : int, default 1000
        How many memories, from 1 up.
    seed : int, default 0
        The same seed gives the same benchmark, on every machine and with every version of Python and numpy.
    queries : int, default 20
        How many questions of each kind at the most. Small stores have fewer: below 17 memories there is no
        whole chapter, and no question.

    Returns
    -------
    Benchmark
        Level ``"memory"``; memory ids count in order of time; every query has the slice ``kind``.

    Raises
    ------
    InvalidArgument
        If an argument isn't a whole number in its range.

    Examples
    --------
    >>> bench = synthetic(n=200, seed=1)
    >>> len(bench.memories), bench.queries[0].slices["kind"]
    (200, 'lexical')
    """
    for name, value, least in (("n", n, 1), ("seed", seed, 0), ("queries", queries, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InvalidArgument(f"{name} is {value!r}; it must be a whole number from {least} up")
    world = _World(seed)
    while n - len(world.told) >= CHAPTER:
        world.chapter()
    while len(world.told) < n:
        world.chatter(world.chance.below(max(1, world.people)))
    return world.benchmark("synthetic", f"a made-up world of {n:,} memories, seed {seed}", queries)


class _Chance:
    """Random choices that are the same everywhere.

    Python promises that a seed gives the same ``random()`` for ever, and only that; so all else is made of it.
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random

    def below(self, n: int) -> int:
        return int(self._random() * n)

    def pick(self, items: "tuple[Item, ...] | list[Item]") -> Item:
        return items[self.below(len(items))]

    def sample(self, items: list[Item], k: int) -> list[Item]:
        """`k` of the items at the most, in their order."""
        keys = [self._random() for _ in items]
        return [items[i] for i in sorted(sorted(range(len(items)), key=keys.__getitem__)[:k])]


class _Names:
    """Names joined from parts, each combination once before any comes again with a number."""

    def __init__(self, chance: _Chance, *parts: tuple[str, ...], sep: tuple[str, ...]) -> None:
        self._parts, self._sep = parts, (*sep, "")
        self._total = 1
        for part in parts:
            self._total *= len(part)
        self._start = chance.below(self._total)

    def __getitem__(self, i: int) -> str:
        # A prime step visits all combinations before it repeats, and neighbours share no part.
        rest, name = (self._start + i * 7919) % self._total, ""
        for part, sep in zip(self._parts, self._sep, strict=True):
            rest, place = divmod(rest, len(part))
            name += part[place] + sep
        round_ = i // self._total
        return f"{name} {round_ + 1}" if round_ else name


class _World:
    """What has been told so far, and what may be asked about it."""

    def __init__(self, seed: int) -> None:
        self.chance = _Chance(seed)
        self.told: list[dict[str, Any]] = []
        self.links: list[tuple[int, str, int]] = []
        self.asked: dict[str, list[tuple[str, dict[int, int]]]] = {kind: [] for kind in KINDS}
        self.meetings: dict[int, list[int]] = {}
        self.people = 0
        surname = (words.SURNAME_HEADS, words.SURNAME_TAILS)
        self.person = _Names(self.chance, words.FIRST_NAMES, *surname, sep=(" ", ""))
        house = (words.HOUSE_HEADS, words.HOUSE_MIDDLES, words.HOUSE_TAILS)
        self.house = _Names(self.chance, *house, sep=(" ", " "))
        self.project = _Names(self.chance, words.PROJECT_HEADS, words.PROJECT_TAILS, sep=(" ",))
        self.house_told: dict[int, int] = {}
        self.project_told: dict[int, int] = {}

    def tell(self, telling: str, gaps: Mapping[str, str], type: str | None = None, day: int | None = None) -> int:
        """Add a memory; its number is its place in the order of telling."""
        when = START + timedelta(days=self.chance.below(DAYS) if day is None else day)
        when += timedelta(minutes=8 * 60 + self.chance.below(12 * 60))
        memory: dict[str, Any] = {
            "content": self.chance.pick(words.TELLINGS[telling]).format(**gaps),
            "happened_at": when,
            "importance": (30 + self.chance.below(61)) / 100,
            "source": "synthetic",
        }
        if type is not None:
            memory["type"] = type
        # Not every way of telling uses every gap.
        if gaps.get("topic", "\n") in memory["content"]:
            memory["tags"] = [f"topic/{gaps['topic']}"]
        self.told.append(memory)
        return len(self.told) - 1

    def ask(self, kind: str, asking: str, relevant: Mapping[int, int], **gaps: str) -> None:
        """Note a question and the grades of the memories it judges."""
        text = self.chance.pick(words.ASKINGS[asking]).format(**gaps)
        self.asked[kind].append((text, dict(relevant)))

    def chapter(self) -> None:
        """Tell all about one more person."""
        number, self.people = self.people, self.people + 1
        name = self.person[number]
        self._work(number, name)
        self._homes(name)
        dish = self.chance.pick(words.DISHES)
        self.ask("semantic", "taste", {self.tell("taste", {"a": name, "dish": dish}, "Preference"): 1}, a=name)
        letters = "".join(chr(65 + self.chance.below(26)) for _ in range(2))
        badge = f"{letters}-{1000 + number}"
        self.ask("lexical", "badge", {self.tell("badge", {"a": name, "badge": badge}): 1}, badge=badge)
        self._project(number, name)
        for _ in range(3):
            self._meeting(number)
        for _ in range(3):
            self.chatter(number)
        self.ask("unanswerable", "nothing", {}, a=name)

    def _work(self, number: int, name: str) -> None:
        """A job, and where the house is, once a house."""
        which = number // PER_HOUSE
        house = self.house[which]
        role = self.chance.pick(words.ROLES)
        job = self.tell("job", {"a": name, "role": role, "house": house}, "Context")
        if which not in self.house_told:
            town = self.chance.pick(words.TOWNS)
            self.house_told[which] = self.tell("house", {"house": house, "town": town}, "Context")
        self.ask("semantic", "job", {job: 1}, a=name)
        self.ask("multi-hop", "workplace", {job: 1, self.house_told[which]: 1}, a=name)

    def _homes(self, name: str) -> None:
        """One to three homes; each but the last is judged and not relevant to where someone lives now."""
        count = 1 + self.chance.below(3)
        towns = self.chance.sample(list(words.TOWNS), count)
        days = sorted(self.chance.sample(list(range(DAYS)), count))
        homes = [self.tell("home", {"a": name, "town": towns[0]}, "Context", days[0])]
        for old, town, day in zip(towns, towns[1:], days[1:], strict=False):
            homes.append(self.tell("move", {"a": name, "old": old, "town": town}, "Context", day))
            self.links.append((homes[-2], "INVALIDATED_BY", homes[-1]))
        if count > 1:
            self.ask("superseded", "home", {**dict.fromkeys(homes[:-1], 0), homes[-1]: 1}, a=name)

    def _project(self, number: int, name: str) -> None:
        """A project joined; once a project, what it is about and two claims of its end."""
        which = number // PER_PROJECT
        project = self.project[which]
        joined = self.tell("join", {"a": name, "project": project}, "Decision")
        if which not in self.project_told:
            topic = self.chance.pick(words.TOPICS)
            first = topic[0].upper() + topic[1:]
            about = {"project": project, "topic": topic, "topic_first": first}
            self.project_told[which] = self.tell("project", about, "Context")
            months = self.chance.sample(list(words.MONTHS), 2)
            people = (name, self.person[number + 1])
            claims = [
                self.tell("claim", {"a": a, "project": project, "month": month}, "Insight")
                for a, month in zip(people, months, strict=True)
            ]
            self.links.append((claims[0], "CONTRADICTS", claims[1]))
            self.ask("contradiction", "claim", dict.fromkeys(claims, 1), project=project)
        self.links.append((joined, "PART_OF", self.project_told[which]))
        self.ask("multi-hop", "study", {joined: 1, self.project_told[which]: 1}, a=name)

    def _meeting(self, number: int) -> None:
        other, gaps = self._passing(number)
        told = self.tell("meeting", gaps, "Context")
        for person in (number, other):
            self.meetings.setdefault(person, []).append(told)

    def chatter(self, number: int) -> None:
        """Tell something that answers nothing."""
        _, gaps = self._passing(number)
        self.tell("chatter", {**gaps, "dish": self.chance.pick(words.DISHES)})

    def _passing(self, number: int) -> tuple[int, dict[str, str]]:
        """Someone else, an earlier person or the next; and the gaps of what is told in passing."""
        other = self.chance.below(number + 1)
        other = number + 1 if other == number else other
        town, topic = self.chance.pick(words.TOWNS), self.chance.pick(words.TOPICS)
        return other, {"a": self.person[number], "b": self.person[other], "town": town, "topic": topic}

    def ask_about_time(self) -> None:
        """Ask for the meetings of a month and, of people who had some lately, of the past 30 days."""
        for number in range(self.people):
            days = {told: self.told[told]["happened_at"] for told in self.meetings[number]}
            month = self.chance.pick(list(days.values()))
            then = [told for told, day in days.items() if (day.year, day.month) == (month.year, month.month)]
            gaps = {"month": words.MONTHS[month.month - 1], "year": str(month.year)}
            self.ask("temporal", "month", dict.fromkeys(then, 1), a=self.person[number], **gaps)
            ages = {told: (NOW - day).days for told, day in days.items()}
            # Whether a day at the edge is one of the past 30 is a matter of taste, so none is asked about.
            lately = [told for told, age in ages.items() if age < 28]
            if lately and not any(28 <= age <= 32 for age in ages.values()):
                self.ask("temporal", "recent", dict.fromkeys(lately, 1), a=self.person[number])

    def benchmark(self, name: str, description: str, queries: int) -> Benchmark:
        """Put the memories in order of time, draw the questions and name everything."""
        self.ask_about_time()
        order = sorted(range(len(self.told)), key=lambda i: (self.told[i]["happened_at"], i))
        names = {told: f"m{place:0{len(str(len(order)))}}" for place, told in enumerate(order, 1)}
        drawn = [(kind, ask) for kind in KINDS for ask in self.chance.sample(self.asked[kind], queries)]
        asked, qrels = [], {}
        for place, (kind, (text, grades)) in enumerate(drawn, 1):
            answerable = kind != "unanswerable"
            query_id = f"q{place:0{len(str(len(drawn)))}}"
            asked.append(Query(query_id, text, slices={"kind": kind}, now=NOW, answerable=answerable))
            qrels[query_id] = {names[told]: grade for told, grade in grades.items()}
        return Benchmark(
            name=name,
            level="memory",
            memories=[{"memory_id": names[told], **self.told[told]} for told in order],
            associations=[
                {"source": names[source], "relation": relation, "target": names[target]}
                for source, relation, target in self.links
            ],
            queries=asked,
            qrels=Qrels({query_id: grades for query_id, grades in qrels.items() if grades}),
            licence="made by memlab, free for any use",
            description=description,
        )
