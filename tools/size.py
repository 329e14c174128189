"""How large the house is: code lines, files, public names, and what one fit visits and makes.

``make size`` prints the table; nothing enforces it. Code lines have no blank lines, comments or docstrings.
"""

from __future__ import annotations

import ast
import importlib
import io
import pkgutil
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "surewood"
_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(text: str) -> int:
    """Lines of Python that are neither blank nor comment nor docstring.

    Examples
    --------
    >>> code_lines('def f():\\n    \"\"\"One.\"\"\"\\n    # two\\n\\n    return 3\\n')
    2
    """
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and body:
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str):
                docstrings |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _LAYOUT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def totals(files: Iterable[Path]) -> tuple[int, int]:
    """Code lines of some files, and how many files there are."""
    counts = [code_lines(path.read_text(encoding="utf-8")) for path in files]
    return sum(counts), len(counts)


def public_names() -> Counter[str]:
    """Names in the ``__all__`` of every public package and module that has one, by package."""
    import surewood

    names: Counter[str] = Counter()
    for info in pkgutil.iter_modules(surewood.__path__):
        if not info.name.startswith("_"):
            module = importlib.import_module(f"surewood.{info.name}")
            names[info.name] = len([name for name in getattr(module, "__all__", ()) if name[0] != "_"])
    names["surewood"] = len(surewood.__all__)
    return names


def visited(work: Callable[[], Any], count: dict[str, str]) -> tuple[set[str], Counter[str]]:
    """Modules of surewood in which `work` runs code, and how often the functions in `count` are entered."""
    modules: set[str] = set()
    calls: Counter[str] = Counter()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            name = frame.f_globals.get("__name__", "")
            if name.startswith("surewood."):
                modules.add(name)
                label = count.get(f"{name.removeprefix('surewood.')}:{frame.f_code.co_qualname}")
                if label is not None:
                    calls[label] += 1

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return modules, calls


def main() -> None:
    import pandas as pd
    from sklearn.datasets import load_breast_cancer

    import surewood
    from surewood import workflow

    frame = load_breast_cancer(as_frame=True).frame
    X, y = frame.drop(columns="target"), frame["target"]
    calls = {
        "tables.schema:TableSchema.learn": "schemas",
        "trees.binning:bin_table": "bins of the table",
        "deepforest.data:learn_vector_bins": "bins of class vectors",
        "tables.row_hashes:table_content_hashes": "row hashes",
        "tables.planning.table_plan:plan": "column plans",
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        pd.DataFrame(frame).to_csv(path, index=False)

        def fit_file() -> None:
            out = Path(folder) / "out"
            workflow.fit(path, target="target", out=out, n_jobs=1, parameters={"n_estimators": 3}, force=True)

        fit_file()  # a module that is only imported is not visited: everything is imported before
        command = visited(fit_file, calls)
        fit = visited(lambda: surewood.SurewoodClassifier(3, random_state=0, n_jobs=1).fit(X, y), calls)
    for package in sorted(path for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"):
        lines, n_files = totals(package.rglob("*.py"))
        print(f"  {package.name:14} {lines:7,} lines {n_files:4} files")
    names = public_names()
    for label, value in {
        "code lines, files in src/": "{:,}, {}".format(*totals(SOURCE.rglob("*.py"))),
        "code lines, files in tests/": "{:,}, {}".format(*totals((ROOT / "tests").rglob("*.py"))),
        "public names (in bounds)": f"{sum(names.values())} ({names['bounds']})",
        "modules visited by SurewoodClassifier.fit": len(fit[0]),
        "modules visited by surewood fit": len(command[0]),
        "made by SurewoodClassifier.fit": dict(fit[1]),
        "made by surewood fit": dict(command[1]),
    }.items():
        print(f"{label:44} {value}")
    if "--modules" in sys.argv:
        print(*sorted(command[0]), sep="\n")


if __name__ == "__main__":
    main()
