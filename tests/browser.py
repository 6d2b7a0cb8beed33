"""A real Chromium for tests of pages, and what went wrong in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import require

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@dataclass
class Visit:
    """An open page with the errors, and the requests beyond its own file, that it has made so far."""

    page: Any
    faults: list[str] = field(default_factory=list)


@contextmanager
def running_browser(path: str) -> Iterator[Any]:
    """A headless browser; without playwright the test skips, or fails where nothing may be missing."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        require.missing("playwright isn't installed: pip install 'memlab[dev]'")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()


@contextmanager
def visit(browser: Any, path: Path, **options: Any) -> Iterator[Visit]:
    """Open a file and wait for nothing; `options` are those of a new browser page."""
    page = browser.new_page(**options)
    opened = Visit(page)
    page.on("pageerror", lambda error: opened.faults.append(f"page error: {error}"))
    # A request from a sandboxed frame shows in no listener, only as an error in the console.
    page.on("console", lambda message: opened.faults.append(f"console {message.type}: {message.text}"))
    page.on("request", lambda request: request.url == path.as_uri() or opened.faults.append(request.url))
    page.goto(path.as_uri())
    yield opened
    page.close()
