# Two commands: `make demo` shows memlab at work, `make test` proves it. Each makes .venv first if it isn't there.
# Also: `make check` (lint, format, types, docstrings), `make lab` (JupyterLab on the notebooks), `make soak` (long
# stress), `make clean` (back to a fresh clone). PYTHON=python3.12 names another interpreter to make .venv with.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed

.PHONY: demo test check lab soak clean

demo: $(INSTALLED)
	@echo "step: demo"
	$(PY) -m memlab demo

test: check
	@echo "step: tests and notebooks"
	$(PY) -m pytest --nbmake tests notebooks

check: $(INSTALLED)
	@echo "step: check"
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy --strict memlab
	$(PY) -m numpydoc lint $$(find memlab -name '*.py')

lab: $(INSTALLED)
	$(PY) -m jupyterlab notebooks

soak: $(INSTALLED)
	$(PY) -m pytest -m soak --timeout 0 tests

clean:
	rm -rf $(VENV) build dist memlab-demo .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find memlab tests notebooks -name __pycache__ -prune -exec rm -rf {} +

# The stamp is older than either file when what should be installed has changed.
$(INSTALLED): pyproject.toml constraints.txt
	@echo "step: install"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "memlab needs Python 3.11 or newer;" \
	  "$(PYTHON) says '$$($(PYTHON) --version 2>&1)'. Name a newer one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	test -x $(VENV)/bin/pip || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install -c constraints.txt -e '.[dev]'
	@touch $@
