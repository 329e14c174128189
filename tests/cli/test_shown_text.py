"""Control characters of names, labels and values never reach the terminal; long words are cut."""

import io
import json

import numpy as np
import pandas as pd
from rich.table import Table

from surewood._text import CONTROL, escaped, has_half_characters, json_text
from surewood.cli.shown_text import SafeConsole, Text, shown
from tests.cli.command import run

EVIL = "\x1b]0;owned\x07\x1b[31mred\x9b2J\u202e"
DROPPED = "\x07\x08\x0b\x0c\r"  # what Rich would leave out without a trace


def is_plain(text):
    return all(one == "\n" or one.isprintable() for one in text)


def test_escaped_and_shortened():
    assert escaped("a\x1bb\tc\nd") == "a\\x1bb\\tc\nd"
    assert shown("näme") == "näme"
    assert len(shown(10_000 * "x")) < 120
    assert is_plain(shown(EVIL))


def test_a_console_writes_no_control_character_of_its_text():
    out = io.StringIO()
    console = SafeConsole(file=out, width=80, no_color=True)
    table = Table(title=EVIL)
    table.add_column(EVIL)
    table.add_row(Text(EVIL))
    console.print(table)
    console.print(Text(EVIL), EVIL)
    assert is_plain(out.getvalue())
    assert "x1b" in out.getvalue()


def test_nothing_is_left_out_without_a_trace():
    out = io.StringIO()
    console = SafeConsole(file=out, width=120, no_color=True)
    table = Table(DROPPED, box=None)
    table.add_row(DROPPED)
    console.print(table)
    console.print(Text(DROPPED))
    console.print(DROPPED, highlight=False, markup=False)
    assert out.getvalue().split() == 4 * [r"\x07\x08\x0b\x0c\r"]


def test_commands_show_hostile_tables_harmlessly(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(90).round(3)
    long = "n" * 3000
    frame = pd.DataFrame(
        {
            f"size{EVIL}": x,
            long: rng.standard_normal(90).round(3),
            "city": np.where(x > 0.5, f"Rome{EVIL}", "Oslo"),
            "y": np.where(x > 0, f"yes{EVIL}", "=no"),
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    small = ["--model", "rcf", "--set", "n_estimators=3", "--n-jobs", "1", "--out", "m"]
    fitted = run("fit", "t.csv", "--target", "y", *small, folder=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    found = [
        fitted,
        run("explain", "m", folder=tmp_path),
        run("explain", "m", "t.csv", "--row", "3", folder=tmp_path),
        run("predict", "m", "t.csv", "--keep", f"none{EVIL}", folder=tmp_path),
    ]
    for one in found:
        assert is_plain(one.stdout + one.stderr)
        assert long not in one.stdout + one.stderr
    safe = run("predict", "m", "t.csv", "--keep", "y", "--safe-csv", "--out", "p.csv", folder=tmp_path)
    assert safe.returncode == 0, safe.stderr
    text = (tmp_path / "p.csv").read_text()
    assert "'=no" in text
    assert ",=no" not in text


def test_json_shows_control_characters_as_numbers_and_reads_the_same():
    value = {"a\x1b": "b\u202e\u061c\x9b\U000e0041\x7f", "größe": ["\ud800", "日本", 1.5, None, "\n\t"]}
    shown_as = json_text(value, indent=2)
    assert json.loads(shown_as) == value
    assert "größe" in shown_as
    assert "日本" in shown_as
    assert not CONTROL.search(shown_as)
    assert not has_half_characters(shown_as)


def test_tags_and_marks_of_direction_are_escaped():
    for number in (0x061C, 0x180E, 0x200B, 0x202E, 0x2066, 0xFEFF, 0xFFF9, 0xE0041, 0xD800):
        assert chr(number) not in escaped(f"a{chr(number)}b")
