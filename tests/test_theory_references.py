"""Every reference to the theory has a target in docs/theory.md, and the finder notices one that has not."""

import importlib.util
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FINDER = ROOT / "docs" / "_ext" / "theory_references.py"


def _finder():
    spec = importlib.util.spec_from_file_location("theory_references", FINDER)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


finder = _finder()
THEORY = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
TARGETS = finder.targets(THEORY)


def test_every_reference_has_a_target():
    known = set(TARGETS)
    problems = [problem for path in finder.files(ROOT) for problem in finder.dangling(path, known)]
    assert not problems, "\n" + "\n".join(problems)


def test_the_references_are_found_at_all():
    """The code base has hundreds of them; a finder that finds none would pass the test above."""
    found = Counter(
        reference.target.split("-")[0]
        for path in finder.files(ROOT)
        if path.name != "theory.md"
        for _, text, equations in finder.pieces(path)
        for reference in finder.references(text, equations=equations)
    )
    assert found["d"] > 100
    assert found["eq"] > 100
    assert found["sec"] > 50


def test_targets_are_unique():
    assert [name for name, count in Counter(TARGETS).items() if count > 1] == []


def test_every_tagged_equation_has_its_target_just_before():
    for number in re.findall(r"\\tag\{([0-9a-z.]+)\}", THEORY):
        target = f"(eq-{number.replace('.', '-')})=\n$$"
        assert target in THEORY, number
        block = THEORY[THEORY.index(target) :].split("$$")[1]
        assert f"\\tag{{{number}}}" in block, number


def test_every_heading_has_its_target_just_before():
    for number in re.findall(r"^##+ (\d+(?:\.\d+)?)[. ]", THEORY, re.MULTILINE):
        target = f"(sec-{number.replace('.', '-')})="
        assert re.search(rf"^{re.escape(target)}\n##+ {re.escape(number)}[. ]", THEORY, re.MULTILINE), number


def test_decisions_are_numbered_through_defined_once_and_listed():
    decisions = [name for name in TARGETS if name.startswith("d-")]
    assert sorted(decisions) == [f"d-{i:02d}" for i in range(1, len(decisions) + 1)]
    table = THEORY[THEORY.index("(sec-8)=") : THEORY.index("(sec-9)=")]
    listed = re.findall(r"^\| \[D-(\d+)\]", table, re.MULTILINE)
    assert [f"d-{i}" for i in listed] == sorted(decisions)
    for name in decisions:
        assert f"({name})=\n**[{name.upper()}]" in THEORY, name


@pytest.mark.parametrize(
    ("text", "number", "target"),
    [
        ("theory.md §{}", "6.3", "sec-6-3"),
        ("(theory.md ({}))", "2.12", "eq-2-12"),
        ("C is scaled by leaf ({})", "2.12", "eq-2-12"),
        ("theory.md ({})", "77.99", "eq-77-99"),
        ("[D-{}]", "17", "d-17"),
        ("decision D-{}, option", "18", "d-18"),
    ],
)
def test_forms_of_references(text, number, target):
    assert [reference.target for reference in finder.references(text.format(number))] == [target]


@pytest.mark.parametrize(
    "text", ["18.10 (12.86)", "approx(0.1)", "± 0.4 (3.5)", "half (0.5)", "no worse (0.93)"]
)
def test_values_in_parentheses_are_not_references(text):
    assert finder.references(text) == []


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("a.py", '"""A rule (theory.md §{}.1)."""\n'),
        ("b.py", "x = 1  # theory.md ({}.1)\n"),
        ("c.cpp", "int x;  // [D-{}]\n"),
        ("d.md", "As §{} says.\n"),
        ("e.html", "<p>[D-{}]</p>\n"),
    ],
)
def test_a_wrong_reference_is_reported_with_its_line(tmp_path, name, wrong):
    path = tmp_path / name
    path.write_text("\n\n" + wrong.format("99"), encoding="utf-8")
    (problem,) = finder.dangling(path, set(TARGETS))
    assert problem.startswith(f"{path}:3: ")
    assert "has no target" in problem


@pytest.mark.parametrize("other", ["{}.md §1", "notes/{}.md (2.9)", "../shared/{} (2.9)"])
def test_another_theory_document_is_reported(tmp_path, other):
    word = {"{}.md §1": "guarantees", "notes/{}.md (2.9)": "theory"}.get(other, "design")
    path = tmp_path / "a.md"
    path.write_text(other.format(word), encoding="utf-8")
    (problem,) = finder.dangling(path, set(TARGETS))
    assert "not to docs/theory.md" in problem
