"""Limits and habits of the repository: sizes, skeleton of the families, tests that mirror sources, wheels."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "surewood"
TESTS = ROOT / "tests"

LONGEST_FUNCTION = 60  # lines of a body; the docstring is not counted
LONGEST_FILE = 400

#: Folders whose estimators are the engines themselves have no files for roles that do not exist there.
FAMILIES = {
    "composite": {"estimator", "base", "plan", "training", "model", "model_selection", "explaining", "cost"},
    "cascade": {"estimator", "base", "plan", "training", "model", "model_selection", "explaining", "cost"},
    "deepforest": {"estimator", "base", "plan", "training", "model", "model_selection", "explaining", "cost"},
    "forest": {"estimator", "plan", "training", "model", "explaining", "cost"},
    "boosting": {"estimator", "plan", "training", "model", "explaining", "cost"},
    "polysvc": {"estimator", "plan", "training", "model", "explaining", "cost"},
    "blend": {"estimator", "plan", "training", "model", "explaining", "cost"},
}

#: Packages in which every module has a test module of its name, or a reason below.
MIRRORED = (
    "blend",
    "boosting",
    "bounds",
    "cascade",
    "cli",
    "composite",
    "datasets",
    "deepforest",
    "estimators",
    "experiments",
    "forest",
    "inspect",
    "parallel",
    "persistence",
    "polysvc",
    "report",
    "svm",
    "tables",
    "trees",
    "workflow",
)

#: Modules without a test module of their own name, each with its reason.
TESTED_ELSEWHERE = {
    "cli/__main__": "one line; tests/cli runs the command",
    "experiments/mddf/details": "tables of the summary; tests/experiments/mddf/test_tables.py",
    "experiments/rcf/walk": "tests/experiments/rcf/test_grid_study.py: every point equals its own fit",
    "parallel/dask_engine": "needs a cluster; tests/parallel/test_same_model.py and test_faults.py start one",
    "parallel/ray_engine": "needs a cluster; tests/parallel/test_same_model.py and test_faults.py start one",
    "parallel/process_engine": "tests/parallel/test_same_model.py runs every estimator in processes",
}


def python_files(folder):
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


def body_lines(function):
    """Lines from the first statement after the docstring to the end."""
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(getattr(body[0].value, "value", None), str):
        body = body[1:]
    return function.end_lineno - body[0].lineno + 1 if body else 0


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_no_function_body_is_longer_than_a_screen():
    long = [
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}: {body_lines(function)} lines"
        for path in python_files(SOURCE)
        for function in functions(ast.parse(path.read_text(encoding="utf-8")))
        if body_lines(function) > LONGEST_FUNCTION
    ]
    assert not long, "\n" + "\n".join(long)


def test_a_docstring_is_not_counted_and_a_body_is():
    text = 'def f():\n    """One.\n\n    Two.\n    """\n    x = 1\n    return x\n'
    assert [body_lines(f) for f in functions(ast.parse(text))] == [2]
    assert [body_lines(f) for f in functions(ast.parse("def g():\n    '''Nothing else.'''\n"))] == [0]


def test_no_python_source_is_longer_than_400_lines():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in python_files(SOURCE)}
    assert not {str(p.relative_to(ROOT)): n for p, n in lengths.items() if n > LONGEST_FILE}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_the_files_of_the_skeleton(family):
    present = {path.stem for path in (SOURCE / family).glob("*.py")}
    assert sorted(FAMILIES[family] - present) == []


def test_the_families_are_those_of_the_import_contract():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (c for c in project["tool"]["importlinter"]["contracts"] if c["id"] == "layers")
    (layer,) = (names for names in contract["layers"] if "composite" in names)
    assert {*re.split(r"\s*\|\s*", layer), "blend"} == set(FAMILIES)  # blend, above them, combines them


@pytest.mark.parametrize("package", MIRRORED)
def test_every_module_has_a_test_module_of_its_name(package):
    missing = []
    for path in python_files(SOURCE / package):
        module = path.relative_to(SOURCE).with_suffix("")
        if path.stem == "__init__" or str(module) in TESTED_ELSEWHERE:
            continue
        expected = TESTS / module.parent / f"test_{module.name.lstrip('_')}.py"
        if not expected.exists():
            missing.append(f"{module}: no {expected.relative_to(ROOT)}")
    assert not missing, "\n" + "\n".join(missing)


def test_the_exceptions_still_exist():
    assert [name for name in TESTED_ELSEWHERE if not (SOURCE / f"{name}.py").exists()] == []


def imported_when_collected(path):
    """Packages that a test module imports at its top level."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


def test_the_tests_of_the_wheels_can_be_collected():
    """`test-requires` of cibuildwheel and the dependencies cover what the test modules import."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    requirements = project["project"]["dependencies"] + project["tool"]["cibuildwheel"]["test-requires"]
    import_names = {"scikit-learn": "sklearn", "imbalanced-learn": "imblearn"}
    named = {re.match(r"[\w-]+", requirement)[0] for requirement in requirements}
    available = (
        {import_names.get(name, name) for name in named} | {"surewood", "tests"} | sys.stdlib_module_names
    )
    imported = {name for path in python_files(TESTS) for name in imported_when_collected(path)}
    assert sorted(imported - available) == []
