import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from surewood.deepforest import CascadeForestClassifier, MultiGrainedScanner


def bumps(n=150, length=12, seed=0):
    """Two classes that differ by the shape of a bump at a random place."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, length)), rng.integers(0, 2, n)
    for row, code in enumerate(y):
        at = rng.integers(0, length - 2)
        X[row, at : at + 3] += [1, 2, 3] if code else [3, 2, 1]
    return X, y


def test_scanning_finds_what_may_be_anywhere():
    X, y = bumps(400)
    X_new, y_new = bumps(300, seed=1)
    scanned = make_pipeline(
        MultiGrainedScanner(windows=[3], n_estimators=20, random_state=0),
        CascadeForestClassifier(20, max_layers=2, random_state=0),
    )
    plain = CascadeForestClassifier(20, max_layers=2, random_state=0).fit(X, y)
    assert scanned.fit(X, y).score(X_new, y_new) > plain.score(X_new, y_new) + 0.05


def test_shape_and_names_of_the_result():
    X, y = bumps(60)
    scanner = MultiGrainedScanner(windows=[3, 5], n_estimators=3, passthrough=True, random_state=0)
    out = scanner.fit_transform(X, y)
    assert out.shape == (60, 12 + 2 * 2 * (10 + 8))
    assert len(scanner.get_feature_names_out()) == out.shape[1]
    assert scanner.get_feature_names_out()[12] == "scan3_at0_forest0_0"
    np.testing.assert_allclose(out[:, 12:].reshape(60, -1, 2).sum(axis=2), 1.0)


def test_a_rows_own_label_never_changes_its_own_vectors():
    X, y = bumps(60)
    changed = y.copy()
    changed[7] = 1 - y[7]
    scanner = MultiGrainedScanner(windows=[3], n_estimators=5, random_state=0)
    before, after = scanner.fit_transform(X, y), scanner.fit_transform(X, changed)
    np.testing.assert_array_equal(before[7], after[7])
    assert (before != after).any()


def test_sampled_windows_and_missing_values():
    X, y = bumps(80)
    X[::7, 3] = np.nan
    few = MultiGrainedScanner(windows=[3], max_windows=50, n_estimators=3, random_state=0).fit_transform(X, y)
    assert np.isfinite(few).all()


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"stride": 0}, ValueError, "stride must be an integer of at least 1, got 0."),
        ({"n_folds": 1}, ValueError, "n_folds must be an integer of at least 2, got 1."),
        ({"n_estimators": 2.5}, TypeError, "n_estimators must be an integer of at least 1, got 2.5."),
        ({"forests": [LogisticRegression()]}, ValueError, "must be kinds of forests, not classifiers"),
        ({"shape": (5, 5)}, ValueError, "does not describe rows of 12 values"),
    ],
)
def test_bad_parameters_say_what_is_wrong(parameters, error, message):
    X, y = bumps(30)
    with pytest.raises(error, match=message):
        MultiGrainedScanner(**parameters).fit(X, y)


def test_category_columns_are_refused():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": list("xyxy")})
    with pytest.raises(ValueError, match="slides windows over numbers; X has category columns"):
        MultiGrainedScanner().fit(X, [0, 1, 0, 1])


def test_transform_uses_the_folds_of_the_fit():
    X, y = bumps(60)
    scanner = MultiGrainedScanner(windows=[3], n_estimators=3, random_state=0).fit(X, y)
    before = scanner.transform(X)
    np.testing.assert_array_equal(scanner.set_params(n_folds=5).transform(X), before)
