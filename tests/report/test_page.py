"""The page: self-contained, complete, and deaf to hostile names."""

import json
import re

import pytest

from surewood import BinnedForestClassifier, report
from tests.report.conftest import SCRIPT


@pytest.fixture(scope="module")
def summary(hostile):
    X, y = hostile
    model = BinnedForestClassifier(5, random_state=0).fit(X[::2], y[::2])
    return report.build_summary(
        model,
        X[::2],
        y[::2],
        holdout=(X[1::2], y[1::2]),
        dataset={"name": SCRIPT, "source": SCRIPT, "notes": [SCRIPT]},
        run={"seconds": 1.5, "seed": 0, "command": SCRIPT},
    )


@pytest.fixture(scope="module")
def page(summary):
    return report.render_page(summary)


def test_names_stay_text(page):
    assert SCRIPT not in page
    assert "<img" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 6


def test_only_the_page_itself_runs(page):
    assert len(re.findall(r"<script", page)) == 1
    assert re.search(r"script-src 'sha256-[\w+/=]+';", page)
    assert "unsafe-eval" not in page.split("</style>")[0]


def test_nothing_is_fetched(page):
    without_scripts = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    assert not re.search(r"\bsrc=|href=\"(?!#)|@import|url\(", without_scripts.replace("src=x", ""))


def test_the_file_is_small(page):
    assert len(page.encode()) < 200_000


def test_sections_come_in_the_order_of_the_reader(page):
    order = ["quality", "drivers", "guarantees", "table", "inside", "made"]
    places = [page.index(f'id="{name}"') for name in order]
    assert places == sorted(places)
    assert page.index('class="card verdict') < places[0]
    assert [int(level) for level in re.findall(r"<h([1-6])", page)][:2] == [1, 2]


def test_a_missing_key_is_an_error_not_a_hole(summary):
    incomplete = {**summary}
    del incomplete["run"]
    with pytest.raises(Exception, match="run"):
        report.render_page(incomplete)


def test_files_are_all_or_nothing(summary, tmp_path):
    path = report.write_page(summary, tmp_path / "new" / "report.html")
    whole = path.read_text(encoding="utf-8")
    with pytest.raises(KeyError):
        report.write_page({}, path)
    assert path.read_text(encoding="utf-8") == whole
    assert [p.name for p in path.parent.iterdir()] == ["report.html"]


def test_the_summary_is_the_json(summary, tmp_path):
    path = report.write_json(summary, tmp_path / "report.json")
    assert json.loads(path.read_text(encoding="utf-8")) == summary
