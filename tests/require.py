"""What a test does when something it needs isn't on this machine."""

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def missing(reason: str) -> NoReturn:
    """Skip the test; where MEMLAB_CI=1 says that every tool has to be there, fail it."""
    if os.environ.get("MEMLAB_CI") == "1":
        pytest.fail(f"{reason} (MEMLAB_CI=1: nothing may be missing here)", pytrace=False)
    pytest.skip(reason)


def browser() -> str:
    """The path of a Chromium that playwright can drive."""
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    missing(f"no browser on the path: none of {', '.join(BROWSERS)}")


def data(*parts: str) -> Path:
    """A path below $MEMLAB_DATA; real data sets can't be had everywhere, so without them a test skips."""
    root = os.environ.get("MEMLAB_DATA")
    if not root:
        pytest.skip("$MEMLAB_DATA isn't set: it names the folder of the real data sets")
    path = Path(root, *parts)
    if not path.exists():
        pytest.skip(f"$MEMLAB_DATA has no {Path(*parts)}")
    return path
