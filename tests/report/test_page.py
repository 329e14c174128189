"""The page: self-contained, complete, and deaf to hostile names."""

import re

import pytest

from surewood import report

HOSTILE = '<script>alert(1)</script>"&'


def summary(**changes):
    row = {
        "model": HOSTILE,
        "ours": True,
        "floor": False,
        "error": 0.1,
        "guarantee": 0.2,
        "log_loss": 0.3,
        "fit_seconds": 0.4,
        "note": HOSTILE,
    }
    entry = {"status": "GUARANTEE", "method": "m", "value": "0.2", "sample": "s", "conditions": HOSTILE}
    return {
        "title": HOSTILE,
        "subtitle": "sub",
        "facts": [{"value": "7", "label": "rows"}],
        "confidence": 0.95,
        "results": [row],
        "certificate": {"model": HOSTILE, "verdict": HOSTILE, "entries": [entry]},
        "seed": 0,
        "version": "0",
        "environment": "here",
        **changes,
    }


def test_names_stay_text():
    page = report.render(summary())
    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 6


def test_nothing_is_fetched():
    page = report.render(summary())
    assert not re.search(r"(src|href)=|@import|url\(", page)


def test_values_are_shown():
    page = report.render(summary())
    for text in ("10.00 %", "20.00 %", "0.300", "GUARANTEE"):
        assert text in page


def test_a_missing_key_is_an_error_not_a_hole():
    incomplete = summary()
    del incomplete["seed"]
    with pytest.raises(Exception, match="seed"):
        report.render(incomplete)


def test_write_is_all_or_nothing(tmp_path):
    path = report.write(summary(), tmp_path / "new" / "report.html")
    whole = path.read_text(encoding="utf-8")
    broken = summary()
    del broken["seed"]
    with pytest.raises(Exception, match="seed"):
        report.write(broken, path)
    assert path.read_text(encoding="utf-8") == whole
    assert [p.name for p in path.parent.iterdir()] == ["report.html"]
