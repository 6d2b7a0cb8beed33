"""Forks: a child that inherits stores gets a lock of its own for each, and a connection of its own when it needs one.

Before a fork the stores are brought to rest, so that no other thread is within SQLite or half-way through a change;
a thread that doesn't come to rest in time is not waited for. The threads with which FAISS and torch share out their
work don't exist in a child, and waiting for them would never end: there both work with one.
"""

import os
import sys
import threading
import time
import weakref
from typing import Protocol

PATIENCE = 2.0  # seconds that a fork waits for other threads' work on stores


class Forkable(Protocol):
    """What may be inherited."""

    _lock: threading.RLock

    def _forked(self, rested: bool) -> None:
        """Begin anew in the child; rested says whether no other thread was at work."""


_STORES: "weakref.WeakSet[Forkable]" = weakref.WeakSet()
_resting = threading.local()  # a fork's own: the stores at rest


def watch(store: Forkable) -> None:
    """Look after a store in forked children.

    Parameters
    ----------
    store : Forkable
        Kept by a weak reference.
    """
    _STORES.add(store)


def _before() -> None:
    deadline = time.monotonic() + PATIENCE
    _resting.stores = []
    for store in list(_STORES):
        lock = store._lock
        if lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            _resting.stores.append((store, lock))


def _in_parent() -> None:
    for _, lock in reversed(_resting.stores):
        lock.release()
    _resting.stores = []


def _in_child() -> None:
    rested = [store for store, _ in _resting.stores]
    _in_parent()
    stores = list(_STORES)
    if stores and "faiss" in sys.modules:
        sys.modules["faiss"].omp_set_num_threads(1)
    if stores and "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    for store in stores:
        store._forked(any(store is other for other in rested))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)

__all__ = ["Forkable", "watch"]
