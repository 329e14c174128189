"""Every classifier takes a Parquet file in the place of X, with the result of the frame that it holds."""

import os

import numpy as np
import pytest
from sklearn.base import is_classifier

from surewood import ParquetTable
from tests.contract.estimators import deterministic, exported
from tests.contract.parquet_tables import mixed_frame, write_parts

CLASSIFIERS = [cls for cls in exported() if is_classifier(cls())]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)
def test_a_parquet_file_is_the_frame_that_it_holds(cls, tmp_path):
    frame = mixed_frame(60)[["float", "text", "flag", "label"]]
    folder = write_parts(frame, tmp_path / "table")
    (tmp_path / "work").mkdir()
    X = frame.drop(columns="label")
    expected = deterministic(cls).fit(X, frame["label"])
    model = deterministic(cls).fit(ParquetTable(folder, "label", workdir=tmp_path / "work"))
    np.testing.assert_allclose(model.predict_proba(folder), expected.predict_proba(X), rtol=1e-9, atol=1e-12)
    assert model.predict(str(folder)).tolist() == expected.predict(X).tolist()
    assert os.listdir(tmp_path / "work") == []
