"""``memlab lab``: JupyterLab on a folder of notebooks."""

import argparse
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from memlab.errors import InvalidArgument, MissingExtra


def add_commands(commands: Any) -> None:
    """Add the command of this file.

    Parameters
    ----------
    commands : argparse subparsers
        Where to.
    """
    lab = commands.add_parser("lab", help="open JupyterLab", description="Open JupyterLab on a folder of notebooks.")
    lab.add_argument("folder", nargs="?", help="the folder (default: notebooks, if it is there, else this one)")
    lab.add_argument("--no-browser", action="store_true", help="only print the address")
    lab.set_defaults(run=run_lab)


def run_lab(options: argparse.Namespace) -> int:
    """Start JupyterLab and wait for its end.

    Parameters
    ----------
    options : argparse.Namespace
        The command line.

    Returns
    -------
    int
        JupyterLab's exit code.
    """
    if find_spec("jupyterlab") is None:
        raise MissingExtra("JupyterLab isn't installed; install it with: pip install 'memlab[lab]'")
    folder = Path(options.folder or ("notebooks" if Path("notebooks").is_dir() else "."))
    if not folder.is_dir():
        raise InvalidArgument(f"{folder} isn't a folder; name the folder that holds your notebooks")
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder.resolve()}"]
    return subprocess.run(command + (["--no-browser"] if options.no_browser else []), check=False).returncode
