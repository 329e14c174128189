"""The page and the picture of a comparison."""

import sys

import pytest

from surewood import workflow
from surewood.workflow.comparison_page import write_comparison


@pytest.fixture(scope="module")
def result():
    return workflow.compare("iris", folds=2, only=["hgb"], n_jobs=1).to_dict()


def test_the_page_has_the_numbers(result, tmp_path):
    write_comparison(result, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "vs. best baseline" in page
    assert "histogram boosting" in page
    assert page.count('role="tab"') == 5
    assert "A dot per fold" in page


def test_the_picture_is_a_png(result, tmp_path):
    pytest.importorskip("matplotlib")
    write_comparison(result, tmp_path / "new" / "picture.png")
    assert (tmp_path / "new" / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_picture_is_refused(result, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(workflow.WorkflowError, match=r"needs matplotlib .*; an \.html does not\.$"):
        write_comparison(result, tmp_path / "picture.png")
