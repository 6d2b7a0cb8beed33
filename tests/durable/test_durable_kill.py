"""A writer killed with SIGKILL in the middle of its work."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import scribbling
from scribbling import DIMENSION, Scribble, Twin

from memlab.encoders import HashEncoder
from memlab.store import MemoryStore

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
Round = Callable[[Path, int, str], int]


@pytest.fixture(scope="module")
def killed() -> Iterator[Round]:
    """Have a writer killed; gives how many of its writes were acknowledged."""
    command = [sys.executable, scribbling.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin
        assert server.stdout

        def one_round(path: Path, seed: int, durability: str) -> int:
            server.stdin.write(f"{path}\t{seed}\t{durability}\n")  # type: ignore[union-attr]
            server.stdin.flush()  # type: ignore[union-attr]
            said = server.stdout.readline().rstrip("\n")  # type: ignore[union-attr]
            assert not said.strip("."), said
            return len(said)

        yield one_round
        server.stdin.close()
        assert server.wait(60) == 0


def rounds(killed: Round, folder: Path, seeds: range, durability: str) -> int:
    """Kill one writer after another on one file, and check each time what is left."""
    path = folder / "s.memlab"
    MemoryStore.open(path, encoder=None).close()
    before, written = Twin(), 0
    for seed in seeds:
        acknowledged = killed(path, seed, durability)
        work = Scribble(seed, before)
        for _ in range(acknowledged):
            work.step(None)
        sure = work.twin.copy()
        work.step(None)
        with MemoryStore.open(path, encoder=HashEncoder(dimension=DIMENSION) if seed % 2 else None) as store:
            found = Twin.of(store)
            # All that was acknowledged, and of the write under way all or nothing.
            assert found in (sure, work.twin), f"seed {seed}, {acknowledged} acknowledged"
            if seed % 2 and found.texts:
                store.recall("tea", method="dense")
            assert store.check().ok, store.check()
        if len(found.texts) > 150:
            path.unlink()
            MemoryStore.open(path, encoder=None).close()
            found = Twin()
        before, written = found, written + acknowledged
        assert {file.name for file in folder.iterdir()} == {path.name}
    return written


@pytest.mark.parametrize(("durability", "seeds"), [("full", range(30)), ("normal", range(30, 50))])
def test_every_acknowledged_write_outlives_a_kill_and_none_is_half(
    killed: Round, tmp_path: Path, durability: str, seeds: range
) -> None:
    assert rounds(killed, tmp_path, seeds, durability) > len(seeds)


@pytest.mark.soak
def test_five_hundred_kills_lose_nothing(killed: Round, tmp_path: Path) -> None:
    assert rounds(killed, tmp_path, range(1000, 1500), "full") > 500
