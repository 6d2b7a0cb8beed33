"""What has to be measured in a process of its own: opening a store, and the memory it takes."""

import gc
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from memlab.bench.speed_references import RawFile, one_thread
from memlab.encoders import HashEncoder
from memlab.errors import StoreError
from memlab.store import MemoryStore

STATM = Path("/proc/self/statm")
CALL = "import sys; from memlab.bench.speed_process import TASKS; TASKS[sys.argv[1]](*sys.argv[2:])"


def apart(task: str, *arguments: str) -> Any:
    """Run a task in a new Python, with one thread.

    Parameters
    ----------
    task : str
        A key of :data:`TASKS`.
    *arguments : str
        What it takes.

    Returns
    -------
    object
        What it printed as JSON.

    Raises
    ------
    StoreError
        If it failed.
    """
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", CALL, task, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        raise StoreError(f"the process that measures {task!r} failed; it said:\n{done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


def _import_all() -> None:
    """Recall once in a store of one memory, so that everything that is imported late is imported."""
    with MemoryStore(encoder=HashEncoder()) as store:
        store.add("Tea at four.")
        store.recall("tea", method="hybrid")
    gc.collect()


def _resident() -> int:
    """Bytes of this process that stand in memory now."""
    if not STATM.exists():
        raise StoreError(f"there is no {STATM}, so the memory can't be measured here; leave out the row 'memory'")
    return int(STATM.read_text(encoding="ascii").split()[1]) * resource.getpagesize()


def time_opening(store_path: str, raw_path: str, query: str, rounds: str) -> None:
    """Time, in turn, a store's opening with its first hybrid recall, and the raw reading of the same rows.

    Parameters
    ----------
    store_path, raw_path : str
        The two files.
    query : str
        What is recalled.
    rounds : str
        How often.
    """
    _import_all()
    pairs = []
    with one_thread():
        for _ in range(int(rounds)):
            gc.collect()
            begin = perf_counter()
            store = MemoryStore.open(store_path, durability="normal")
            store.recall(query, method="hybrid")
            ours = perf_counter() - begin
            store.close()
            del store
            gc.collect()
            begin = perf_counter()
            raw = RawFile(Path(raw_path))
            rows = raw.read()
            pairs.append((ours, perf_counter() - begin))
            raw.close()
            del rows
    print(json.dumps(pairs))


def weigh_opening(store_path: str, query: str) -> None:
    """Weigh an open store that has answered its first hybrid recall.

    Parameters
    ----------
    store_path : str
        The file.
    query : str
        What is recalled.
    """
    _import_all()
    before = _resident()
    store = MemoryStore.open(store_path, durability="normal")
    store.recall(query, method="hybrid")
    gc.collect()
    print(json.dumps(_resident() - before))


TASKS = {"open": time_opening, "memory": weigh_opening}
