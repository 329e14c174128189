"""What a model says about itself, through the protocol only."""

import json

import numpy as np
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surewood import BinnedForestClassifier
from surewood.estimators.describing import report_facts
from surewood.report.model_facts import model_facts
from surewood.report.model_step import last_step
from surewood.report.predictions import Predictions

X, y = load_iris(return_X_y=True)


class Told(DummyClassifier):
    """Describes itself with the rows that it was shown."""

    def __report_facts__(self, rows):
        text = "no rows" if rows is None else f"{len(rows.y)} rows, mean {np.mean(rows.X):.3f}"
        return report_facts("Told", text)


def test_any_classifier_that_follows_the_protocol_is_described():
    model = Told().fit(X, y)
    assert "no rows" in json.dumps(model_facts(model))
    shown = model_facts(model, Predictions(model, X, y))
    assert f"150 rows, mean {X.mean():.3f}" in json.dumps(shown)


def test_the_last_step_of_a_pipeline_sees_the_transformed_rows():
    model = make_pipeline(StandardScaler(), Told()).fit(X, y)
    assert isinstance(last_step(model), Told)
    assert "mean 0.000" in json.dumps(model_facts(model, Predictions(model, X, y))).replace("-0.000", "0.000")


def test_rows_with_unknown_labels_are_left_out():
    model = Told().fit(X[:100], y[:100])
    assert "100 rows" in json.dumps(model_facts(model, Predictions(model, X, y)))


def test_our_forest_describes_itself_in_plain_values():
    model = BinnedForestClassifier(5, random_state=0).fit(X, y)
    facts = model_facts(model, Predictions(model, X, y), is_holdout=True)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
