"""``surewood compare``: the table, the tests, the page."""

import importlib
import io
import json

import pytest
from rich.console import Console

from tests.cli.command import messy_frame, mistake, run, write

compare = importlib.import_module("surewood.cli.compare")


def test_compare_end_to_end(tmp_path):
    path = write(messy_frame(180), tmp_path / "t.csv")
    chosen = [word for name in ("rcf", "rf", "hgb", "xgboost", "lightgbm") for word in ("--only", name)]
    options = (
        "--target",
        "treu?",
        "--folds",
        "2",
        "--n-jobs",
        "1",
        "--out",
        tmp_path / "page.html",
        "--json",
    )
    shown = run("compare", path, *chosen, *options)
    assert shown.returncode == 0, shown.stderr
    result = json.loads(shown.stdout)
    assert [row["name"] for row in result["results"]] == ["rcf", "rf", "hgb", "xgboost", "lightgbm"]
    assert all(len(row["errors"]) == 2 and row["error"] < 0.5 for row in result["results"])
    assert result["best_baseline"] in ("rf", "hgb", "xgboost", "lightgbm")
    ours = result["results"][0]
    assert 0 <= ours["p_value"] <= 1
    assert ours["verdict"]
    assert "Kunden-Nr." in "".join(result["notes"])
    assert "XGBoost" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert mistake("compare", path, "--target", "treu?", "--only", "svm").startswith(
        "--only svm: choose among"
    )


@pytest.mark.parametrize(
    ("width", "shown"), [(80, "unclear (-14.25, p = 0.91)"), (130, "no difference shown")]
)
def test_the_table_fits_the_terminal(monkeypatch, width, shown):
    def row(name, title, ours, verdict="", p_value=None):
        return {
            "name": name,
            "title": title,
            "ours": ours,
            "error": 0.2925,
            "log_loss": 0.5094,
            "fit_seconds": 75.0,
            "predict_seconds_per_1000_rows": 0.0953,
            "difference_to_best_baseline": -0.1425,
            "p_value": p_value,
            "verdict": verdict,
        }

    rows = [
        row("rcf", "random composite forest", True, "no difference shown", 0.91),
        row("cascade", "deep SVM cascade", True, "better", 0.012),
        row("lightgbm", "random forest, 500 trees (scikit-learn)", False),
    ]
    result = {"table": "t", "rows": 9, "columns": 3, "classes": 2, "folds": 5, "repeats": 1, "notes": []}
    paper = Console(width=width, file=io.StringIO(), no_color=True, highlight=False)
    monkeypatch.setattr(compare, "console", lambda: paper)
    compare._print({**result, "best_baseline": "lightgbm", "results": rows})
    lines = [line.rstrip() for line in paper.file.getvalue().splitlines()]
    table = lines[2 : lines.index("", 2)]
    assert len(table) == 1 + len(rows)  # no line is broken
    assert shown in table[1]
    assert table[3].endswith("best baseline")
    assert ("unclear: no difference shown" in "\n".join(lines)) == ("unclear" in shown)
