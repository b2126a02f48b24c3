# Two commands for a newcomer: `make run` and `make test`. Both make the environment first.
# PYTHON is any interpreter >= 3.11; the environment lives in .venv and is made anew when the lock changes.

PYTHON ?= python3
CORES ?= 2
FUZZ_SECONDS ?= 100
KILLS ?= 21
FAULTS ?= reliability
LOWEST := tests/test_readme.py tests/test_metrics.py tests/test_validation.py tests/kernels tests/frequencies \
	tests/measures/test_construct.py tests/measures/test_srf.py tests/learners tests/maps/test_estimator_checks.py \
	tests/maps/test_sparse.py
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: env run test nightly test-arrays lowest reliability fuzz same lint browser docs results bench bench-gpu scaling large torch lock

env: $(STAMP)

$(STAMP): envs/lock.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rflib needs Python >= 3.11; try: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement envs/lock.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

define NEXT

Open results/report/index.html in a browser. What to try next:
- five repetitions more, without computing these again: $(BIN)/snakemake quickstart --cores $(CORES) --config repetitions=10
- a method of yours beside others: $(BIN)/rflib new-method Paired
- a lecture on such features, checked in two minutes without a download: $(BIN)/snakemake --cores $(CORES) poczos
endef
export NEXT

run: $(STAMP)
	@echo "A first run takes about 2 minutes on two cores, and 110 MB. Meanwhile, results/report/running.html fills up."
	$(BIN)/snakemake --cores $(CORES) quickstart
	@cat results/report/findings.txt
	@echo "$$NEXT"

test: $(STAMP)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not reliability and not nightly"

# What takes seconds beside a quicker test of the same law, hostile data files, and faults: an hour.
nightly: $(STAMP)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "nightly and not reliability"
	$(MAKE) fuzz
	$(MAKE) reliability

# torch lies apart: most of its wheels bring gigabytes for GPUs, so that it is not in the lock, and it asks for an older
# version of a package that is.
torch: $(STAMP)
	test -d build/torch || { $(BIN)/python -m pip install --quiet --target build/torch.part torch==2.13.0 \
		&& mv build/torch.part build/torch; } || echo "torch could not be had: its tests will be skipped"

# Rows of array-api-strict and of torch, with scikit-learn's checks of arrays.
test-arrays: $(STAMP) torch
	SCIPY_ARRAY_API=1 PYTHONPATH=$(CURDIR)/build/torch OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 \
		tests/arrays tests/maps/test_estimator_checks.py tests/learners/test_estimator_checks.py -k "arrays or array_api"

# The library with the oldest versions that pyproject.toml allows: every kernel, map and learner, and the README's example.
lowest: build/lowest/.installed
	OPENBLAS_NUM_THREADS=1 build/lowest/bin/python -m pytest -n 2 --dist worksteal -m "not reliability and not nightly" \
		$(LOWEST)

build/lowest/.installed: $(STAMP)
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python build/lowest
	$(BIN)/uv pip install --quiet --python build/lowest --resolution lowest-direct --editable ".[svm,fast,data,test]"
	touch $@

# Faults on one machine, memory with the largest files, a Slurm cluster on this host (root, Debian; else skipped), and
# the page that says what happened.
reliability: $(STAMP)
	tests/cluster/install.sh
	OPENBLAS_NUM_THREADS=1 RFLIB_KILLS=$(KILLS) $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder \
		-m "$(FAULTS)" --junit-xml=$(VENV)/reliability.xml tests/cluster tests/workflow tests/datasets tests/learners
	$(BIN)/python tests/reliability_page.py $(VENV)/reliability.xml $(wildcard $(VENV)/fuzz.xml) \
		> docs/results/reliability.md
	$(BIN)/python docs/results.py --measured reliability

# Ten minutes for the six formats of users' data files.
fuzz: $(STAMP)
	RFLIB_FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/python -m pytest -n 2 tests/datasets/test_fuzz.py \
		--junit-xml=$(VENV)/fuzz.xml

# Of two commits, every cell of quickstart and of luo2021's letter part in smoke size: the same to the bit?
same: $(STAMP)
	RFLIB_OLD=$(OLD) OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest tests/workflow/test_same_results.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint
	$(BIN)/codespell
	$(BIN)/lint-imports
	$(BIN)/mypy

# Chromium (on Debian, as root) and axe-core for the tests of the page, which without them are skipped by name.
browser:
	tests/report/install.sh
	npm ci --silent --no-audit --no-fund --prefix tests/report/axe

# The site, with its gallery and the reference from the docstrings; a warning is an error. Examples run again when edited.
docs: $(STAMP)
	$(BIN)/python -m sphinx -W --keep-going --quiet -d build/doctrees docs build/site
	@echo "The site: build/site/index.html"

# Draw the pages of docs/results from the kept cells. Cells are kept by docs/results.py --results (docs/release.md).
results: $(STAMP)
	$(BIN)/python docs/results.py $(STUDIES)

# These write to docs/results. On two idle cores, the peers take an hour, the growth 5 minutes, the largest runs 40.
bench: $(STAMP)
	$(BIN)/python benchmarks/run.py
	$(BIN)/python docs/results.py --measured bench

scaling: $(STAMP)
	$(BIN)/python benchmarks/scaling.py
	$(BIN)/python docs/results.py --measured scaling

large: $(STAMP)
	$(BIN)/python benchmarks/large.py
	$(BIN)/python docs/results.py --measured large

# On a machine with a CUDA device; it takes two minutes on an H200. Writes docs/results/gpu.md.
bench-gpu: $(STAMP) torch
	SCIPY_ARRAY_API=1 PYTHONPATH=$(CURDIR)/build/torch $(BIN)/python benchmarks/gpu.py
	$(BIN)/python docs/results.py --measured gpu

# Resolve the dependencies of pyproject.toml again; the lock names no package index.
lock: $(STAMP)
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --all-extras \
		--no-emit-index-url --no-emit-find-links --no-header pyproject.toml --output-file envs/lock.txt
