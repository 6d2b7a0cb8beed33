"""Forked children that run a function and give its result back."""

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import pytest


class Child:
    """A forked child that runs a function, as another user if asked; its result comes through a pipe as JSON."""

    def __init__(self, function: Callable[[], Any], user: int | None = None) -> None:
        self._read, write = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            status = 1
            try:
                if user is not None:
                    os.setgroups([])
                    os.setgid(user)
                    os.setuid(user)
                os.write(write, json.dumps(function()).encode())
                status = 0
            except BaseException:  # noqa: BLE001 - the parent's code must not go on in the child
                traceback.print_exc(file=sys.__stderr__)
            finally:
                os._exit(status)
        os.close(write)

    def result(self, seconds: float = 30) -> Any:
        """Wait for its end."""
        until = time.monotonic() + seconds
        while True:
            done, status = os.waitpid(self._pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() > until:
                os.kill(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
                pytest.fail("the child hangs")
            time.sleep(0.005)
        assert status == 0
        with os.fdopen(self._read, "rb") as pipe:
            return json.loads(pipe.read())
