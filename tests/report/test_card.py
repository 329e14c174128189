"""The model card: Markdown that says what the page says."""

import pytest

from surewood import BinnedForestClassifier, report
from surewood.report.card import render_card
from tests.report.conftest import SCRIPT


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
