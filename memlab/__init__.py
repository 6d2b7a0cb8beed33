"""memlab: a Jupyter-first research toolkit for memory graphs.

``import memlab as ml`` loads no heavy library; each name is imported when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

# Public name -> the file it lives in.
_HOME = {
    "Association": "records",
    "Benchmark": "trials",
    "Encoder": "encoders",
    "HashEncoder": "encoders",
    "Hit": "recalls",
    "MemlabError": "errors",
    "Memory": "records",
    "MemoryStore": "store",
    "Method": "recall.method",
    "Qrels": "trials",
    "Query": "queries",
    "Recall": "recalls",
    "Run": "trials",
    "SentenceTransformerEncoder": "sentence_encoder",
    "Space": "records",
    "errors": "errors",
    "evaluate": "evaluation.evaluate",
    "load_benchmark": "benchmarks.load",
    "run": "evaluation.run",
    "view": "views.graph",
}

__all__ = [
    "Association",
    "Benchmark",
    "Encoder",
    "HashEncoder",
    "Hit",
    "MemlabError",
    "Memory",
    "MemoryStore",
    "Method",
    "Qrels",
    "Query",
    "Recall",
    "Run",
    "SentenceTransformerEncoder",
    "Space",
    "errors",
    "evaluate",
    "load_benchmark",
    "run",
    "view",
]

if TYPE_CHECKING:
    from memlab import errors as errors
    from memlab.benchmarks.load import load_benchmark as load_benchmark
    from memlab.encoders import Encoder as Encoder
    from memlab.encoders import HashEncoder as HashEncoder
    from memlab.errors import MemlabError as MemlabError
    from memlab.evaluation.evaluate import evaluate as evaluate
    from memlab.evaluation.run import run as run
    from memlab.queries import Query as Query
    from memlab.recall.method import Method as Method
    from memlab.recalls import Hit as Hit
    from memlab.recalls import Recall as Recall
    from memlab.records import Association as Association
    from memlab.records import Memory as Memory
    from memlab.records import Space as Space
    from memlab.sentence_encoder import SentenceTransformerEncoder as SentenceTransformerEncoder
    from memlab.store import MemoryStore as MemoryStore
    from memlab.trials import Benchmark as Benchmark
    from memlab.trials import Qrels as Qrels
    from memlab.trials import Run as Run
    from memlab.views.graph import view as view


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"memlab has no {name!r}; it has {', '.join(__all__)}")
    module = import_module(f"memlab.{_HOME[name]}")
    return module if name == "errors" else getattr(module, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
