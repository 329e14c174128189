"""Samples that several tests share."""

import numpy as np
import pandas as pd
import pytest

from surewood import RandomCompositeForestClassifier
from tests.composite.composite_samples import prepared, sample


@pytest.fixture
def noisy():
    return sample()


@pytest.fixture
def data(noisy):
    return prepared(*noisy)


@pytest.fixture(scope="package")
def problem():
    return sample(150, seed=2)


@pytest.fixture(scope="package")
def fitted(problem):
    return RandomCompositeForestClassifier(24, degrees=(1, 2), random_state=0).fit(*problem)


@pytest.fixture(scope="package")
def paper(problem):
    """A forest of the paper's algorithm."""
    return RandomCompositeForestClassifier.exact(n_estimators=15, max_depth=3, C=1.0, random_state=0).fit(
        *problem
    )


@pytest.fixture
def table_with_everything():
    """Numbers, categories, missing values and a constant column."""
    rng = np.random.default_rng(3)
    n = 160
    x = rng.normal(size=n)
    job = rng.choice(["cook", "clerk", "pilot"], size=n)
    y = np.where((x > 0) ^ (job == "cook"), "yes", "no")
    frame = pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.1, np.nan, x),
            "noise": rng.normal(size=n),
            "job": pd.Categorical(np.where(rng.random(n) < 0.05, None, job)),
            "same": 1.0,
        }
    )
    return frame, y
