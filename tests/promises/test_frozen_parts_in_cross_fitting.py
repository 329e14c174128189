"""[D-44]: fold models with a part that was fitted on all rows before, and that cloning leaves fitted."""

import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from surewood.certify import CrossFittedClassifier, certify
from tests.promises.population import NOISE, draw, memorising_forest, nearest_neighbour

X, Y = draw(400, 0)


@pytest.mark.parametrize("hide", [
    FrozenEstimator,
    lambda model: make_pipeline(FrozenEstimator(model)),
    lambda model: CalibratedClassifierCV(FrozenEstimator(model)),
    lambda model: VotingClassifier([("one", FrozenEstimator(model))], voting="soft"),
    lambda model: make_pipeline(FrozenEstimator(StandardScaler().fit(X)), nearest_neighbour(X, Y)),
])  # fmt: skip
@pytest.mark.parametrize("fit", [memorising_forest, nearest_neighbour])
def test_a_model_of_all_rows_is_refused_as_a_fold_model(hide, fit):
    with pytest.raises(ValueError, match=r"^estimator must not have parts that are fitted already"):
        CrossFittedClassifier(hide(fit(X, Y))).fit(X, Y)


def test_a_fitted_estimator_itself_is_cloned_and_its_guarantee_is_true():
    model = CrossFittedClassifier(memorising_forest(X, Y)).fit(X, Y)
    (entry,) = certify(model).guarantees
    assert entry.value >= 2 * NOISE * (1 - NOISE)  # the Brier score of the true probabilities


def test_steps_that_learn_nothing_are_no_fitted_parts():
    pipeline = make_pipeline(FunctionTransformer(), StandardScaler(), nearest_neighbour(X, Y))
    assert len(certify(CrossFittedClassifier(pipeline).fit(X, Y)).guarantees) == 1
