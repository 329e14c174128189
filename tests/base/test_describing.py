"""The vocabulary in which models describe themselves."""

import numpy as np
import pandas as pd
import pytest

import surewood
from surewood.base.describing import ReportRows, report_facts, sample_rows, short, take_rows, title_of


def test_a_sample_of_rows_is_always_the_same():
    frame = pd.DataFrame({"x": np.arange(50)})
    rows = ReportRows(frame, np.arange(50) % 2, np.arange(50) % 2, True)
    few = rows.sample(7)
    assert len(few) == 7
    assert (few.y == few.X["x"] % 2).all()
    assert few.X["x"].tolist() == rows.sample(7).X["x"].tolist()
    assert rows.sample(50) is rows


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, list])
def test_rows_of_any_table(kind):
    taken = take_rows(kind([[1, 2], [3, 4], [5, 6]]), np.array([0, 2]))
    assert np.asarray(taken).tolist() == [[1, 2], [5, 6]]


def test_titles_of_the_public_classifiers():
    named = ("RandomCompositeForestClassifierCV", "DeepCascadeSVMClassifier", "BinnedForestClassifier")
    titles = [title_of(getattr(surewood, name)) for name in named]
    assert titles == ["Random composite forest", "Deep cascade SVM", "Binned forest"]


def test_facts_are_complete():
    assert set(report_facts("T", "D")) == {"title", "description", "figures", "sections"}
    assert len(sample_rows(10, 3)) == 3
    assert short("a\n b" * 40, 10) == "a ba ba b…"
