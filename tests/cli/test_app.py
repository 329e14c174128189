"""The frame of the command: help, version, tracebacks, data sets; text without control characters."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest
from rich.table import Table

from surewood._text import CONTROL, escaped, has_half_characters, json_text
from surewood.cli.app import SafeConsole, Text, shown
from surewood.cli.option_values import parse_parameters
from surewood.workflow.errors import WorkflowError
from tests.cli.command import mistake, run


def test_a_traceback_only_where_it_is_asked_for(tmp_path):
    shown = run("fit", "nosuch.csv", "--target", "kind", "--debug", folder=tmp_path)
    assert shown.returncode == 2
    assert "Traceback" in shown.stderr
    assert shown.stderr.endswith("surewood: there is no file nosuch.csv.\n")


def test_options_that_do_not_exist_are_explained_by_the_usage(tmp_path):
    shown = run("fit", "good.csv", "--tragte", "kind", folder=tmp_path)
    assert shown.returncode == 2
    assert "--tragte" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_help_shows_examples():
    for command in ("fit", "predict", "explain", "importances", "compare", "certify"):
        shown = run(command, "--help")
        assert shown.returncode == 0
        assert f"surewood {command}" in shown.stdout
        assert "Examples" in shown.stdout
        assert "--json" in shown.stdout


def test_completion_of_the_shell():
    shown = run(_SUREWOOD_COMPLETE="complete_bash", COMP_WORDS="surewood fi", COMP_CWORD="1")
    assert "fit" in shown.stdout.split()


def test_version_and_help():
    assert run("--version").stdout.startswith("surewood 0.")
    shown = run("--help")
    assert shown.returncode == 0
    assert "datasets" in shown.stdout


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


def test_a_name_with_a_line_break_is_shown_on_one_line():
    assert mistake("predict", "no\nmodel", "t.csv") == r"there is no model file no\nmodel."
    assert mistake("fit", "a\nb.csv", "--target", "y") == (
        r"'a\nb.csv' has a line break in its name; rename the file."
    )
    assert mistake("compare", "iris", "--target", "target", "-o", "a\nb.html") == (
        r"--out a\nb.html has a line break in its name; give another."
    )


def test_a_closed_output_is_refused_before_any_work():
    words = ["sh", "-c", '"$0" -m surewood datasets >&-', sys.executable]
    shown = subprocess.run(words, capture_output=True, text=True)
    assert (shown.returncode, shown.stderr[:39]) == (2, "surewood: standard output is closed; us")


def test_a_field_longer_than_any_table_has_is_a_mistake(tmp_path):
    for long in ("x" * 20_000_000, '"' + "x\n" * 10_000_000 + '"'):
        (tmp_path / "t.csv").write_text(f"a,b,y\n1,2,no\n3,{long},yes\n")
        words = mistake("fit", "t.csv", "--target", "y", folder=tmp_path)
        assert "field larger than field limit (131072); is a quote never closed?" in words


def test_datasets_lists_the_bundled_tables():
    shown = run("datasets")
    assert shown.returncode == 0
    lines = shown.stdout.splitlines()
    assert lines[0].split() == ["name", "rows", "columns", "classes"]
    assert ["digits", "1,797", "64", "10"] in [line.split() for line in lines]


def test_datasets_as_json():
    assert json.loads(run("datasets", "wine", "--json").stdout) == [
        {"name": "wine", "rows": 178, "columns": 13, "classes": 3}
    ]


def test_a_mistake_is_one_sentence_and_exit_code_two():
    shown = run("datasets", "wime")
    assert shown.returncode == 2
    assert shown.stderr == "surewood: there is no data set called 'wime'; did you mean wine?\n"
    assert "Traceback" in run("--debug", "datasets", "wime").stderr
    assert run("no-such-command").returncode == 2


def test_values_are_python_values_else_text():
    words = ["a=1", "b=[1, 2]", "c=None", "d=TRUE", "e=x=y", "f= spaced "]
    assert parse_parameters(words) == {"a": 1, "b": [1, 2], "c": None, "d": True, "e": "x=y", "f": "spaced"}
    with pytest.raises(WorkflowError, match=r"^--set takes name=value, got 'a'\.$"):
        parse_parameters(["a"])
