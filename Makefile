# surewood: every command of the README. `make help` lists them.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FUZZ ?= 10000
FILES ?= 5000
CORE := $(shell find core -type f) # any edited file below core/ rebuilds the extension
STAMP := $(VENV)/.installed

.PHONY: help setup demo test lint types imports doctests references language check guarantees fuzz fuzz-files fuzz-files-asan bench papers core-asan core-valgrind docs clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml CMakeLists.txt $(CORE)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing surewood and its tools into $(VENV) (first time: a minute or two)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

setup: $(STAMP) ## create .venv with surewood and everything needed to work on it

demo: $(STAMP) ## train on a bundled data set, print the results, write demo/report.html
	@$(BIN)/python -m surewood.experiments.demo --out demo

test: $(STAMP) ## run the tests
	@$(BIN)/python -m pytest -q -n 2 -m 'not slow' tests

lint: $(STAMP) ## ruff: rules and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(STAMP) ## mypy strict on the whole package
	@$(BIN)/mypy

imports: $(STAMP) ## the layer contract of the architecture
	@$(BIN)/lint-imports

doctests: $(STAMP) ## the examples in docstrings
	@$(BIN)/python -m pytest -q --doctest-modules src/surewood docs/_ext/theory_references.py tools/language.py -p no:cacheprovider

references: $(STAMP) ## every reference to docs/theory.md has a target there
	@$(BIN)/python -m pytest -q tests/test_theory_references.py

language: $(STAMP) ## text for users is in the words of the field
	@$(BIN)/python tools/language.py

check: lint types imports doctests references language test ## all checks of the Python side; CI adds core-asan and docs

guarantees: $(STAMP) ## slow simulations: every GUARANTEE against a known true risk
	@$(BIN)/python -m pytest -q -n 2 tests/guarantees

fuzz: $(STAMP) ## 10,000 odd tables over all estimators (FUZZ=n for another number)
	@SUREWOOD_FUZZ=$(FUZZ) $(BIN)/python -m pytest -q -n 2 tests/fuzz

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

papers: $(STAMP) ## tables of the documentation from papers/*/results.csv
	@$(BIN)/python -m surewood.experiments.tables

core-asan: $(STAMP) ## the C++ assert programs under ASan and UBSan
	@$(BIN)/cmake -S . -B build/asan -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DCMAKE_BUILD_TYPE=Debug \
	  -DSUREWOOD_PYTHON=OFF -DSUREWOOD_CORE_TESTS=ON -DSUREWOOD_SANITIZE=address,undefined > /dev/null
	@$(BIN)/cmake --build build/asan
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
