"""Rules that import-linter cannot see: who may touch the compiled core, and that its stub tells the truth."""

import ast
from pathlib import Path

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


def test_the_stub_names_what_the_core_has():
    stub = ast.parse((ROOT / "_core.pyi").read_text(encoding="utf-8"))
    declared = {n.name for n in stub.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    declared |= {n.target.id for n in stub.body if isinstance(n, ast.AnnAssign)}
    offered = {name for name in dir(_core) if not name.startswith("_")}
    assert declared == offered
