"""Entries and their status words; a GUARANTEE has one door."""

import ast
import dataclasses
import json
import math
import pickle
from pathlib import Path

import pytest

import surewood
from surewood.bounds import Condition, Entry, Method, Status, issue_guarantee
from surewood.bounds import statements as door
from surewood.bounds.statements import CHECKED, OnSample, stated


def test_there_are_four_words_and_they_are_text():
    assert [str(status) for status in Status] == ["GUARANTEE", "CRITERION", "ESTIMATE", "HEURISTIC"]
    assert json.dumps({"status": Status.GUARANTEE}) == '{"status": "GUARANTEE"}'


def test_a_condition_says_who_stated_it():
    assert str(Condition("hard votes", False, CHECKED)) == "hard votes: no (checked)"
    first, second = stated({"a": True, "b": 0})
    assert (first.holds, second.holds) == (True, False)
    assert first.source == "stated by the model"


@pytest.mark.parametrize("n_models", [0, -1, 1.5, True])
def test_the_number_of_models_is_at_least_one(n_models):
    with pytest.raises(ValueError, match="n_models must be an integer >= 1"):
        OnSample(n_models=n_models)


ESTIMATE = {"method": "out-of-bag error", "status": "ESTIMATE", "value": 0.1, "sample": "training", "n": 9}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"status": "GUARANTEE"}, "a GUARANTEE is issued by surewood.bounds.issue_guarantee only"),
        ({"delta": 0.05}, "delta belongs to a GUARANTEE only, not to a ESTIMATE"),
        ({"status": "HEURISTIC", "delta": 0.05}, "delta belongs to a GUARANTEE only, not to a HEURISTIC"),
        ({"status": "CRITERION"}, "gamma_scale must be given with a CRITERION"),
        ({"status": "PROMISE"}, "'PROMISE' is not a valid Status"),
        ({"value": math.nan}, "value must not be NaN"),
        ({"n": 0}, "n must be >= 1, got 0"),
    ],
)
def test_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Entry(**(ESTIMATE | change))


def test_a_diagnostic_may_be_infinite():
    assert Entry(**(ESTIMATE | {"status": "HEURISTIC", "value": math.inf})).value == math.inf


SOURCES = Path(surewood.__file__).parent

HOLDS = (Condition("the points influenced nothing about the model", True, "stated by the caller"),)

GUARANTEE = {
    "method": Method.HOLDOUT,
    "value": 0.1,
    "sample": "holdout",
    "n": 100,
    "variant": "exact",
    "delta": 0.05,
    "conditions": HOLDS,
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gamma_scale": 0.1}, "gamma_scale must be 1 for a GUARANTEE, got 0.1"),
        ({"gamma_scale": 1.5}, "gamma_scale must be 1 for a GUARANTEE, got 1.5"),
        ({"method": "composite tree criterion"}, "proves nothing: it cannot be a GUARANTEE"),
        ({"method": Method.CASCADE, "variant": "print_in"}, "variant 'print_in' of cascade bound cannot be"),
        ({"method": Method.CASCADE, "variant": "print_out"}, "variant 'print_out' of cascade bound cannot"),
        ({"method": Method.COMPOSITE_TREE, "variant": "paper"}, "only rigorous"),
        ({"method": Method.COMPOSITE_TREE, "variant": "rigorous"}, "must be 1 for a GUARANTEE, got None"),
        ({"variant": ""}, "only exact"),
        ({"delta": None}, r"delta must be in \(0, 1\) for a GUARANTEE, got None"),
        ({"delta": 1.0}, r"delta must be in \(0, 1\) for a GUARANTEE, got 1.0"),
        ({"value": 1.2}, r"value must be in \[0, 1\] for a GUARANTEE, got 1.2"),
        ({"value": 12.0, "ceiling": 10.0}, r"value must be in \[0, 10\] for a GUARANTEE, got 12.0"),
        ({"value": math.nan}, "value must not be NaN"),
        ({"conditions": ()}, "conditions must be listed for a GUARANTEE"),
        ({"conditions": (*HOLDS, Condition("hard votes", False))}, "not so: hard votes"),
        ({"biased": True}, "a GUARANTEE cannot be biased"),
        ({"n": 0}, "n must be >= 1, got 0"),
        ({"n_models": 0}, "n_models must be >= 1, got 0"),
        ({"side": "about"}, "side must be 'at most' or 'at least', got 'about'"),
    ],
)
def test_guarantee_refused(change, message):
    with pytest.raises(ValueError, match=message):
        issue_guarantee(**(GUARANTEE | change))


def test_a_guarantee_cannot_be_changed_later():
    entry = issue_guarantee(**GUARANTEE)
    for change in ({"value": 0.01}, {"gamma_scale": 0.01}, {"delta": 0.5}):
        with pytest.raises(ValueError, match="issue_guarantee only"):
            dataclasses.replace(entry, **change)
    with pytest.raises(dataclasses.FrozenInstanceError):
        entry.value = 0.0


def test_accepted_and_picklable():
    entry = issue_guarantee(**GUARANTEE, decomposition={"errors": 3})
    assert pickle.loads(pickle.dumps(entry)) == entry
    assert entry.status is Status.GUARANTEE


@pytest.mark.parametrize("make", [Entry, door._Guarantee, type(issue_guarantee(**GUARANTEE))])
def test_no_class_can_be_called_directly(make):
    with pytest.raises(ValueError, match=r"issued by surewood\.bounds\.issue_guarantee only"):
        make(**GUARANTEE, status=Status.GUARANTEE)


def constructions(tree):
    """Calls that hand over the word, by name or as text, or that build the sealed class."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        word = any(
            (isinstance(v, ast.Attribute) and v.attr == "GUARANTEE")
            or (isinstance(v, ast.Constant) and v.value == "GUARANTEE" and _makes_something(node))
            for v in given
        )
        sealed = isinstance(node.func, ast.Name) and node.func.id == "_Guarantee"
        if word or sealed:
            yield node


def _makes_something(call):
    """Whether the word as text is handed to a class, by the custom of capital first letters."""
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    return name[:1].isupper() or name == "fit"


READING = {"by_status"}  # asks for entries that carry the word, constructs none


def test_exactly_one_place_in_the_package_constructs_a_guarantee():
    found = []
    for path in sorted(SOURCES.rglob("*.py")):
        for call in constructions(ast.parse(path.read_text(encoding="utf-8"))):
            if getattr(call.func, "attr", "") not in READING:
                found.append((path.relative_to(SOURCES).as_posix(), ast.unparse(call.func)))
    assert found == [("bounds/statements.py", "_Guarantee")]


def test_nothing_reaches_for_the_seal():
    users = [
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if "_SEAL" in path.read_text(encoding="utf-8") or "_Guarantee" in path.read_text(encoding="utf-8")
    ]
    assert users == ["bounds/statements.py"]


def test_the_search_finds_a_second_door():
    for second in (
        'Entry(method="m", status=Status.GUARANTEE)',
        'RejectOption(model, "GUARANTEE")',
        "_Guarantee(value=0.1)",
        "make(bounds.Status.GUARANTEE)",
    ):
        assert list(constructions(ast.parse(second))), second
