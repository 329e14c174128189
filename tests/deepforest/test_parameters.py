import inspect

import pytest
from sklearn.metrics import make_scorer, matthews_corrcoef

from surewood.deepforest import (
    CascadeForestClassifier,
    MarginDeepForestClassifier,
    MarginDeepForestClassifierCV,
    MultiGrainedScanner,
)
from surewood.deepforest.parameters import CV, MONITOR
from surewood.estimators.parameters import check_parameters
from surewood.estimators.rules import check_value

CLASSIFIERS = [MarginDeepForestClassifier, MarginDeepForestClassifierCV, CascadeForestClassifier]


@pytest.mark.parametrize("cls", [*CLASSIFIERS, MultiGrainedScanner])
def test_every_parameter_has_a_rule_and_every_default_keeps_it(cls):
    names = set(inspect.signature(cls).parameters) - {"study"}
    assert names == set(cls._parameter_rules)
    check_parameters(cls())
    assert len(names) + 1 <= 20


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_every_switch_is_documented_and_its_default_keeps_its_rule(cls):
    for name, switch in cls._study_switches.items():
        check_value(name, switch.default, switch.rule)
        documented = cls.__doc__ + (
            MarginDeepForestClassifier.__doc__ if cls is not MarginDeepForestClassifier else ""
        )
        assert name in documented


def test_shared_switches_mean_the_same():
    margin, cascade = MarginDeepForestClassifier._study_switches, CascadeForestClassifier._study_switches
    own = {"patience", "min_improvement"}  # those of margin forests may follow the table
    for name in set(margin) & set(cascade) - own:
        assert margin[name].rule.accepts == cascade[name].rule.accepts


def test_scorers_and_splitters_are_recognised():
    for good in ("accuracy", "margin_ratio", "roc_auc", make_scorer(matthews_corrcoef)):
        check_value("monitor", good, MONITOR)
    with pytest.raises(ValueError, match="the name of a scikit-learn scorer or a scorer, got 'acuracy'"):
        check_value("monitor", "acuracy", MONITOR)
    with pytest.raises(TypeError, match="cv must be an integer of at least 2 or a scikit-learn splitter"):
        check_value("cv", 0.25, CV)
