"""Reading the command line, and turning memlab's errors into one sentence each."""

import argparse
import os
import sys
from collections.abc import Sequence

from memlab import __version__
from memlab.cli import bench, demo, lab, stores
from memlab.errors import MemlabError


def parser() -> argparse.ArgumentParser:
    """Make the parser of the whole command line.

    Returns
    -------
    argparse.ArgumentParser
        With one command a subject.
    """
    top = argparse.ArgumentParser(
        prog="memlab", description="A research toolkit for memory graphs: store, associate, recall, measure, show."
    )
    top.add_argument("--version", action="version", version=f"memlab {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for subject in (demo, stores, bench, lab):
        subject.add_commands(commands)
    return top


def _utf8(argument: str) -> str:
    """Read an argument as UTF-8, whatever the locale made of its bytes."""
    return os.fsencode(argument).decode("utf-8", errors="surrogateescape")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        In the place of ``sys.argv[1:]``.

    Returns
    -------
    int
        The exit code: 0 if all went well, 1 if memlab refused (the reason is on standard error), 2 if the
        command line can't be read, 130 if it was interrupted.
    """
    for pipe in (sys.stdout, sys.stderr):
        if hasattr(pipe, "reconfigure"):
            pipe.reconfigure(encoding="utf-8")  # memories are in every script, whatever the locale
    given = map(_utf8, sys.argv[1:]) if arguments is None else arguments
    options = parser().parse_args(list(given))
    try:
        code: int = options.run(options)
    except MemlabError as error:
        print(f"memlab {options.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"memlab {options.command}: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output went away, as `head` does
        return 0
    return code
