"""Tables around the main one: chosen parameters, sizes, other readings, and the figures in numbers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from surewood.experiments.comparison import Results
from surewood.experiments.mddf.figures import FIGURES, PUBLISHED_RATIOS
from surewood.experiments.mddf.methods import OPTIONS, REFERENCE
from surewood.experiments.protocol import Profile

ABSENT = "–"


def detail_tables(
    results: Results,
    sets: Sequence[str],
    methods: Sequence[str],
    records: Sequence[dict[str, Any]],
    profile: Profile,
) -> list[dict[str, Any]]:
    """All tables of this file that the records have rows for."""
    tables = [_chosen_table(results, sets, methods), _size_table(results, sets, profile)]
    if any(record["method"] in OPTIONS for record in records):
        tables.append(_option_table(results, sets))
    drawn = [record for record in records if record["method"] == FIGURES]
    if drawn:
        tables += [_layer_table(drawn[0]), _ratio_table(drawn[0])]
    return tables


def _chosen_table(results: Results, sets: Sequence[str], methods: Sequence[str]) -> dict[str, Any]:
    rows = [
        [dataset, method, *_chosen_cells(results.records(dataset, method))]
        for dataset in sets
        for method in methods
        if results.has(dataset, method)
    ]
    return {
        "name": "chosen",
        "title": "Chosen parameters and depths",
        "note": "Values of the seeds in their order, one where they agree. Blocks: R random, E extra-trees, "
        "C completely random. Layers are chosen by held-out accuracy.",
        "columns": [
            "data set",
            "method",
            "θ",
            "μ",
            "a",
            "layers",
            "trees",
            "network or block",
            "seconds per fit",
        ],
        "rows": rows,
    }


def _chosen_cells(records: Sequence[Any]) -> list[str]:
    chosen = [record["chosen"] for record in records]
    metrics = [record["metrics"] for record in records]
    return [
        *(_listed([c.get(key) for c in chosen]) for key in ("theta", "mu", "a")),
        _listed([m.get("layers") for m in metrics]),
        _listed([m.get("trees") for m in metrics]),
        _listed([c.get("architecture") or _block_letters(c.get("forests")) for c in chosen]),
        f"{statistics.fmean(record['seconds'] for record in records):.1f}",
    ]


def _listed(values: Sequence[Any]) -> str:
    """Values that are there, one if they agree.

    Examples
    --------
    >>> _listed([0.8, 0.8]), _listed([2, 3]), _listed([None])
    ('0.8', '2, 3', '–')
    """
    found = [str(value) for value in values if value is not None]
    return ", ".join(found if len(set(found)) > 1 else found[:1]) or ABSENT


def _block_letters(kinds: Sequence[str] | None) -> str | None:
    return None if not kinds else "".join(kind[0].upper() for kind in kinds)


def _size_table(results: Results, sets: Sequence[str], profile: Profile) -> dict[str, Any]:
    keys = ("trees", "tuning_trees", "rf_trees", "xgboost_rounds", "mlp_epochs")
    rows = []
    for dataset, records in results.recorded(sets, REFERENCE):
        used = "{n_train}/{n_test}".format(**records[0]["metrics"])
        grid = math.prod(len(profile.get(key, dataset)) for key in ("thetas", "mus", "schedules"))
        sizes = [str(profile.get(key, dataset)) for key in keys]
        rows.append([dataset, used, f"{len(records)} of {profile.get('seeds', dataset)}", *sizes, str(grid)])
    columns = [
        "data set", "train/test rows", "seeds", "trees per forest and fold", "the same in tuning", "RF trees",
        "XGBoost rounds", "MLP epochs at most", "settings compared",
    ]  # fmt: skip
    note = f"Profile {profile.name}; papers/mddf/protocol.toml says what full is."
    return {"name": "sizes", "title": "Sizes", "note": note, "columns": columns, "rows": rows}


def _option_table(results: Results, sets: Sequence[str]) -> dict[str, Any]:
    measured = [name for name in sets if any(results.has(name, option) for option in OPTIONS)]
    common = Results([record for name in measured for record in _seeds_with_options(results, name)])
    rows = []
    for method in (REFERENCE, *OPTIONS):
        cells = []
        for dataset in measured:
            if common.has(dataset, method):
                held_out = common.spread(dataset, method, "held_out_accuracy").mean
                cells.append(f"{held_out:.2f} / {common.spread(dataset, method, 'accuracy').text()}")
            else:
                cells.append(ABSENT)
        rows.append([method, *cells])
    seeds = ", ".join(f"{name} {len(common.records(name, REFERENCE))}" for name in measured)
    return {
        "name": "options",
        "title": "Other readings and options",
        "note": "Held-out accuracy / test accuracy in per cent, each with the θ, μ and a tuned for mdDF; "
        f"seeds: {seeds}.",
        "columns": ["method", *measured],
        "rows": rows,
    }


def _seeds_with_options(results: Results, dataset: str) -> list[Any]:
    """Records of mdDF and the options from the seeds that have options."""
    options = [record for option in OPTIONS for record in results.records(dataset, option)]
    repeats = {record["repeat"] for record in options}
    return options + [r for r in results.records(dataset, REFERENCE) if r["repeat"] in repeats]


def _layer_table(record: dict[str, Any]) -> dict[str, Any]:
    curves = record["chosen"]["curves"]
    names = ("held_out_accuracy", "accuracy", "held_out_margin_ratio", "margin_ratio")
    rows = []
    for place, layer in enumerate(curves["layer"]):
        cells = []
        for name in names:
            scale = 100.0 if name.endswith("accuracy") else 1.0
            cells.append(f"{scale * curves[name][place]:.3f}" if place < len(curves[name]) else ABSENT)
        rows.append([f"{layer:g}", *cells])
    return {
        "name": "layers",
        "title": "Figure A in numbers: HAR, layer by layer",
        "note": "Accuracy in per cent. Margin ratio: standard deviation over mean of the margins (4.6), a "
        "HEURISTIC. The test part passes the kept layers only.",
        "columns": [
            "layer",
            "held-out accuracy",
            "test accuracy",
            "held-out margin ratio",
            "test margin ratio",
        ],
        "rows": rows,
    }


def _ratio_table(record: dict[str, Any]) -> dict[str, Any]:
    metrics = record["metrics"]
    rows = [["published", *(f"{ratio}" for ratio in PUBLISHED_RATIOS)]]
    for label, key in (
        ("t-SNE view", "view_ratio"),
        ("representation", "ratio"),
        ("t-SNE view of the scores alone", "scores_view_ratio"),
        ("scores alone", "scores_ratio"),
    ):
        rows.append([label, *(f"{metrics[f'{when}_{key}']:.2f}" for when in ("early", "late"))])
    seed = record.get("seeds", {}).get("view", "unknown")
    return {
        "name": "scatter",
        "title": "Figure B in numbers: intra- over inter-class scatter (4.8)",
        "note": f"HAR training points, input of layer 2 and of layer {record['chosen']['late_layer']}; t-SNE "
        f"seed {seed}. Smaller is better separated; t-SNE distances are no metric.",
        "columns": ["space", "early layer", "late layer"],
        "rows": rows,
    }
