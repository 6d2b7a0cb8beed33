"""What the documentation shows is run: every doctest, and the README from top to bottom."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import memlab

ROOT = Path(__file__).resolve().parents[1]
MODULES = [
    module.name for module in pkgutil.walk_packages(memlab.__path__, "memlab.") if not module.name.endswith("__main__")
]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_are_true(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    results = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert results.failed == 0, "what was expected and what came is printed above"


def test_the_readme_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    assert blocks, "the README shows no Python"
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__readme__"}
    for block in blocks:
        # Empty lines before the block make the line numbers of a traceback those of the README.
        above = "\n" * text.count("\n", 0, block.start(1))
        exec(compile(above + block[1], "README.md", "exec"), names)


def test_the_changelog_has_an_open_head() -> None:
    heads = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert heads[0] == "[Unreleased]"
