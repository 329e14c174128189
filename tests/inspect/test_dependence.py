"""Effects of columns and pairs, where the true ones are known."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from surewood import BinnedForestClassifier
from surewood.inspect import dependence, interactions


class Known:
    """A model whose probability is a known function of the columns."""

    classes_ = np.array(["no", "yes"])

    def __init__(self, function):
        self.function = function

    def predict_proba(self, X):
        p = self.function(np.asarray(X, dtype=float))
        return np.column_stack([1 - p, p])


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).uniform(size=(400, 3))


def test_the_effect_of_a_linear_column_is_its_line(X):
    model = Known(lambda rows: 0.3 + 0.4 * rows[:, 0] - 0.2 * rows[:, 1])
    first, second, third = dependence(model, X)
    grid = np.array(first.grid)
    np.testing.assert_allclose(np.diff(first.effect[:, 1]) / np.diff(grid), 0.4)
    np.testing.assert_allclose(np.diff(second.effect[:, 0]) / np.diff(second.grid), 0.2)
    np.testing.assert_allclose(third.effect, 0, atol=1e-15)
    assert first.count.sum() == 400
    middle = (first.effect[1:] + first.effect[:-1]) / 2
    np.testing.assert_allclose(first.count @ middle, 0, atol=1e-12)
    assert first.strength[1] == pytest.approx(0.4 * X[:, 0].std(), rel=0.05)


def test_effects_of_correlated_columns_do_not_leave_the_data():
    rng = np.random.default_rng(0)
    a = rng.uniform(size=500)
    X = np.column_stack([a, a + rng.normal(size=500) * 0.01])
    # Off the diagonal the model is absurd; no row lies there.
    model = Known(lambda rows: np.where(np.abs(rows[:, 0] - rows[:, 1]) < 0.2, 0.5 * rows[:, 0], 1.0))
    (first,) = dependence(model, X, [0])
    assert np.ptp(first.effect[:, 1]) == pytest.approx(0.5, abs=0.03)


def test_categories_and_few_values():
    frame = pd.DataFrame({"job": ["clerk", "baker", "clerk", None] * 25, "flag": [0, 1] * 50})
    y = frame["job"].eq("baker").astype(int)
    model = BinnedForestClassifier(20, random_state=0).fit(frame, y)
    job, flag = dependence(model, frame)
    assert job.kind == flag.kind == "category"
    assert job.grid == ["clerk", "baker", None]
    assert job.count.tolist() == [50, 25, 25]
    assert job.effect[1, 1] > job.effect[0, 1]
    np.testing.assert_allclose(job.count @ job.effect, 0, atol=1e-9)
    assert set(flag.grid) == {0.0, 1.0}


def test_interactions_are_found_and_additive_models_have_none(X):
    model = Known(lambda rows: 0.5 + (rows[:, 0] - 0.5) * (rows[:, 2] - 0.5) + 0.1 * rows[:, 1])
    strongest, *others = interactions(model, X, max_rows=400)
    assert (strongest.first, strongest.second) == ("x0", "x2")
    # The standard deviation of the product of two independent uniform variables around 0.
    assert strongest.strength == pytest.approx(1 / 12, rel=0.15)
    assert all(one.strength < 1e-12 for one in others)
    corner = (
        strongest.effect[-1, -1] - strongest.effect[-1, 0] - strongest.effect[0, -1] + strongest.effect[0, 0]
    )
    sign = 1 if strongest.label == "yes" else -1
    assert sign * corner == pytest.approx(1.0, abs=0.05)


def test_columns_by_name_and_position_and_refusals():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 2)), columns=["a", "b"])
    model = LogisticRegression().fit(frame, frame["a"] > 0)
    assert [one.column for one in dependence(model, frame, ["b", 0])] == ["b", "a"]
    with pytest.raises(ValueError, match=r"^columns names 'c', which the table does not have\.$"):
        dependence(model, frame, ["c"])
    with pytest.raises(ValueError, match=r"^n_points must be >= 2, got 1\.$"):
        dependence(model, frame, n_points=1)
    with pytest.raises(ValueError, match=r"^X has no rows\.$"):
        dependence(model, frame[:0])
    assert len(interactions(model, frame, limit=5)) == 1
