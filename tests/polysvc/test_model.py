"""The fitted SVM is one frozen object."""

import dataclasses

import numpy as np
import pytest

from surewood import PolySVC
from tests.svm.reference import blobs

X, Y = blobs(120, 4, 3, 1)


def test_it_is_frozen_and_decides_by_votes():
    model = PolySVC(degree=2).fit(X, Y).model_
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.C = 3.0
    design = model.design(PolySVC(degree=2).fit(X, Y).schema_.read(X))
    np.testing.assert_array_equal(model.winners(design, 1), model.probabilities(design, 1).argmax(axis=1))
    assert model.decisions(design, "ovo", 1).shape == (120, 3)
    assert model.decisions(design, "ovr", 1).shape == (120, 3)


def test_without_calibration_there_are_no_probabilities():
    fitted = PolySVC(calibrate=False).fit(X, Y)
    with pytest.raises(AttributeError, match="fitted with calibrate=False"):
        fitted.model_.probabilities(fitted.model_.design(fitted.schema_.read(X)), 1)
