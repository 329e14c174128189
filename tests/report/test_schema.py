"""Every summary follows the documented schema, docs/report-schema.json."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.svm import SVC

from surewood import (
    BinnedForestClassifier,
    CompositeTreeClassifier,
    DeepCascadeSVMClassifier,
    MarginDeepForestClassifier,
    report,
)
from surewood.certify import certify, find_threshold

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "report-schema.json").read_text(encoding="utf-8"))
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :5]
TRAIN, HOLD = (X[::2], y[::2]), (X[1::2], y[1::2])
MODELS = {
    "forest": BinnedForestClassifier(20, random_state=0),
    "composite": CompositeTreeClassifier(max_depth=1, C=1.0, random_state=0),
    "cascade": DeepCascadeSVMClassifier(2, degrees=(1,), fractions=(0.3,), C=1.0, random_state=0),
    "margin": MarginDeepForestClassifier(3, forests=["random"], max_layers=2, random_state=0),
    "no probabilities": SVC(),
}


def check(summary):
    jsonschema.validate(summary, SCHEMA, cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize("name", list(MODELS))
def test_every_kind_of_model(name):
    model = MODELS[name].fit(*TRAIN)
    check(report.build_summary(model, *TRAIN, holdout=HOLD))


def test_claims_groups_and_a_choice():
    table = X.assign(part=pd.Categorical(np.where(np.arange(len(y)) % 3, "a", "b")))
    model = BinnedForestClassifier(20, random_state=0).fit(table[::2], y[::2])
    claims = ["error", "recall:1", "brier", "error_by:part"]
    given = certify(model, table[1::2], y[1::2], claims=claims)
    score = {"family": "rcf", "error": 0.1, "log_loss": 0.2, "seconds": 1.0, "gap": 0.0}
    choice = {"chosen": "rcf", "why": "w", "rows": 9, "folds": 3}
    summary = report.build_summary(
        model,
        table[::2],
        y[::2],
        holdout=(table[1::2], y[1::2]),
        certificate=given,
        choice={**choice, "scores": [{**score, "standard_error_of_gap": 0.0}]},
    )
    check(summary)
    assert len(summary["certificate"]["claims"]) == 4
    assert [group["name"] for group in summary["certificate"]["claims"][-1]["groups"]] in (
        ["a", "b"],
        ["b", "a"],
    )


def test_without_a_holdout_and_with_a_rule_that_abstains():
    model = MODELS["forest"].fit(*TRAIN)
    check(report.build_summary(model, *TRAIN))
    rule = find_threshold(model, *HOLD, accepted_error=0.1)
    check(report.build_summary(rule, *TRAIN, holdout=HOLD, certificate=rule.certificate))


def test_another_key_is_refused():
    summary = report.build_summary(MODELS["forest"].fit(*TRAIN), *TRAIN, holdout=HOLD)
    with pytest.raises(jsonschema.ValidationError):
        check({**summary, "new": 1})
