# surewood: every command of the README. `make help` lists them.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FUZZ ?= 10000
FILES ?= 5000
UNHURRIED := -o faulthandler_timeout=0 # one test may take more than the five minutes of pyproject.toml
CORE := $(shell find core -type f) # any edited file below core/ rebuilds the extension
PACKAGE := $(VENV)/.package
STAMP := $(VENV)/.installed

.PHONY: help setup demo test test-data slow lint types imports doctests references language size check guarantees fuzz fuzz-files fuzz-files-asan bench bench-quick papers stub core-asan core-valgrind docs clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

# Modules are compiled when they are imported.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

$(PACKAGE): pyproject.toml CMakeLists.txt $(CORE)
	@test -x $(BIN)/python || $(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("surewood needs Python 3.11 or later; $(PYTHON) is %d.%d. Name another: make setup PYTHON=python3.13" % sys.version_info[:2])'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing surewood into $(VENV) (compiles its core: a minute or two)"
	@$(PIP) -e .
	@touch $@

$(STAMP): $(PACKAGE)
	@echo "installing the tools to work on it"
	@$(PIP) --upgrade 'pip>=25.1' # the first with --group
	@$(PIP) --group dev # surewood is installed already: nothing is compiled again
	@touch $@

setup: $(STAMP) ## create .venv with surewood and everything needed to work on it

demo: $(PACKAGE) ## surewood fit and surewood compare on a CSV file; the page is demo/report.html
	@$(BIN)/python examples/demo.py demo

test: $(STAMP) ## run the tests; they need no network and no data outside of the repository
	@$(BIN)/python -m pytest -q -n 2 -m 'not slow and not needs_data' tests

test-data: $(STAMP) ## the tests on the public tables in the folder SUREWOOD_DATA (docs/research/reproduction.md)
	@if [ -d "$$SUREWOOD_DATA" ]; then $(BIN)/python -m pytest -q -n 2 -m 'needs_data and not slow' tests; \
	  else echo "make test-data: skipped, because SUREWOOD_DATA is not a folder with the public tables (docs/research/reproduction.md)"; fi

slow: $(STAMP) ## the tests that are too slow for `make test`, except the simulations of `make guarantees`
	@$(BIN)/python -m pytest -q -n 2 $(UNHURRIED) -m slow --ignore=tests/guarantees tests

lint: $(STAMP) ## ruff: rules and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(STAMP) ## mypy strict on the package and on papers/
	@$(BIN)/mypy

imports: $(STAMP) ## the layer contract of the architecture
	@$(BIN)/lint-imports

doctests: $(STAMP) ## the examples in docstrings
	@$(BIN)/python -m pytest -q --doctest-modules src/surewood papers docs/_ext/theory_references.py tools/language.py -p no:cacheprovider

references: $(STAMP) ## every reference to docs/theory.md has a target there
	@$(BIN)/python -m pytest -q tests/test_theory_references.py

size: $(STAMP) ## how large the code is, and what one fit visits and makes
	@$(BIN)/python tools/size.py

language: $(STAMP) ## text for users is in the words of the field
	@$(BIN)/python tools/language.py

check: lint types imports doctests references language test ## all checks of the Python side; CI adds core-asan and docs

guarantees: $(STAMP) ## slow simulations: every GUARANTEE against a known true risk
	@$(BIN)/python -m pytest -q -n 2 $(UNHURRIED) tests/guarantees

fuzz: $(STAMP) ## 10,000 odd tables over all estimators (FUZZ=n for another number)
	@SUREWOOD_FUZZ=$(FUZZ) $(BIN)/python -m pytest -q -n 2 $(UNHURRIED) tests/fuzz

fuzz-files: $(STAMP) ## 5,000 forged model files over all estimators (FILES=n for another number)
	@$(BIN)/python -m tests.fuzz.fuzz_files --cases $(FILES)
	@$(BIN)/python -m tests.fuzz.fuzz_files --cases 100000 --kinds all

fuzz-files-asan: $(STAMP) ## the same with the compiled core under ASan and UBSan (GCC or Clang, CXX chooses)
	@$(BIN)/cmake -S . -B build/asan-python -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DCMAKE_BUILD_TYPE=Debug \
	  -DPython_EXECUTABLE=$(abspath $(BIN))/python -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir) \
	  -DSUREWOOD_SANITIZE=address,undefined > /dev/null
	@$(BIN)/cmake --build build/asan-python
	@core=$$(find build/asan-python -maxdepth 1 -name '_core*.so' | head -1); \
	  compiler=$$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' build/asan-python/CMakeCache.txt); \
	  runtime=$$($$compiler -print-file-name=libasan.so); \
	  [ -f "$$runtime" ] || runtime=$$($$compiler -print-file-name=libclang_rt.asan-$$(uname -m).so); \
	  LD_PRELOAD=$$runtime:$$($$compiler -print-file-name=libstdc++.so) ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:malloc_context_size=5:quarantine_size_mb=16 \
	  $(BIN)/python -m tests.fuzz.fuzz_files --cases $(FILES) --core $$core

bench: $(STAMP) ## benchmarks: ours and the peer, interleaved, as ratios; then the targets
	@$(BIN)/python -m benchmarks

bench-quick: $(STAMP) ## speed over time: ratios to pinned peers, beside the committed run (half a minute at rest)
	@$(PIP) --group bench
	@$(BIN)/python -m benchmarks.quick

papers: $(STAMP) ## tables of the documentation from papers/*/results.csv
	@$(BIN)/python -m papers tables

stub: $(STAMP) ## write src/surewood/_core.pyi, the types of the compiled core
	@$(BIN)/python -m nanobind.stubgen --quiet -m surewood._core -o src/surewood/_core.pyi

core-asan: $(STAMP) ## the C++ assert programs under ASan and UBSan
	@$(BIN)/cmake -S . -B build/asan -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DCMAKE_BUILD_TYPE=Debug \
	  -DSUREWOOD_PYTHON=OFF -DSUREWOOD_CORE_TESTS=ON -DSUREWOOD_SANITIZE=address,undefined > /dev/null
	+@$(BIN)/cmake --build build/asan # + shares the jobs of make -j
	@$(BIN)/ctest --test-dir build/asan --output-on-failure

core-valgrind: $(STAMP) ## the C++ assert programs under valgrind
	@$(BIN)/cmake -S . -B build/valgrind -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	  -DSUREWOOD_PYTHON=OFF -DSUREWOOD_CORE_TESTS=ON > /dev/null
	@$(BIN)/cmake --build build/valgrind
	@for program in build/valgrind/test_*; do valgrind --quiet --error-exitcode=1 --leak-check=full $$program || exit 1; done

docs: $(STAMP) ## build the documentation; a warning is an error
	@$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

clean: ## remove everything that was built
	@rm -rf $(VENV) build dist demo docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis
