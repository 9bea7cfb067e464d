# Every target sets up what it needs: a virtual environment in .venv, from the pins in constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help demo test test-all fuzz crash determinism cluster-test parity browser compiler java lint types docs dist bench adaptation reproduce clean
help:
	@echo "make demo    set up and adapt a ranker to a new market, on generated data, with a report"
	@echo "make test    set up and run the tests, in about five minutes (those on real data need RANKINITE_DATA)"
	@echo "make test-all   these and the slow ones: clusters, killed runs, fuzz, docs, wheel, Java, benchmarks on tiny data"
	@echo "make fuzz    structured random input for every reader, with bounds checks; MINUTES=30"
	@echo "make crash   signals at random moments of every verb that writes; MINUTES=10"
	@echo "make determinism   all learners as on an older processor and in plain Python: the same bytes?"
	@echo "make cluster-test   every kind of forest by 1, 2 and 3 members on Dask and MPI: the same bytes? Writes docs/same-bytes.md"
	@echo "make parity  random forests through every exporter, its twin and the program that serves it; FORESTS=10000"
	@echo "make lint    ruff and the import order"
	@echo "make types   basedpyright, strict, on src"
	@echo "make docs    guides and reference as a site in site/, which works without a network"
	@echo "make dist    the source archive and the wheel, in dist/"
	@echo "make bench   all benchmarks; results go to benchmarks/RESULTS.md (run on an idle machine)"
	@echo "make adaptation   hours of adapting to other domains, resumable; results go to docs/adaptation-results.md"
	@echo "make reproduce   the papers' tables and figures; ARGS=\"000 table-1\", ARGS=--list names all, --help says what else"
	@echo "make clean   remove the environment and everything generated"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "rankinite needs Python 3.11 or later; try make PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.core: $(BIN)/python pyproject.toml constraints.txt src/rankinite/version.py
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	$(INSTALL) --editable '.[cluster,dev,mlflow,mpi,onnx,peers,plots,sklearn,tune]'
	@touch $@

$(VENV)/.docs: $(VENV)/.core
	$(INSTALL) --editable '.[cluster,docs,onnx,plots,sklearn,tune]'
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(INSTALL) --editable '.[bench]'
	@touch $@

demo: $(VENV)/.core
	@PATH="$(CURDIR)/$(BIN):$$PATH" rankinite demo --out demo

# The tests of the report look at it in a browser. Where it cannot be installed they are skipped, and say so.
browser:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing chromium and chromium-driver for the tests of the report"; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium chromium-driver >/dev/null \
	  || echo "chromium could not be installed: the browser tests are skipped, or fail where CI is set"; \
	else echo "no chromium and chromedriver: the browser tests are skipped (apt install chromium chromium-driver)"; fi

# Exported C source is compiled and compared; one test of output files compiles a small library that makes writing fail.
compiler:
	@command -v cc >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq gcc libc6-dev >/dev/null \
	  || echo "no C compiler could be installed: the tests of exported C fail, those of failing disks are skipped"; \
	else echo "no C compiler: the tests of exported C fail, those of failing disks are skipped (apt install gcc libc6-dev)"; fi

# Exported PMML is evaluated by a Java library.
java:
	@command -v java >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing a Java runtime for the tests of exported PMML"; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq default-jre-headless >/dev/null \
	  || { echo "no Java runtime could be installed"; exit 1; }; \
	else echo "no Java runtime, which the tests of exported PMML need (apt install default-jre-headless)"; exit 1; fi

# What each test took is printed for the slowest and kept for all, as JUnit XML. Neighbours in a file share what its fixtures
# make: each process starts with one half of the tests, and steals from the other at the end.
PYTEST = $(BIN)/python -m pytest -n 2 --dist worksteal --durations 25

# The kernels that most tests need are compiled first, by both processes: where the tests compile them, one waits for the other.
test: $(VENV)/.dev browser compiler
	$(BIN)/rankinite warm-up --threads 2 --quiet
	$(PYTEST) -m "not slow" --junit-xml test-results/test.xml

test-all: java test
	$(PYTEST) -m slow --junit-xml test-results/slow.xml

fuzz: $(VENV)/.dev
	cd tests && ../$(BIN)/python -m fuzz --minutes $(or $(MINUTES),30)

crash: $(VENV)/.dev
	cd tests && ../$(BIN)/python -m crash --minutes $(or $(MINUTES),10)

determinism: $(VENV)/.dev
	cd tests && ../$(BIN)/python -m determinism

cluster-test: $(VENV)/.dev
	cd tests && ../$(BIN)/python -m joint

parity: $(VENV)/.dev compiler java
	cd tests && ../$(BIN)/python -m serving.parity --forests $(or $(FORESTS),10000)

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

# The wheel is built from the source archive, so that this is known to hold what that needs.
dist: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist
	@ls -l dist

bench: $(VENV)/.bench
	for program in $(filter-out benchmarks/adaptation.py,$(wildcard benchmarks/[a-z]*.py)); do $(BIN)/python $$program || exit 1; done

adaptation: $(VENV)/.bench
	$(BIN)/python benchmarks/adaptation.py
	$(BIN)/python benchmarks/adaptation.py --kind rivals
	$(BIN)/python benchmarks/adaptation.py --report

reproduce: $(VENV)/.dev
	$(BIN)/python -m papers $(ARGS)

clean:
	rm -rf $(VENV) demo site dist test-results .bench .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
