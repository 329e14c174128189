import numpy as np
import pytest

from surewood.bounds import kernel_rademacher
from surewood.cascade import (
    KernelFamily,
    LinearFamily,
)
from tests.cascade.family_samples import CODES, X


def test_linear_svms_are_linear():
    member = LinearFamily("hinge", C=1.0).fit(X, CODES, np.ones(60), 2)
    values = member.scores(np.array([[0.0] * 3, [1.0] * 3, [2.0] * 3]))[:, 1]
    assert values[2] - values[1] == pytest.approx(values[1] - values[0], abs=1e-4)
    with pytest.raises(ValueError, match="loss must be 'logistic' or 'hinge'"):
        LinearFamily("square").fit(X, CODES, np.ones(60), 2)


def test_a_ball_in_the_kernels_space():
    family = KernelFamily("rbf", norm=3.0)
    assert family.rademacher(X, 2) == pytest.approx(kernel_rademacher(np.ones(60), norm=3.0))
    assert family.split_rademacher(X, 2) == family.rademacher(X, 2)
    assert KernelFamily("poly", 2, norm=1.0).rademacher(X, 2) > 0
