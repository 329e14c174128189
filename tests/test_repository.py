"""What the wheels' tests need is declared, and what a failed installation says."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TESTS = ROOT / "tests"


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
        {import_names.get(name, name) for name in named}
        | {"benchmarks", "papers", "surewood", "tests"}
        | sys.stdlib_module_names
    )
    imported = {name for path in TESTS.rglob("*.py") for name in imported_when_collected(path)}
    assert sorted(imported - available) == []


def test_the_conda_recipe_has_the_dependencies_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    recipe = (ROOT / "packaging" / "conda-forge" / "recipe.yaml").read_text(encoding="utf-8")
    run = recipe.split("  run:\n")[1].split("\n\n")[0]
    listed = {line.removeprefix("    - ").replace(" ", "") for line in run.splitlines()}
    assert listed == {"python", *project["project"]["dependencies"]}
    assert f'version: "{project["project"]["version"]}"' in recipe


def test_a_build_without_a_compiler_says_what_to_install(tmp_path):
    programs = Path(sys.executable).parent
    cmake, ninja = shutil.which("cmake", path=programs), shutil.which("ninja", path=programs)
    if not cmake or not ninja:
        pytest.skip("CMake and Ninja are in the dependency group dev")
    built = subprocess.run(
        [cmake, "-S", ROOT, "-B", tmp_path, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"],
        env={"PATH": str(tmp_path), "CXX": "no-such-compiler"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 1
    message = " ".join(built.stderr.split())
    assert "there is no C++ compiler. Either update pip" in message
    assert "apt install g++ (Debian, Ubuntu)" in message
