"""Prediction sets: labels that are coins, classes that the model does not know, parameters changed."""

import numpy as np
import pytest

from surewood.certify import PredictionSets, ThresholdedClassifier
from tests.promises.population import memorising_forest

ALPHA = 0.1


def coins(n, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.integers(0, 2, n)


@pytest.fixture(scope="module")
def trained():
    X, y = coins(400, 0)
    return X, y, memorising_forest(X, y)


def misses(sets, seed=9):
    """How often the sets of new rows miss the label."""
    X, y = coins(2000, seed)
    return 1.0 - sets.predict_set(X)[np.arange(len(y)), y].mean()


def test_training_rows_as_the_holdout(trained):
    X, y, forest = trained
    with pytest.raises(ValueError, match="these are the 400 training rows"):
        PredictionSets(forest, ALPHA, "marginal").fit(X, y)


@pytest.mark.parametrize("guarantee", ["marginal", "pac"])
def test_parameters_changed_after_the_fit(trained, guarantee):
    sets = PredictionSets(trained[2], 0.45, guarantee, delta=0.2).fit(*coins(200, 4))
    before, statement, rows = sets.guarantees_, sets.statement_, sets.predict_set(coins(50, 5)[0])
    other = "pac" if guarantee == "marginal" else "marginal"
    sets.set_params(alpha=0.001, delta=1e-6, guarantee=other, by="class", score="adaptive")
    assert sets.guarantees_ == before
    assert sets.statement_ == statement
    assert (sets.predict_set(coins(50, 5)[0]) == rows).all()


def test_another_model_after_the_fit(trained):
    sets = PredictionSets(trained[2], ALPHA, "marginal").fit(*coins(200, 4))
    sets.set_params(model=memorising_forest(*coins(200, 6)))
    with pytest.raises(AttributeError):
        sets.guarantees_  # noqa: B018


def test_a_fit_that_fails_leaves_no_guarantee_behind(trained):
    X, y, forest = trained
    sets = PredictionSets(forest, 0.45, "marginal").fit(*coins(200, 4))
    with pytest.raises(ValueError, match="these are the 400 training rows"):
        sets.set_params(alpha=0.001).fit(X, y)
    with pytest.raises(AttributeError):
        sets.guarantees_  # noqa: B018


@pytest.mark.parametrize("guarantee", ["marginal", "pac"])
def test_a_class_the_model_never_saw(trained, guarantee):
    """Its label is in no set: sets with every label of the model miss a fifth of the rows."""
    new, labels = coins(100, 7)
    labels[:20] = 2
    sets = PredictionSets(trained[2], ALPHA, guarantee).fit(new, labels)
    assert misses(sets) == 0.0
    assert sets.guarantees_ == ()
    assert "sets contain every label. No guarantee (holdout): too many rows have a class" in sets.statement_
    assert sets.notes_ == ["holdout: 20 of 100 rows have a class that the model does not know."]
    few = PredictionSets(trained[2], ALPHA, guarantee).fit(new[15:22], labels[15:22])
    assert few.guarantees_ == ()
    labels[1:20] = 0
    (entry,) = PredictionSets(trained[2], ALPHA, guarantee).fit(new, labels).guarantees_
    assert entry.n == 100
    (entry,) = PredictionSets(trained[2], ALPHA, guarantee).fit(new[20:25], labels[20:25]).guarantees_
    assert entry.conditions[0].text == "the label of a new row is a class of the model"


@pytest.mark.parametrize("guarantee", ["marginal", "pac"])
def test_a_model_fitted_again_on_all_rows(guarantee):
    """It knows the holdout by heart now: the thresholds are those of another model."""
    X, y = coins(300, 0)
    held, labels = coins(300, 1)
    forest = memorising_forest(X, y)
    sets = PredictionSets(forest, 0.4, guarantee).fit(held, labels)
    assert len(sets.guarantees_) == 1
    forest.fit(np.r_[X, held], np.r_[y, labels])
    assert sets.guarantees_ == ()
    assert sets.statement_ == "No guarantee: the model was changed or fitted again after the sets were found."


class Rounded:
    """Half of the rows are equal, and the last digit of a probability depends on how many are predicted."""

    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        p = np.where(X[:, 0] == 0, 0.2 if len(X) > 1 else np.nextafter(0.2, 0), np.clip(X[:, 0], 0.01, 0.99))
        return np.column_stack([1 - p, p])


@pytest.mark.parametrize("score", ["threshold", "adaptive"])
def test_rows_predicted_one_by_one(score):
    rng = np.random.default_rng(0)
    X = rng.random((800, 1)) * (rng.random((800, 1)) < 0.5)
    y = (rng.random(800) < np.where(X[:, 0] == 0, 0.2, X[:, 0])).astype(int)
    sets = PredictionSets(Rounded(), 0.05, score=score).fit(X[:400], y[:400])
    alone = np.vstack([sets.predict_set(X[k : k + 1]) for k in range(400, 800)])
    assert (alone == sets.predict_set(X[400:])).all()
    rule = ThresholdedClassifier(Rounded(), threshold=0.2, positive=1)
    assert rule.predict(X[X[:, 0] == 0][:1]) == rule.predict(X[X[:, 0] == 0][:2])[0] == 1
