"""Which weights later layers should have: every rule on clean and on noisy data, all from one first layer.

    python -m benchmarks.study_reweighting run --sets yeast,german_numeric --seeds 0,1,2
    python -m benchmarks.study_reweighting table      # the table of docs/research/margin-forest.md

``run`` appends to ``benchmarks/results/reweighting.csv`` and skips what is there. Needs SUREWOOD_DATA.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.study_files import append_rows, option_parser
from papers.datasets import load
from surewood.deepforest.data import InputReader, LayerInput, TrainingSet
from surewood.deepforest.first_layer import choose_first_layer
from surewood.deepforest.forests import AUTO_SCHEDULES, PUBLISHED, parse_members
from surewood.deepforest.margin_growth import MarginGrowth
from surewood.deepforest.margins import STRENGTHS, WeightRule
from surewood.deepforest.plan import MarginGrowthPlan, RunOptions
from surewood.tables import TableSchema

RESULTS = Path(__file__).parent / "results" / "reweighting.csv"
RULES = [
    ("literal", None),
    ("tempered", 0.25),
    ("tempered", 0.5),
    ("sample_size", 0.5),
    ("sample_size", 0.8),
    ("below_target", None),
    ("mixed", 0.5),
    ("chosen", None),
    ("none", None),
]
#: Trees of a forest, and most training rows, to keep the whole study below twenty minutes of one core.
SIZES = {
    "yeast": (100, 10**9),
    "german_numeric": (100, 10**9),
    "satimage": (50, 10**9),
    "adult": (30, 8000),
    "letter": (30, 6000),
}
FIELDS = (
    "data",
    "seed",
    "rule",
    "strength",
    "layer1_held_out",
    "layer2_own_held_out",
    "held_out",
    "layer1_test",
    "test",
    "layers",
)


def prepare(name: str, seed: int):
    n_trees, most = SIZES[name]
    X, y, train, test = _rows(name, seed, most)
    schema = TableSchema.learn(X.iloc[train])
    classes, codes = np.unique(y, return_inverse=True)
    members = parse_members(PUBLISHED, n_trees)
    table = schema.read(X.iloc[train])
    reader = InputReader.learn(table, None)
    training = TrainingSet(reader.read(table), codes[train].astype(np.int32), classes)
    return members, training, reader.read(schema.read(X.iloc[test])), codes[test]


def _rows(name: str, seed: int, most: int):
    """Official split, or 70/30 by seed; training rows cut to `most`."""
    data = load(name)
    frame, y = data.X, np.asarray(data.y)
    rng = np.random.default_rng(seed)
    if data.is_divided:
        train, test = np.flatnonzero(data.split == "train"), np.flatnonzero(data.split == "test")
    else:
        order = rng.permutation(len(y))
        test, train = order[: round(0.3 * len(y))], order[round(0.3 * len(y)) :]
    if len(train) > most:
        train = rng.choice(train, most, replace=False)
    return frame, y, train, test


def run(sets: list[str], seeds: list[int], n_jobs: int) -> None:
    known = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=["data", "seed"])
    for name in sets:
        for seed in seeds:
            if ((known["data"] == name) & (known["seed"] == seed)).any():
                continue
            rows = study(name, seed, n_jobs)
            append_rows(RESULTS, FIELDS, rows)
            print(name, seed, "done", flush=True)


def study(name: str, seed: int, n_jobs: int) -> list[dict]:
    members, training, test_input, test_codes = prepare(name, seed)
    options = RunOptions(n_jobs=n_jobs)
    plans = [
        MarginGrowthPlan(members=members, schedule=(rate,) * len(members), n_folds=5, seed=seed)
        for rate in AUTO_SCHEDULES
    ]
    plan, first = choose_first_layer(training, plans, options)
    rows = []
    for kind, strength in RULES:
        rule = WeightRule(kind, STRENGTHS[kind] if strength is None else strength)
        rows.append(
            {"data": name, "seed": seed, "rule": kind, "strength": rule.strength}
            | measure(training, plan, rule, first, options, test_input, test_codes)
        )
    return rows


def measure(training, plan, rule, first, options, test_input: LayerInput, test_codes) -> dict:
    short = replace(plan, weights=rule, patience=2, max_layers=6)
    fit = MarginGrowth(training, short, options).grown(first)
    staged = [float((s.argmax(axis=1) == test_codes).mean()) for *_, s in fit.layers.walk(test_input)]
    return {
        "layer1_held_out": fit.records[0].accuracy,
        "layer2_own_held_out": fit.records[1].layer_accuracy if len(fit.records) > 1 else np.nan,
        "held_out": fit.score,
        "layer1_test": staged[0],
        "test": staged[-1],
        "layers": len(fit.layers.layers),
    }


def table() -> str:
    """Mean over seeds, in per cent, as Markdown."""
    results = pd.read_csv(RESULTS)
    results["rule"] = [
        rule if rule in ("literal", "none", "below_target", "chosen") else f"{rule} {strength:g}"
        for rule, strength in zip(results["rule"], results["strength"])
    ]
    order = list(dict.fromkeys(results["rule"]))
    lines = ["| data (seeds) | " + " | ".join(order) + " |", "|---" * (len(order) + 1) + "|"]
    for name, group in results.groupby("data", sort=False):
        means = group.groupby("rule")[["layer2_own_held_out", "held_out", "test"]].mean() * 100
        cells = [" / ".join(f"{value:.1f}" for value in means.loc[rule]) for rule in order]
        first = group[["layer1_held_out", "layer1_test"]].mean() * 100
        seeds = group["seed"].nunique()
        lines.append(
            f"| {name} ({seeds}), layer 1: {first.iloc[0]:.1f} / {first.iloc[1]:.1f} | "
            + " | ".join(cells)
            + " |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = option_parser(__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--sets", default=",".join(SIZES))
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--n-jobs", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.what == "table":
        print(table())
    else:
        run(arguments.sets.split(","), [int(s) for s in arguments.seeds.split(",")], arguments.n_jobs)


if __name__ == "__main__":
    main()
