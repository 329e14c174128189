"""Facts of theory.md §3.7 on the paper's own data."""

import numpy as np
import pytest

from papers.datasets import load
from surewood import DeepCascadeSVMClassifier

pytestmark = pytest.mark.needs_data


@pytest.mark.parametrize(
    ("name", "four_roots"),
    [
        ("breast_cancer", (1.41, 2.70, 3.33, 3.33)),
        ("german_numeric", (1.67, 3.33, 3.33, 3.33)),
        ("splice", (2.31, 3.33, 3.33, 3.33)),
        ("ionosphere", (2.72, 3.33, 3.33, 3.33)),
    ],
)
def test_the_published_scales_select_a_single_svm(name, four_roots):
    X, y = load(name).part_of("cascades")
    rows = np.random.default_rng(0).permutation(len(y))[: int(0.6 * len(y))]
    X, y = X.iloc[rows], y.iloc[rows]
    for gamma, n_svms in ((1.0, 1), (0.1, 4), (0.01, 300)):
        settings = {"gamma_scale": gamma, "C": 1.0, "calibrate": False, "random_state": 0}
        model = DeepCascadeSVMClassifier(**settings).fit(X, y)
        assert model.cascades_[0].n_leaves == 1
        assert model.search_[0].proven
        assert model.search_[0].n_cascades == 191_956
        assert model.search_[0].n_svms <= n_svms
        if gamma == 1.0:  # inert: every cascade scores exactly 1
            assert model.search_[0].score == len(y)
            assert model.cascades_[0].degrees.tolist() == [1]
    np.testing.assert_allclose(4 * model.kernels_.complexity(len(y)), four_roots, atol=0.015)
