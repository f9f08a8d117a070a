# `make demo` and `make test` work from a bare clone: they build .venv first, and only when pyproject.toml or
# requirements.lock changed since. Another interpreter: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# One file's tests stay in one worker, so what they prepare together is prepared once; the longest files come first.
PYTEST_FLAGS ?= -n auto --dist loadfile --no-loadscope-reorder
# Tests start many processes: what they import is compiled once for all of them, and nothing of it lies in the tree.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX ?= $(abspath $(VENV))/.pycache

# uv does not read pip's settings; hand the two that name package sources on to it.
empty :=
comma := ,
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif
ifdef PIP_FIND_LINKS
export UV_FIND_LINKS ?= $(subst $(empty) $(empty),$(comma),$(strip $(PIP_FIND_LINKS)))
endif
export UV_HTTP_TIMEOUT ?= 180

# Data sets that are too large or not free enough to be kept here.
ifneq ($(wildcard ../shared/data),)
export PLANROUTE_DATA ?= $(abspath ../shared/data)
endif

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow lint bench docs reproduction lock audit webarena clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP)  ## Build .venv with everything in it

$(STAMP): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' || \
		{ echo 'planroute needs Python 3.11 to 3.13: make PYTHON=/path/to/python3.12 ...' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --requirement requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --editable .
	@touch $@

demo: $(STAMP)  ## Run the demonstration
	$(BIN)/planroute demo

test: $(STAMP)  ## Run the tests
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

test-slow: $(STAMP)  ## Run the tests that load a real language model or take minutes
	$(BIN)/python -m pytest -m slow

lint: $(STAMP)  ## Check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(STAMP)  ## Run the examples of README, docs and docstrings
	$(BIN)/python -m pytest -m 'slow or not slow' tests/test_docs.py

bench: $(STAMP)  ## Run the benchmarks
	@set -e; for file in benchmarks/*.py; do \
		[ -e "$$file" ] || continue; echo "== $$file"; $(BIN)/python "$$file"; \
	done

reproduction: $(STAMP)  ## Run E1 to E7 and make the tables of docs/reproduction.md anew
	$(BIN)/planroute experiment E1 E2 E3 E4 E5 E6 E7 --out runs/reproduction
	$(BIN)/python docs/reproduction.py runs/reproduction

audit: $(STAMP)  ## Look for known vulnerabilities of what requirements.lock pins
	$(BIN)/python .ci/audit.py

lock: $(STAMP)  ## Resolve requirements.lock anew from pyproject.toml
	UV_CUSTOM_COMPILE_COMMAND='make lock' $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
		--all-extras --group dev --no-emit-index-url --no-emit-find-links --output-file requirements.lock pyproject.toml

webarena: $(STAMP)  ## Build the environment of WebArena's evaluator, apart from .venv
	$(BIN)/python -m planroute.domains.webarena.evaluator

clean:  ## Remove .venv, caches and built packages
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
