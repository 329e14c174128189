"""Rows ordered in time."""

import numpy as np
import pandas as pd
import pytest

from surewood.bounds import Status
from surewood.certify import certify
from tests.promises.population import draw, memorising_forest

MODEL = memorising_forest(*draw(200, 0))


@pytest.mark.parametrize("time", [np.arange(100), pd.date_range("2024-01-01", periods=100).astype(str)])
def test_the_future_is_estimated_not_guaranteed(time):
    certificate = certify(MODEL, *draw(100, 1), time=time)
    assert certificate.guarantees == ()
    assert "the future may differ from the past" in certificate.withheld[0].reason
    assert certificate.by_status(Status.ESTIMATE)


@pytest.mark.parametrize("time", [["soon"] * 100, [None] * 100])
def test_times_that_cannot_be_read_get_one_sentence(time):
    with pytest.raises(ValueError, match="time must hold numbers or dates that can be read"):
        certify(MODEL, *draw(100, 1), time=time)
