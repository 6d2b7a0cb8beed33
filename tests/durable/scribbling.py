"""A writer that can be killed at any moment, and a twin in plain dictionaries that knows what it should have left.

The writer's work is a function of a seed and of what stands in the store, so that who only saw how many writes
were acknowledged can say exactly what must be there.
"""

import os
import random
import signal
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from memlab.encoders import HashEncoder
from memlab.store import MemoryStore

DIMENSION = 16
WORDS = ["tea", "rain", "Porto", "snow", "überall", "漢字"]


@dataclass
class Twin:
    """What a store holds, in plain dictionaries.

    Parameters
    ----------
    texts : dict
        Memory id to content.
    edges : set
        Triples.
    gone : set
        Ids that were forgotten.
    """

    texts: dict[str, str] = field(default_factory=dict)
    edges: set[tuple[str, str, str]] = field(default_factory=set)

    @classmethod
    def of(cls, store: MemoryStore) -> "Twin":
        """The twin of a store."""
        frame = store.associations
        return cls(
            {m.memory_id: m.content for m in store}, set(zip(frame.source, frame.relation, frame.target, strict=True))
        )

    def copy(self) -> "Twin":
        """Another of the same."""
        return Twin(dict(self.texts), set(self.edges))


class Scribble:
    """The writes of one seed.

    Parameters
    ----------
    seed : int
        Which.
    twin : Twin
        What stands in the store before; kept up to date.
    forgets : bool
        Whether memories are forgotten too, which writes the whole file anew.
    """

    def __init__(self, seed: int, twin: Twin, forgets: bool = True) -> None:
        self._seed, self._made = seed, 0
        self._chance = random.Random(seed)
        self.twin = twin
        self._forgets = forgets

    def _item(self) -> dict[str, Any]:
        self._made += 1
        words = self._chance.choices(
            ["tea", "rain", "Porto", "snow", "überall", "漢字"], k=self._chance.choice([2, 9, 300])
        )
        return {"content": " ".join(words), "memory_id": f"{self._seed}-{self._made}"}

    def step(self, store: MemoryStore | None) -> None:
        """Write once: to the store, if there is one, and then to the twin."""
        chance, texts, edges = self._chance, self.twin.texts, self.twin.edges
        ids = sorted(texts)
        verb = chance.choice(["add", "add_many", "update", "delete", "associate", "forget"])
        if len(ids) < 3 or (verb == "forget" and (not self._forgets or chance.random() < 0.7)):
            verb = "add_many"
        if verb in ("add", "add_many"):
            items = [self._item() for _ in range(1 if verb == "add" else chance.randint(2, 12))]
            if store is not None and verb == "add":
                store.add(**items[0])
            elif store is not None:
                store.add_many(items, progress=False)
            texts.update((item["memory_id"], item["content"]) for item in items)
        elif verb == "update":
            memory_id, content = chance.choice(ids), self._item()["content"]
            if store is not None:
                store.update(memory_id, content=content)
            texts[memory_id] = content
        elif verb == "associate":
            one, other = chance.sample(ids, 2)
            if store is not None:
                store.associate(one, "LEADS_TO", other)
            edges.add((one, "LEADS_TO", other))
        else:
            gone = chance.sample(ids, min(len(ids), 1 if verb == "forget" else chance.randint(1, 4)))
            if store is not None:
                getattr(store, verb)(gone)
            for memory_id in gone:
                del texts[memory_id]
            edges -= {edge for edge in edges if edge[0] in gone or edge[2] in gone}


def scribble(path: str, seed: int, durability: str) -> None:
    """Open a store and write to it for ever, with a dot on stdout for each write that returned."""
    encoder = HashEncoder(dimension=DIMENSION) if seed % 3 else None
    store = MemoryStore.open(path, encoder=encoder, durability=durability)
    work = Scribble(seed, Twin.of(store))
    while True:
        work.step(store)
        os.write(1, b".")


def serve() -> None:
    """Start a writer for each line read (path, seed, durability), and kill it after a while that its seed says.

    Forked from a process that has imported everything, a writer starts in milliseconds.
    """
    for line in sys.stdin:
        path, seed, durability = line.rstrip("\n").split("\t")
        child = os.fork()
        if child == 0:
            try:
                scribble(path, int(seed), durability)
            except BaseException as error:  # noqa: BLE001 - the parent process is told
                os.write(1, f"{error!r}".replace("\n", " ").encode())
            os._exit(1)
        time.sleep(random.Random(int(seed)).choice([0.03, 0.1, 0.2]) * (0.5 + random.Random(-int(seed)).random()))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.write(1, b"\n")


if __name__ == "__main__":
    serve()
