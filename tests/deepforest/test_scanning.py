"""Multi-grained scanning: windows, folds, and the public transformer."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from surewood.deepforest import CascadeForestClassifier, MultiGrainedScanner
from surewood.deepforest.scanning import Grain, make_grains, row_folds, row_keys


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
    few, limit, every = (
        MultiGrainedScanner(windows=[3], max_windows=n, n_estimators=3, random_state=0).fit_transform(X, y)
        for n in (50, 800, 10**6)
    )
    assert np.isfinite(few).all()
    np.testing.assert_array_equal(limit, every)  # 80 rows have 800 windows
    assert (few != every).any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"forests": [LogisticRegression()]}, "must be kinds of forests, not classifiers"),
        ({"shape": (5, 5)}, r"shape \(5, 5\) does not describe rows of 12 values"),
        ({"shape": (3.0, 4.0)}, "does not describe rows of 12 values"),
        ({"shape": (-3, -4)}, "does not describe rows of 12 values"),
        ({"windows": [2.5]}, "window 2.5 must be an integer"),
        ({"windows": [13]}, r"a window of size \(13,\) does not fit into rows of shape \(12,\)"),
        (
            {"windows": [(2, 2)]},
            r"window \(2, 2\) must be an integer or have one integer for each of 1",
        ),
    ],
)
def test_bad_parameters_say_what_is_wrong(parameters, message):
    X, y = bumps(30)
    with pytest.raises(ValueError, match=message):
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


def test_the_fold_of_a_row_is_in_its_values():
    X = np.random.default_rng(0).normal(size=(300, 12))
    X32 = X.astype(np.float32)
    np.testing.assert_array_equal(row_keys(X32), row_keys(X32.astype(np.float64)))
    np.testing.assert_array_equal(row_folds(X, 3)[::-1], row_folds(X[::-1], 3))
    assert np.bincount(row_folds(X, 3), minlength=3).min() > 60
    assert row_keys(np.array([[0.0]]))[0] == row_keys(np.array([[-0.0]]))[0]


def test_windows_of_images_equal_slicing():
    rows = np.random.default_rng(0).random((3, 5 * 6))
    (grain,) = make_grains(30, (5, 6), [(2, 3)], stride=2)
    windows = grain.windows(rows).reshape(3, *grain.positions, 6)
    images = rows.reshape(3, 5, 6)
    for i in range(grain.positions[0]):
        for j in range(grain.positions[1]):
            np.testing.assert_array_equal(
                windows[:, i, j], images[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 3].reshape(3, -1)
            )


def test_windows_of_sequences_with_channels():
    rows = np.arange(12.0)[None]  # six steps of two channels
    (grain,) = make_grains(12, (6, 2), [(3,)], stride=1)
    assert grain == Grain((6, 2), (3,), (1,))
    np.testing.assert_array_equal(grain.windows(rows)[1], [2, 3, 4, 5, 6, 7])


def test_colour_images():
    rows = np.arange(2 * 2 * 3.0)[None]
    (grain,) = make_grains(12, (2, 2, 3), [1], stride=1)
    np.testing.assert_array_equal(grain.windows(rows), rows.reshape(4, 3))


def test_automatic_sizes():
    assert [g.size for g in make_grains(784, (28, 28), "auto", 1)] == [(2, 2), (4, 4), (7, 7)]
    assert [g.size for g in make_grains(3, None, "auto", 1)] == [(1,)]
