"""What speed is measured on: made memories and questions whose sizes are those of real ones, and real texts.

Words of the made memories are drawn by Zipf's law, word r of 30,000 with a probability in proportion to
1 / (r + 2.7), 15 to 25 of them a memory. They mean nothing, as the hashing encoder's vectors don't either.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from memlab.benchmarks.load import load_benchmark

SEED = 20240520
VOCABULARY = 30_000
SHORT = 1_000  # words of two syllables, the most frequent; the others have three
SYLLABLES = tuple(consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou")
UNASKED = 50  # the most frequent words, which no question holds, as a real one's stop words aren't looked for
STEP = 7919  # a prime, so that neighbours in rank share no syllable and no word comes twice
START = datetime(2023, 1, 1, tzinfo=UTC)
SPEAKERS = ("Ana", "Bo", "Chen", "Dina", "Emil", "Fatou", "Goro", "Hana")

# The share that a filter lets through, and the filter as recall takes it.
FILTERS: dict[str, dict[str, Any]] = {
    "50 %": {"where": {"room": {"lt": 50}}},
    "10 %": {"tags": ["crate:3"]},
    "1 %": {"where": {"room": 42}},
}


def word(rank: int) -> str:
    """Give the word of a rank.

    Parameters
    ----------
    rank : int
        From 0, the most frequent, to 29,999.

    Returns
    -------
    str
        Two or three syllables; another one for each rank.

    Examples
    --------
    >>> [word(rank) for rank in (0, 1, 29_999)]
    ['baba', 'dupo', 'bebupi']
    """
    count = 2 if rank < SHORT else 3
    rest, found = rank * STEP % len(SYLLABLES) ** count, ""
    for _ in range(count):
        rest, place = divmod(rest, len(SYLLABLES))
        found += SYLLABLES[place]
    return found


def made_memories(n: int, first: int = 0) -> list[dict[str, Any]]:
    """Make memories, as ``add_many`` takes them.

    Parameters
    ----------
    n : int
        How many.
    first : int, default 0
        The number of the first one; its id says it. The same two numbers give the same memories.

    Returns
    -------
    list of dict
        With speaker, date, importance, a tag out of ten and the metadata ``room``, one of a hundred.
    """
    chance = np.random.default_rng([SEED, first])
    weights = 1 / (np.arange(VOCABULARY) + 2.7)
    lengths = chance.integers(15, 26, n)
    drawn = chance.choice(VOCABULARY, int(lengths.sum()), p=weights / weights.sum())
    words = [word(rank) for rank in range(VOCABULARY)]
    ends = np.cumsum(lengths).tolist()
    minutes, rooms = chance.integers(0, 720 * 24 * 60, n).tolist(), chance.integers(0, 100, n).tolist()
    crates, speakers = chance.integers(0, 10, n).tolist(), chance.integers(0, len(SPEAKERS), n).tolist()
    importance = np.round(chance.random(n), 2).tolist()
    return [
        {
            "memory_id": f"m{first + i:07}",
            "content": " ".join(words[rank] for rank in drawn[ends[i] - lengths[i] : ends[i]]) + ".",
            "role": SPEAKERS[speakers[i]],
            "happened_at": START + timedelta(minutes=minutes[i]),
            "importance": importance[i],
            "tags": [f"crate:{crates[i]}"],
            "metadata": {"room": rooms[i]},
        }
        for i in range(n)
    ]


def fits(share: str, memory: dict[str, Any]) -> bool:
    """Say whether a made memory passes a filter, without memlab's filters.

    Parameters
    ----------
    share : str
        A key of :data:`FILTERS`.
    memory : dict
        One of :func:`made_memories`.

    Returns
    -------
    bool
        Whether it does.
    """
    room = memory["metadata"]["room"]
    passes = {"50 %": room < 50, "10 %": memory["tags"] == ["crate:3"], "1 %": room == 42}
    return bool(passes[share])


def questions(memories: list[dict[str, Any]], count: int = 64) -> list[str]:
    """Ask for memories by five of their words.

    Parameters
    ----------
    memories : list of dict
        As :func:`made_memories` gives them.
    count : int, default 64
        How many questions.

    Returns
    -------
    list of str
        Each of five words that stand in one memory; of fewer where it has no five that are asked for.
    """
    chance = np.random.default_rng([SEED, 1])
    unasked, found = {word(rank) for rank in range(UNASKED)}, []
    for at in chance.integers(0, len(memories), count).tolist():
        spoken = sorted(set(memories[at]["content"].rstrip(".").split()) - unasked)
        found.append(" ".join(chance.permutation(spoken)[:5].tolist()))
    return found


def real_texts(count: int = 2000) -> list[str]:
    """Give real texts of mixed length: those of the diary, again and again with their words turned round.

    Parameters
    ----------
    count : int, default 2000
        How many.

    Returns
    -------
    list of str
        From one word to some hundreds; in the k-th round over the diary a text begins with its k-th word.
    """
    contents = [memory["content"].split() for memory in load_benchmark("diary").memories]
    turned = []
    for i in range(count):
        words = contents[i % len(contents)]
        turn = i // len(contents) % len(words)
        turned.append(" ".join(words[turn:] + words[:turn]))
    return turned
