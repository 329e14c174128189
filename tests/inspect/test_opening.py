"""Models are opened for mixing of rows whatever wraps them."""

import numpy as np
import polars as pl
from sklearn.linear_model import LogisticRegression

from surewood import BinnedForestClassifier
from surewood.inspect.opening import open_rows, unwrap


def test_rows_of_our_models_and_others_predict_the_same_as_the_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    y = X[:, 0] > 0
    same = np.tile(np.arange(50)[:, None], (1, 2))
    for model in (BinnedForestClassifier(5, random_state=0), LogisticRegression()):
        opened = open_rows(unwrap(model.fit(X, y), X))
        np.testing.assert_allclose(opened.predict_mixed(same), model.predict_proba(X))
        assert opened.cells()[3] == X[3].tolist()
        assert opened.n_rows == 50


def test_frames_of_polars():
    frame = pl.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, None, 0.0]})
    model = BinnedForestClassifier(3, random_state=0).fit(frame, [0, 1, 1])
    opened = open_rows(unwrap(model, frame))
    assert opened.cells() == [[0.0, 1.0], [1.0, None], [2.0, 0.0]]
