"""The summary: complete, plain, true to the model, and the same for frames, arrays and pipelines."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surewood import (
    BinnedForestClassifier,
    CascadeForestClassifier,
    CompositeTreeClassifier,
    DeepCascadeClassifier,
    DeepCascadeSVMClassifier,
    MarginDeepForestClassifier,
    PolySVC,
    report,
)
from surewood.certify import certify
from surewood.report.facts import column_facts

X, y = load_iris(return_X_y=True)
TRAIN, HOLD = (X[::2], y[::2]), (X[1::2], y[1::2])

MODELS = {
    "composite": CompositeTreeClassifier(max_depth=1, C=1.0, random_state=0),
    "cascade": DeepCascadeSVMClassifier(2, degrees=(1,), fractions=(0.3,), C=1.0, random_state=0),
    "generic": DeepCascadeClassifier(("stump", "tree"), max_leaves=2, random_state=0),
    "margin": MarginDeepForestClassifier(3, forests=["random"], max_layers=2, random_state=0),
    "cascade_forest": CascadeForestClassifier(3, forests=["random"], max_layers=2, random_state=0),
    "forest": BinnedForestClassifier(5, random_state=0),
    "svm": PolySVC(degree=2),
    "of scikit-learn": RandomForestClassifier(5, random_state=0),
    "in a pipeline": make_pipeline(
        StandardScaler(), CompositeTreeClassifier(max_depth=1, C=1.0, random_state=0)
    ),
    "without probabilities": PolySVC(degree=2, calibrate=False),
}


@pytest.fixture(params=list(MODELS))
def model(request):
    return MODELS[request.param].fit(*TRAIN)


def test_every_model_has_a_page(model):
    summary = report.build_summary(model, *TRAIN, holdout=HOLD)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["scores"]["error"] == pytest.approx(1 - model.score(*HOLD))
    page = report.render_page(summary)
    assert "What is guaranteed" in page
    assert ("Inside the model" in page) == bool(summary["inside"]["figures"])


def test_the_hardest_rows_are_named_as_the_frame_names_them():
    frame = pd.DataFrame(HOLD[0], columns=list("abcd"), index=[f"flower {i}" for i in range(75)])
    model = BinnedForestClassifier(5, random_state=0).fit(
        pd.DataFrame(TRAIN[0], columns=list("abcd")), TRAIN[1]
    )
    hardest = report.build_summary(model, *TRAIN, holdout=(frame, HOLD[1]))["hardest"]
    own = model.predict_proba(frame)[np.arange(75), HOLD[1]]
    assert hardest["rows"][0]["row"] == f"flower {own.argmin()}"
    assert hardest["rows"][0]["probability_of_truth"] == own.min()
    assert sorted(hardest["columns"]) == list("abcd")
    assert hardest["columns"][0] in "cd"  # the most important first


def test_without_a_holdout_the_page_says_so():
    summary = report.build_summary(MODELS["forest"].fit(*TRAIN), *TRAIN)
    assert summary["scores"]["sample"] == "training"
    assert "No holdout was used" in report.render_page(summary)
    assert all(entry["status"] != "GUARANTEE" for entry in summary["certificate"]["entries"])


def test_a_given_certificate_is_used():
    model = MODELS["forest"].fit(*TRAIN)
    certificate = certify(model, *HOLD, n_models=50)
    for given in (certificate, certificate.to_dict()):
        facts = report.build_summary(model, *TRAIN, holdout=HOLD, certificate=given)["certificate"]
        assert facts["entries"][0]["value"] == certificate.best.value
        assert facts["entries"][0]["n_models"] == 50
        assert "with probability at least 95 %" in facts["sentence"]


def test_a_holdout_too_small_for_a_guarantee():
    tiny = (X[[1, 103]], y[[1, 103]])
    facts = report.build_summary(MODELS["forest"].fit(*TRAIN), *TRAIN, holdout=tiny)["certificate"]
    assert facts["trivial"]
    assert facts["sentence"].startswith(
        "Too few holdout rows to guarantee better than the majority-class baseline"
    )


def test_ranges_show_whole_numbers_as_they_are():
    X = pd.DataFrame({"days": [18628.0, 19027.0, 18832.0, 18700.0], "big": [1e7, 2e7, 3e7, 4e7]})
    X["share"] = [0.123456, 0.2, 0.3, 0.4]
    days, big, share = (column["range"] for column in column_facts(None, X))
    assert days == "18628 to 19027, median 18766"
    assert big == "10000000 to 40000000, median 25000000"
    assert share == "0.1235 to 0.4, median 0.25"


def test_labels_that_training_did_not_see_are_errors():
    model = MODELS["cascade"].fit(X[:100], y[:100])
    summary = report.build_summary(model, X[:100], y[:100], holdout=HOLD)
    assert summary["scores"]["error"] >= 25 / 75
    assert summary["confusion"]["labels"][-1] == "not seen in training"
    report.render_page(summary)


def test_many_classes_have_a_row_each_in_the_confusion():
    random = np.random.default_rng(0)
    labels = np.repeat(np.arange(30), 8)
    table = labels[:, None] + random.normal(0, 0.3, (240, 2))
    model = RandomForestClassifier(5, random_state=0).fit(table, labels)
    summary = report.build_summary(model, table, labels, holdout=(table, labels))
    assert len(summary["confusion"]["labels"]) == 30
    assert np.sum(summary["confusion"]["matrix"]) == 240
    assert len(summary["class_scores"]) == 30
    assert len(summary["curves"]["classes"]) == 10


@pytest.mark.parametrize("kind", ["polars", "sparse", "lists"])
@pytest.mark.parametrize("name", ["composite", "margin", "cascade"])
def test_tables_of_other_kinds(kind, name):
    def convert(table):
        if kind == "polars":
            return pytest.importorskip("polars").DataFrame(table, schema=list("abcd"))
        return csr_matrix(table) if kind == "sparse" else table.tolist()

    train, hold = ((convert(table), labels) for table, labels in (TRAIN, HOLD))
    model = MODELS[name].fit(*train)
    summary = report.build_summary(model, *train, holdout=hold)
    assert summary["scores"]["error"] == pytest.approx(1 - model.score(*hold))
    assert summary["data"]["columns"][0]["name"] == ("a" if kind == "polars" else "x0")
    report.render_page(summary)
