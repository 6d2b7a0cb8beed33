"""The wheel, in an environment that has no other memlab: it carries the data sets and the command."""

import importlib.metadata
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DATA_SETS = sorted(path.name for path in (ROOT / "datasets").iterdir() if path.is_dir())

# Only plain folders of libraries are put on the path, so the editable install's .pth file isn't read.
LOAD = """
import sys
name, site, *libraries = sys.argv[1:]
sys.path[:0] = [site]
sys.path += libraries
import memlab
benchmark = memlab.load_benchmark(name)
print(memlab.__file__, len(benchmark.memories), len(benchmark.queries), sep="\\n")
"""


def run(*command: str, where: Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=where, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder into which the wheel, and nothing else, is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ("-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder), str(ROOT))
    run(sys.executable, *build, where=folder)
    (wheel,) = folder.glob("*.whl")
    options = ("--no-deps", "--no-index", "--target", str(folder / "site"))
    run(sys.executable, "-m", "pip", "install", *options, str(wheel), where=folder)
    return folder / "site"


@pytest.mark.parametrize("name", DATA_SETS)
def test_each_data_set_loads_by_name_from_the_wheel(name: str, site: Path, tmp_path: Path) -> None:
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    printed = run(sys.executable, "-I", "-S", "-c", LOAD, name, str(site), *libraries, where=tmp_path)
    file, memories, queries = printed.splitlines()
    assert Path(file).is_relative_to(site)
    assert int(memories) > 0
    assert int(queries) > 0


def test_each_data_set_says_its_licence_and_its_source(site: Path) -> None:
    assert DATA_SETS
    for name in DATA_SETS:
        page = (site / "memlab" / "datasets" / name / "README.md").read_text(encoding="utf-8")
        assert "Licence: " in page
        assert "Source: " in page


def test_the_wheel_brings_the_command_and_its_types(site: Path) -> None:
    (distribution,) = importlib.metadata.distributions(path=[str(site)])
    commands = distribution.entry_points.select(group="console_scripts")
    assert {command.name: command.value for command in commands} == {"memlab": "memlab.cli:main"}
    assert distribution.metadata["License-Expression"] == "Apache-2.0"
    assert (site / "memlab" / "py.typed").exists()
