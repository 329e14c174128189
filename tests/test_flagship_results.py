"""The tables of the flagship's study in the README and the research note are those of the committed rows."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest


@pytest.fixture(scope="module")
def study():
    path = Path(__file__).resolve().parents[1] / "benchmarks" / "study_flagship.py"
    spec = importlib.util.spec_from_file_location("study_flagship", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("tables", ["papers", "keel"])
@pytest.mark.parametrize(("path", "make"), [("README", "short_table"), ("NOTE", "long_tables")])
def test_text_shows_the_committed_rows(study, path, make, tables):
    """``python -m benchmarks.study_flagship table --write`` brings them up to date."""
    pytest.importorskip("tabulate", reason="pandas needs tabulate to write Markdown")
    text = getattr(study, path).read_text(encoding="utf-8")
    collection = study.COLLECTIONS[tables]
    shown = getattr(study, make)(pd.read_csv(collection.results))
    assert study.between_marks(text, collection.mark, shown) == text


@pytest.mark.parametrize("installed", [(), ("lightgbm",)])
def test_peers_that_are_not_installed_are_left_out(study, monkeypatch, installed):
    monkeypatch.setattr(study, "find_spec", lambda name: name in installed or None)
    if installed:
        pytest.importorskip("lightgbm")
    names = {"random forest", "extra-trees", "hist. boosting", "tuned SVC"}
    assert set(study.peers()) == names | ({"LightGBM"} if installed else set())


def test_ranks_and_regret(study):
    made = [
        (name, 0, method, error, error, error, 1 - error, 1.0)
        for name, errors in (("a", (0.1, 0.2)), ("b", (0.3, 0.2)), ("c", (0.1, 0.3)))
        for method, error in zip("xy", errors)
    ]
    columns = ["set", "repeat", "method", "error", "log_loss", "brier", "auc", "fit_s"]
    found = study.summary(pd.DataFrame(made, columns=columns))
    assert found.loc["x", "rank, error"] == 1.3
    assert found.loc["x", "regret, points"] == pytest.approx(10 / 3, abs=0.01)
    assert found.loc["y", "mean error, %"] == pytest.approx(70 / 3, abs=0.01)


def test_targets_name_the_tables_where_a_member_alone_is_clearly_better(study):
    errors = {"surewood": (0.10, 0.20), "composite forest": (0.05, 0.30), "CatBoost": (0.20, 0.20)}
    made = [
        (name, 0, method, error, error, error, 1 - error, 1.0, 1000)
        for method, both in errors.items()
        for name, error in zip(("sonar", "iris"), both)
    ]
    columns = ["set", "repeat", "method", "error", "log_loss", "brier", "auc", "fit_s", "n_test"]
    found = study.targets(pd.DataFrame(made, columns=columns))
    assert "0.33 of that of CatBoost" in found  # 2.5 points and 7.5
    assert "0.50 of that of composite forest" in found  # 5 points
    assert "error: sonar (composite forest, by 5.00 points)." in found
    assert found.endswith("ranks are 1.2 in error and 1.2 in log-loss, its regret is 0.00 points.")
