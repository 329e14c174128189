"""One validator: every parameter of every estimator refuses what it does not accept, in one sentence."""

from collections import defaultdict

import numpy as np
import pytest

from surewood.base.parameters import COMMON
from surewood.base.rules import Boolean
from tests.contract.estimators import exported, small

X = np.random.default_rng(0).normal(size=(40, 4))
Y = (X[:, 0] > 0).astype(int)
MOST_PARAMETERS = 20


class Nonsense:
    """Of no type that a parameter may have."""

    def __repr__(self):
        return "<nonsense>"


#: Tried in turn for a value that is of the right type and wrong.
CANDIDATES = (-7, "no such word", float("nan"), -1.5, 1e9, [], ["no such word"], [-7], {"no such key": 1}, 0)

#: Names whose sentence may differ between estimators, and why.
OWN_MEANING = {
    "cv": "folds of a deep forest cover every row, so that a single validation part is no choice there",
    "kernel": "cascades also offer the homogeneous kernel of the theory, and degree 1 is their linear one",
    "max_depth": "paths of composite trees are 64-bit codes: their depth has an upper end",
    "forests": "only margin deep forests choose their forests by themselves",
    "gamma_scale": "a cascade may go without a penalty; the criterion of composite trees needs one above 0",
    "max_samples": "every round of boosting draws a fraction of the rows",
    "min_samples_leaf": "a scanner counts windows, of which every grain has another number",
    "selection": "only the forest chooses its rule by itself",
}


def parameters():
    return [(cls, name) for cls in exported() for name in cls().get_params(deep=False)]


def rule_of(cls, name):
    assert name in cls._parameter_rules, f"{cls.__name__} has no rule for {name}"
    return cls._parameter_rules[name]


def refusal(cls, name, value):
    model = small(cls, **{name: value})
    with pytest.raises((TypeError, ValueError)) as caught:
        model.fit(X, Y)
    assert not [own for own in vars(model) if own.endswith("_") and not own.startswith("_")]
    return type(caught.value), str(caught.value)


def ids(value):
    return value if isinstance(value, str) else value.__name__


@pytest.mark.parametrize(("cls", "name"), [p for p in parameters() if p[1] != "study"], ids=ids)
def test_a_wrong_type_is_a_type_error(cls, name):
    error, sentence = refusal(cls, name, Nonsense())
    assert error is TypeError
    assert sentence == f"{name} must be {rule_of(cls, name).accepts}, got <nonsense>."


@pytest.mark.parametrize(("cls", "name"), [p for p in parameters() if p[1] != "study"], ids=ids)
def test_a_wrong_value_is_a_value_error(cls, name):
    rule = rule_of(cls, name)
    wrong = [value for value in CANDIDATES if rule.is_kind(value) and not rule.holds(value)]
    if not wrong:
        if rule.accepts == Boolean().accepts:
            return  # both of its values are right
        pytest.skip(f"{name} accepts every value of its types before it has seen the data")
    error, sentence = refusal(cls, name, wrong[0])
    assert error is ValueError
    assert sentence == f"{name} must be {rule.accepts}, got {wrong[0]!r}."


@pytest.mark.parametrize(
    "cls", [c for c in exported() if "study" in c().get_params()], ids=lambda cls: cls.__name__
)
def test_study_switches_are_checked_alike(cls):
    known = ", ".join(map(repr, cls._study_switches))
    words = f"study must be None or a dictionary with keys among {known}"
    assert refusal(cls, "study", {"no such key": 1}) == (ValueError, f"{words}, got {{'no such key': 1}}.")
    assert refusal(cls, "study", Nonsense()) == (TypeError, f"{words}, got <nonsense>.")
    for name, switch in cls._study_switches.items():
        assert name not in cls().get_params(), f"{name} is a parameter and a study switch"
        error, sentence = refusal(cls, "study", {name: Nonsense()})
        assert error is TypeError
        assert sentence == f"study[{name!r}] must be {switch.rule.accepts}, got <nonsense>."


def is_grid(cls, name):
    """Whether a parameter of a CV twin is a list of the values that the plain parameter takes."""
    return cls.__name__.endswith("CV") and rule_of(cls, name).accepts != COMMON[name].accepts


def test_the_same_name_has_the_same_sentence_everywhere():
    sentences = defaultdict(lambda: defaultdict(list))
    for cls, name in parameters():
        if name == "study" or name in OWN_MEANING or (name in COMMON and is_grid(cls, name)):
            continue
        sentences[name][rule_of(cls, name).accepts].append(cls.__name__)
    differing = {name: dict(found) for name, found in sentences.items() if len(found) > 1}
    assert differing == {}


def test_names_with_a_meaning_of_their_own_really_differ():
    for name in OWN_MEANING:
        accepted = {rule_of(cls, n).accepts for cls, n in parameters() if n == name}
        shared = {COMMON[name].accepts} if name in COMMON else set()  # also of study switches
        assert len(accepted | shared) > 1


def test_shared_names_have_the_shared_rule():
    for cls, name in parameters():
        if name in COMMON and name not in OWN_MEANING and not is_grid(cls, name):
            assert rule_of(cls, name).accepts == COMMON[name].accepts, (cls.__name__, name)


@pytest.mark.parametrize("cls", exported(), ids=lambda cls: cls.__name__)
def test_no_class_has_too_many_parameters(cls):
    assert len(cls().get_params(deep=False)) <= MOST_PARAMETERS
