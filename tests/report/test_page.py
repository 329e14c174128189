"""Page and card: self-contained, complete, written in one step, and deaf to hostile names."""

from __future__ import annotations

import json
import re

import pytest
from jinja2 import UndefinedError

from surewood import BinnedForestClassifier, report
from surewood._text import CONTROL
from surewood.report.page import render_card, render_template, write_text
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


def test_sections_come_in_the_order_of_the_reader(page):
    order = ["quality", "drivers", "guarantees", "table", "inside", "made"]
    places = [page.index(f'id="{name}"') for name in order]
    assert places == sorted(places)
    assert page.index('class="card verdict') < places[0]
    assert [int(level) for level in re.findall(r"<h([1-6])", page)][:2] == [1, 2]


def test_the_summary_is_the_json(summary, tmp_path):
    path = report.write_json(summary, tmp_path / "report.json")
    assert json.loads(path.read_text(encoding="utf-8")) == summary


def test_control_characters_are_shown_as_numbers():
    page = render_template("base.html", {"title": "a\x1b[31m\u202eb\u061c\ud800\U000e0041\x9b"})
    assert "<title>a\\x1b[31m\\u202eb\\u061c\\ud800\\U000e0041\\x9b" in page
    assert not CONTROL.search(page)


def test_a_missing_value_is_an_error_not_a_gap():
    with pytest.raises(UndefinedError):
        render_template("base.html", {})


def test_a_file_is_replaced_whole_and_no_part_stays(tmp_path, monkeypatch):
    path = write_text("old", tmp_path / "new folder" / "page.html")
    monkeypatch.setattr("os.replace", lambda *names: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_text("new", path)
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


@pytest.fixture(scope="module")
def card(hostile):
    X, y = hostile
    model = BinnedForestClassifier(5, random_state=0).fit(X[::2], y[::2])
    summary = report.build_summary(
        model,
        X[::2],
        y[::2],
        holdout=(X[1::2], y[1::2]),
        dataset={"name": SCRIPT, "source": "a|b", "notes": ["one\nline"]},
        run={"seconds": 1.5, "seed": 0, "command": "surewood fit t.csv"},
    )
    return render_card(summary)


def test_sections_and_numbers(card):
    for head in (
        "Model",
        "Data",
        "How well it predicts",
        "What drives it",
        "What is guaranteed",
        "How it was made",
    ):
        assert f"\n## {head}\n" in card
    assert "80 training rows, 80 holdout rows, 5 columns, 2 classes." in card
    assert "| error |" in card
    assert "    surewood fit t.csv" in card
    assert "* one line" in card


def test_names_are_text(card):
    assert "<script>" not in card
    assert r"\<script\>" in card
    assert r"a\|b" in card


def test_control_characters_are_visible(hostile):
    X, y = hostile
    model = BinnedForestClassifier(3, random_state=0).fit(X, y)
    told = render_card(report.build_summary(model, X, y, dataset={"name": "red\x1b[31m\x07.csv"}))
    assert r"red\\x1b\[31m\\x07.csv" in told
    assert all(one == "\n" or one.isprintable() for one in told)


def test_without_a_certificate_nothing_is_claimed(hostile):
    X, y = hostile
    model = BinnedForestClassifier(3, random_state=0).fit(X, y)
    told = render_card(report.build_summary(model, X, y))
    assert "no holdout" in told
    assert "Nothing is guaranteed about this model." in told
