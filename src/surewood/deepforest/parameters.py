"""What the parameters and study switches of the cascades may be; everything they share is here once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.metrics import get_scorer_names

from surewood.deepforest.reweighting import STRENGTHS
from surewood.estimators import rules
from surewood.estimators.parameters import COMMON, Switch


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _is_scorer_name(value: Any) -> bool:
    return value in ("accuracy", "margin_ratio") or value in get_scorer_names()


def _is_splitter(value: Any) -> bool:
    return _is_list(value) or (callable(getattr(value, "split", None)) and not isinstance(value, str | bytes))


RATE = rules.Nullable(rules.Integer(1))
LIST_OF_FORESTS: rules.Rule = rules.Kind(
    "a list with at least one forest", _is_list, lambda value: len(value) > 0
)
#: Every training row needs a held-out class vector, so a validation fraction is no choice here.
CV: rules.Rule = rules.Either(
    rules.Integer(2), rules.Kind("a scikit-learn splitter or a list of (train, test) pairs", _is_splitter)
)
THETA = rules.Number(above=0.0, below=1.0)
MU_LOSS = rules.Number(above=0.0, most=1.0)
DEPTH_SCHEDULE: rules.Rule = rules.Nullable(
    rules.AUTO, rules.Integer(1), rules.ListOf(RATE, "integers of at least 1 or None, one per forest")
)
MONITOR: rules.Rule = rules.Either(
    rules.Kind(
        "'accuracy', 'margin_ratio', the name of a scikit-learn scorer",
        lambda value: isinstance(value, str),
        _is_scorer_name,
    ),
    rules.Kind("a scorer", callable),
)
FOLDER: rules.Rule = rules.Nullable(
    rules.Kind("the path of a folder", lambda value: hasattr(value, "__fspath__") or isinstance(value, str))
)

#: Rules of the parameters that all cascades have.
SHARED_RULES: Mapping[str, rules.Rule] = {
    **COMMON,
    "forests": LIST_OF_FORESTS,
    "cv": CV,
    "max_layers": rules.Integer(1),
}

#: Rules that only margin forests have.
MARGIN_RULES: Mapping[str, rules.Rule] = {
    **SHARED_RULES,
    "forests": rules.Either(rules.AUTO, LIST_OF_FORESTS),
}


def shared_switches() -> dict[str, Switch]:
    """The study switches that all cascades have."""
    return {
        "cross_fit": Switch("kfold", rules.Choice("kfold", "oob")),
        "monitor": Switch("accuracy", MONITOR),
        "validation_fraction": Switch(None, rules.Nullable(rules.Number(above=0.0, most=0.5))),
        "criterion": Switch("gini", COMMON["criterion"]),
        "weighting": Switch("reweight", rules.Choice("reweight", "resample")),
        "max_bins": Switch(255, COMMON["max_bins"]),
        "keep_held_out": Switch(False, rules.Boolean()),
        "keep_in_memory": Switch(True, rules.Boolean()),
        "spill_folder": Switch(None, FOLDER),
    }


#: Study switches of the margin forests.
MARGIN_SWITCHES: Mapping[str, Switch] = {
    "step": Switch("simplex", rules.Choice("simplex", "literal", "capped")),
    "margins": Switch("layer", rules.Choice("layer", "of_sum")),
    "reweighting": Switch("sample_size", rules.Choice(*STRENGTHS)),
    "strength": Switch(None, rules.Nullable(rules.Number(0.0, 1.0))),
    "layer_inputs": Switch("both", rules.Choice("both", "scores", "features")),
    "patience": Switch("auto", rules.Either(rules.AUTO, rules.Integer(1))),
    "min_improvement": Switch(
        "auto", rules.Either(rules.AUTO, rules.Choice("noise"), rules.Number(0.0, 1.0))
    ),
    "pilot_trees": Switch("auto", rules.Nullable(rules.AUTO, rules.Integer(2))),
    "tree_rows": Switch("auto", rules.Nullable(rules.AUTO, rules.Integer(1))),
    "tolerance": Switch(0.2, rules.Number(above=0.0)),
    **shared_switches(),
}

#: Study switches of the cascade forest.
CASCADE_SWITCHES: Mapping[str, Switch] = {
    "screening_factor": Switch(3.0, rules.Number(above=1.0)),
    "screening_growth": Switch(False, rules.Boolean()),
    "patience": Switch(4, rules.Integer(1)),
    "min_improvement": Switch(0.0, rules.Number(0.0, 1.0)),
    **shared_switches(),
}
