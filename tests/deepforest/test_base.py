import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold

from surewood.deepforest import CascadeForestClassifier, MarginDeepForestClassifier

PUBLIC = (
    "layers_",
    "n_layers_",
    "forests_",
    "held_out_scores_",
    "held_out_labels_",
    "staged_held_out_scores_",
)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.mark.parametrize("cls", [MarginDeepForestClassifier, CascadeForestClassifier])
def test_fitted_attributes_need_a_fit(cls):
    model = cls()
    for name in (*PUBLIC, "feature_importances_"):
        with pytest.raises(NotFittedError):
            getattr(model, name)
        assert not hasattr(model, name)


@pytest.mark.parametrize("cls", [MarginDeepForestClassifier, CascadeForestClassifier])
def test_folds_of_the_user_hold_rows_out_together(cls, wine):
    X, y = wine
    splits = list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, y))
    settings = {"n_estimators": 5, "forests": ["random"], "max_layers": 2, "random_state": 0}
    model = cls(cv=splits, **settings).fit(X, y)
    assert model.layers_[0].n_trees == 3 * 5
    changed = y.copy()
    changed[splits[0][1]] = (y[splits[0][1]] + 1) % 3  # labels of one fold: its own first vectors stay
    study = {"keep_held_out": True}
    before, after = (cls(cv=splits, study=study, **settings).fit(X, labels) for labels in (y, changed))
    first_before, first_after = before.staged_held_out_scores_[0], after.staged_held_out_scores_[0]
    np.testing.assert_array_equal(first_before[splits[0][1]], first_after[splits[0][1]])
    assert (first_before != first_after).any()


def test_folds_that_do_not_cover_the_rows_are_refused(wine):
    X, y = wine
    with pytest.raises(ValueError, match="cv must hold out every row exactly once"):
        MarginDeepForestClassifier(2, cv=[(np.arange(100), np.arange(100, 178))]).fit(X, y)


def test_a_fit_on_few_rows_of_positive_weight_is_refused(wine):
    X, y = wine
    with pytest.raises(ValueError, match="n_samples=1 of positive weight; cross-fitting needs at least 2"):
        CascadeForestClassifier(2).fit(X, y, sample_weight=(np.arange(178) == 0).astype(float))
