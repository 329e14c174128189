"""Rules that import-linter cannot see: who may touch the compiled core, and that its stub tells the truth."""

import ast
from pathlib import Path

import pytest

import surewood
from surewood import _core

ROOT = Path(surewood.__file__).parent


def imports_core(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            if node.module == "surewood._core":
                return True
            if node.module == "surewood" and any(a.name == "_core" for a in node.names):
                return True
        if isinstance(node, ast.Import) and any(a.name == "surewood._core" for a in node.names):
            return True
    return False


def test_only_the_engines_import_the_core():
    users = {p.relative_to(ROOT) for p in ROOT.rglob("*.py") if imports_core(p)}
    assert {path.parts[0] for path in users} <= {"trees", "svm", "boosting"}


def test_the_stub_is_what_nanobind_writes():
    stubgen = pytest.importorskip("nanobind.stubgen")
    stub = stubgen.StubGen(_core)
    stub.put(_core)
    assert stub.get() == (ROOT / "_core.pyi").read_text(encoding="utf-8"), "run `make stub`"
