"""Pages are self-contained, escape everything, and are written in one step."""

import pytest
from jinja2 import UndefinedError

from surewood._text import CONTROL
from surewood.report.rendering import render_template, write_text


def test_titles_are_escaped_and_nothing_is_fetched():
    page = render_template("base.html", {"title": "<script>alert(1)</script>"})
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert 'src="http' not in page
    assert "'sha256-" in page


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
