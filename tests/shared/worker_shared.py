"""What another process does in the tests of a shared store, and what both say of it.

Run as a program: ``worker_shared.py FILE NAME COUNT``. It prints what each write gave as soon as it returned, so
that what was acknowledged is known even of a process that was killed.
"""

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memlab.encoders import HashEncoder
from memlab.errors import UnknownMemory
from memlab.store import MemoryStore

DIMENSION = 16


def opened(path: Path, **options: Any) -> MemoryStore:
    """Open the store of these tests."""
    return MemoryStore.open(path, encoder=HashEncoder(DIMENSION), durability="normal", **options)


def work(store: MemoryStore, name: str, count: int, say: Callable[[str, str], None], start: int = 0) -> None:
    """Write and read at random, saying each write that returned."""
    rng = random.Random(f"{name} {start}")
    mine: list[str] = []
    for i in range(start, start + count):
        act = rng.random()
        if act < 0.4 or not mine:
            memory_id = store.add(f"{name} notes number {i} of tea and rain", memory_id=f"{name}-{i}")
            mine.append(memory_id)
            say("add", memory_id)
        elif act < 0.5:
            store.update(memory_id := rng.choice(mine), content=f"{name} notes number {i} anew")
            say("update", memory_id)
        elif act < 0.55:
            store.delete(memory_id := mine.pop(rng.randrange(len(mine))))
            say("delete", memory_id)
        elif act < 0.65 and len(mine) > 1:
            source, target = rng.sample(mine, 2)
            store.associate(source, "LEADS_TO", target, strength=rng.random())
            say("associate", source)
        else:
            read(store, rng, mine[-1])


def read(store: MemoryStore, rng: random.Random, memory_id: str) -> None:
    """Read one's own newest memory by any way."""
    way = rng.randrange(5)
    if way == 0:
        assert memory_id in store
    elif way == 1:
        assert store.get(memory_id).memory_id == memory_id
    elif way == 2:
        assert memory_id in set(store.memories["memory_id"])
    elif way == 3:
        assert memory_id in {hit.memory_id for hit in store.recall(store.get(memory_id).content, k=5)}
    else:
        assert len(store) <= len(store.log())


def main(path: str, name: str, count: str, start: str = "0") -> None:
    """Work in a process of one's own."""

    def say(*words: str) -> None:
        sys.stdout.write(" ".join(words) + "\n")
        sys.stdout.flush()

    with opened(Path(path)) as store:
        work(store, name, int(count), say, int(start))
        store.recall("tea")
        say(json.dumps({"faults": store.check().faults, "seq": store.log()["seq"].tolist()}))


def process(path: Path, name: str, count: int, start: int = 0) -> "subprocess.Popen[str]":
    """Begin to work in another process."""
    words = [sys.executable, "-W", "error", __file__, str(path), name, str(count), str(start)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def alive(lines: list[str]) -> tuple[set[str], set[str]]:
    """The ids that were acknowledged and not deleted, and those whose deletion was acknowledged."""
    pairs = [line.split() for line in lines if line and line[0] != "{"]
    gone = {key for verb, key in pairs if verb == "delete"}
    return {key for verb, key in pairs if verb == "add"} - gone, gone


def absent(store: MemoryStore, memory_id: str) -> bool:
    """Whether no read finds a memory."""
    try:
        store.get(memory_id)
    except UnknownMemory:
        return memory_id not in store and memory_id not in set(store.memories["memory_id"])
    return False


if __name__ == "__main__":
    main(*sys.argv[1:])
