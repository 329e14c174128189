"""A new family needs its own module and a line in the public list; then it has all that the others have.

`tests.toy_family` holds the classifier; the fixture adds it to the public list. No other file knows it.
"""

import json

import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from typer.testing import CliRunner

import surewood
from surewood import workflow
from surewood.certify import certify
from surewood.cli import app
from surewood.report import build_summary, render_page
from tests.cli.command import messy_frame
from tests.toy_family import ToyClassifier


@pytest.fixture
def public(monkeypatch):
    """The toy is in the public list."""
    monkeypatch.setitem(surewood._HOME, "ToyClassifier", "tests.toy_family")
    monkeypatch.setitem(surewood.SHORT_NAMES, "toy", "ToyClassifier")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "customers.csv"
    messy_frame(150).to_csv(path, index=False)
    return path


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@parametrize_with_checks([ToyClassifier()])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_bad_parameters_get_the_sentence_of_all_estimators():
    with pytest.raises(ValueError, match=r"^sharpness must be .*, got -1\.$"):
        ToyClassifier(sharpness=-1).fit([[0.0], [1.0]], [0, 1])


def test_certificate_and_page(public):
    X = messy_frame(150).drop(columns=["treu?", "Kunden-Nr.", "leer"]).astype({"Stadt": "category"})
    X["seit"] = pd.to_datetime(X["seit"])
    y = messy_frame(150)["treu?"]
    model = ToyClassifier().fit(X[::2], y[::2])
    certificate = certify(model, X[1::2], y[1::2])
    assert certificate.best.status.name == "GUARANTEE"
    assert "training error" in certificate.to_json()
    summary = build_summary(model, X[::2], y[::2], holdout=(X[1::2], y[1::2]), certificate=certificate)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["model"]["title"] == "Toy of centroids"
    page = render_page(summary)
    assert "Norms of the centroids" in page
    assert "The class of the nearest centroid." in page


def test_python_workflow(public, table, tmp_path):
    fitted = workflow.fit(table, target="treu?", model="toy", out=tmp_path / "model", n_jobs=1)
    assert fitted.facts["title"] == "toy (toy)"
    assert fitted.model[-1].sharpness == 1.9  # settings_for, from the 90 rows of max_training_rows
    assert "trained on a random sample of 90 of 120 training rows" in " ".join(fitted.notes)
    assert sorted(path.name for path in fitted.files.values()) == [
        "card.md",
        "model.surewood",
        "plan.toml",
        "report.html",
        "report.json",
    ]
    assert workflow.describe(tmp_path / "model")["centroids"] == "2"
    because, details = workflow.explain(tmp_path / "model", table, row=2).steps[:2]
    assert because.title == "Because"
    assert details.lines[0].startswith("distances: ja: ")


def test_command_line(public, table, tmp_path):
    model = tmp_path / "model"
    facts = json.loads(
        run(
            "fit",
            table,
            "--target",
            "treu?",
            "--model",
            "toy",
            "--set",
            "sharpness=3",
            "--out",
            model,
            "--json",
        )
    )
    assert (facts["family"], facts["settings"]) == ("toy", {"sharpness": 3})
    assert (
        json.loads((model / "report.json").read_text(encoding="utf-8"))["inside"]["figures"][0]["value"] == 2
    )
    predicted = run("predict", model, table, "--proba").splitlines()
    assert predicted[0] == "line,Kunden-Nr.,prediction,probability,probability of ja,probability of nein"
    assert len(predicted) == 151
    explained = run("explain", model, table, "--row", 3)
    assert "Prediction: " in explained
    assert "distances: ja: " in explained
    assert "centroids" in run("explain", model)
    fresh = tmp_path / "fresh.csv"
    messy_frame(80, seed=7).to_csv(fresh, index=False)
    assert "GUARANTEE" in run("certify", model, fresh)


def test_comparison(public):
    found = workflow.compare("iris", folds=2, only=["toy", "rf"], n_jobs=1)
    assert [(one.name, one.ours) for one in found.scores] == [("toy", True), ("rf", False)]
    assert found.best_baseline == "rf"


def test_without_the_public_list_it_is_unknown(table):
    with pytest.raises(
        workflow.WorkflowError, match=r"^model='toy' is unknown; choose among surewood, rcf, cascade, mddf"
    ):
        workflow.fit(table, target="treu?", model="toy")
