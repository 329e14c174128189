import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification

from surewood.bounds import Status
from surewood.certify import certify
from surewood.deepforest import CascadeForestClassifier, MarginDeepForestClassifier


@pytest.mark.parametrize("cls", [CascadeForestClassifier, MarginDeepForestClassifier])
def test_only_the_holdout_is_a_guarantee(cls):
    X, y = make_classification(300, 5, flip_y=0.1, random_state=0)
    model = cls(5, max_layers=2, random_state=0).fit(X[:200], y[:200])
    certificate = certify(model, X[200:], y[200:])
    words = {entry.method: entry.status for entry in certificate.entries}
    assert words["held-out error"] == Status.ESTIMATE
    assert words["margin ratio (4.6)"] == Status.HEURISTIC
    assert [entry for entry in certificate.entries if entry.status == Status.GUARANTEE]
    own = {e.name: e for e in model.__certificate_evidence__()}
    assert own["held-out error"].value == pytest.approx(
        np.mean(model.held_out_scores_.argmax(axis=1) != model.held_out_labels_)
    )


def test_the_stated_theorem_is_vacuous_and_called_heuristic():
    X, y = load_iris(return_X_y=True)
    for rate in (4, None):
        model = MarginDeepForestClassifier(5, depth_schedule=rate, max_layers=2, random_state=0).fit(X, y)
        *_, theorem = model.__certificate_evidence__()
        assert theorem.name == "stated margin theorem (4.7)"
        assert theorem.value == 1.0
