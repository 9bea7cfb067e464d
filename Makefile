# Every target sets up what it needs: a virtual environment in .venv, from the pins in constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help demo test lint types docs bench adaptation clean
help:
	@echo "make demo    set up, generate judged data, train a ranker on it, evaluate and compare it"
	@echo "make test    set up and run the tests (those on real data need RANKINITE_DATA)"
	@echo "make lint    ruff and the import order"
	@echo "make types   basedpyright, strict, on src"
	@echo "make docs    guides and reference as a site in site/, which works without a network"
	@echo "make bench   all benchmarks; results go to benchmarks/RESULTS.md (run on an idle machine)"
	@echo "make adaptation   hours of adapting to other domains, resumable; results go to docs/adaptation-results.md"
	@echo "make clean   remove the environment and everything generated"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "rankinite needs Python 3.11 or later; try make PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	$(INSTALL) --editable '.[dev,peers,plots,sklearn]'
	@touch $@

$(VENV)/.docs: $(VENV)/.core
	$(INSTALL) --editable '.[docs,plots,sklearn]'
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(INSTALL) --editable '.[bench]'
	@touch $@

demo: $(VENV)/.core
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/demo.sh demo

# Numba's cache does not see changes in kernels that a kernel calls, so the cache is named by all of them.
test: $(VENV)/.dev
	NUMBA_CACHE_DIR=$(VENV)/numba/$$(cat src/rankinite/*.py src/rankinite/*/*.py | cksum | cut -d' ' -f1) \
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.dev
	$(BIN)/basedpyright

# Strict: a link that leads nowhere, or a name without a place, is an error.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -c docs -d $(VENV)/doctrees . site
	@echo "open site/index.html"

bench: $(VENV)/.bench
	for program in $(filter-out benchmarks/adaptation.py,$(wildcard benchmarks/[a-z]*.py)); do $(BIN)/python $$program || exit 1; done

adaptation: $(VENV)/.bench
	$(BIN)/python benchmarks/adaptation.py
	$(BIN)/python benchmarks/adaptation.py --findings
	$(BIN)/python benchmarks/adaptation.py --report

clean:
	rm -rf $(VENV) demo site .bench .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
