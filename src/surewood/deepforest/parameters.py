"""What the parameters and study switches of the cascades may be; everything they share is here once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.metrics import get_scorer_names

from surewood.deepforest.reweighting import STRENGTHS
from surewood.estimators.parameters import COMMON, Switch
from surewood.estimators.rules import (
    AUTO,
    Boolean,
    Choice,
    Either,
    Integer,
    Kind,
    ListOf,
    Nullable,
    Number,
    Rule,
)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _is_scorer_name(value: Any) -> bool:
    return value in ("accuracy", "margin_ratio") or value in get_scorer_names()


def _is_splitter(value: Any) -> bool:
    return _is_list(value) or (callable(getattr(value, "split", None)) and not isinstance(value, str | bytes))


RATE = Nullable(Integer(1))
LIST_OF_FORESTS: Rule = Kind("a list with at least one forest", _is_list, lambda value: len(value) > 0)
#: Every training row needs a held-out class vector, so a validation fraction is no choice here.
CV: Rule = Either(Integer(2), Kind("a scikit-learn splitter or a list of (train, test) pairs", _is_splitter))
THETA = Number(above=0.0, below=1.0)
MU_LOSS = Number(above=0.0, most=1.0)
DEPTH_SCHEDULE: Rule = Nullable(
    AUTO, Integer(1), ListOf(RATE, "integers of at least 1 or None, one per forest")
)
MONITOR: Rule = Either(
    Kind(
        "'accuracy', 'margin_ratio', the name of a scikit-learn scorer",
        lambda value: isinstance(value, str),
        _is_scorer_name,
    ),
    Kind("a scorer", callable),
)
FOLDER: Rule = Nullable(
    Kind("the path of a folder", lambda value: hasattr(value, "__fspath__") or isinstance(value, str))
)

#: Rules of the parameters that all cascades have.
SHARED_RULES: Mapping[str, Rule] = {
    **COMMON,
    "forests": LIST_OF_FORESTS,
    "cv": CV,
    "max_layers": Integer(1),
}

#: Rules that only margin forests have.
MARGIN_RULES: Mapping[str, Rule] = {**SHARED_RULES, "forests": Either(AUTO, LIST_OF_FORESTS)}


def shared_switches() -> dict[str, Switch]:
    """The study switches that all cascades have."""
    return {
        "cross_fit": Switch("kfold", Choice("kfold", "oob")),
        "monitor": Switch("accuracy", MONITOR),
        "validation_fraction": Switch(None, Nullable(Number(above=0.0, most=0.5))),
        "criterion": Switch("gini", COMMON["criterion"]),
        "weighting": Switch("reweight", Choice("reweight", "resample")),
        "max_bins": Switch(255, COMMON["max_bins"]),
        "keep_held_out": Switch(False, Boolean()),
        "keep_in_memory": Switch(True, Boolean()),
        "spill_folder": Switch(None, FOLDER),
    }


#: Study switches of the margin forests.
MARGIN_SWITCHES: Mapping[str, Switch] = {
    "step": Switch("simplex", Choice("simplex", "literal", "capped")),
    "margins": Switch("layer", Choice("layer", "of_sum")),
    "reweighting": Switch("sample_size", Choice(*STRENGTHS)),
    "strength": Switch(None, Nullable(Number(0.0, 1.0))),
    "layer_inputs": Switch("both", Choice("both", "scores", "features")),
    "patience": Switch("auto", Either(AUTO, Integer(1))),
    "min_improvement": Switch("auto", Either(AUTO, Choice("noise"), Number(0.0, 1.0))),
    "pilot_trees": Switch("auto", Nullable(AUTO, Integer(2))),
    "tolerance": Switch(0.2, Number(above=0.0)),
    **shared_switches(),
}

#: Study switches of the cascade forest.
CASCADE_SWITCHES: Mapping[str, Switch] = {
    "screening_factor": Switch(3.0, Number(above=1.0)),
    "screening_growth": Switch(False, Boolean()),
    "patience": Switch(4, Integer(1)),
    "min_improvement": Switch(0.0, Number(0.0, 1.0)),
    **shared_switches(),
}
