"""`workflow.fit` through its public door on generated tables: copies, groups, weights, rare classes.

Risks are known from below: where labels are coins, drawn once per content, per group or per row, every
classifier errs at least as often as a coin does. The forest knows its training rows by heart, so a
certificate that counts them is caught.
"""

import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

import surewood
from surewood import workflow
from surewood.bounds import clopper_pearson
from surewood.certify.prediction_sets import tie_breakers, true_scores
from tests.guarantees.harness import collect
from tests.guarantees.simulate_certify import ages, half_zeros

DELTA = 0.1
FOREST = {"n_estimators": 2, "max_features": None}
SETS_DELTA = 0.05  # that of `predict --coverage`


def _fit(path, parameters=FOREST, **options):
    """A small forest on the table."""
    names = {**surewood.SHORT_NAMES, "forest": "BinnedForestClassifier"}
    with mock.patch.object(surewood, "SHORT_NAMES", names):
        return workflow.fit(
            path, "y", model="forest", parameters=parameters, n_jobs=1, holdout=0.3, delta=DELTA, **options
        )


def _value(result):
    """The error that the holdout guarantees."""
    held = [entry.value for entry in result.certificate.guarantees if entry.sample == "holdout"]
    return min(held, default=1.0)


def _simulate(name, draws, seed, table, honest, broken):
    rng = np.random.default_rng(seed)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        for draw in range(draws):
            table(rng).to_csv(path, index=False)
            values = [_value(_fit(path, random_state=draw, **options)) for options in (honest, broken)]
            rows.append([(name, 0.5, *values)])
    return collect(DELTA, rows)


def simulate_copied_tables(draws, seed=30):
    """Wrong labels were entered six times, others once or twice; the broken twin counts all rows."""
    rng = np.random.default_rng(seed)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        for draw in range(draws):
            frame = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"])
            flipped = rng.random(80) < 0.3
            frame["y"] = ((frame["a"] > 0) ^ flipped).astype(int)
            frame = frame.loc[np.repeat(np.arange(80), np.where(flipped, 6, rng.integers(1, 3, 80)))]
            frame = frame.sample(frac=1.0, random_state=int(rng.integers(2**31)))
            frame.to_csv(path, index=False)
            once, plain = (_fit(path, random_state=draw, drop_duplicates=drop) for drop in (True, False))
            held = frame.iloc[plain.holdout_rows]
            errors = int((plain.model.predict(held[["a", "b"]]) != held["y"].to_numpy()).sum())
            broken = clopper_pearson(errors, len(held), delta=DELTA)
            new = pd.DataFrame(rng.normal(size=(5000, 2)), columns=["a", "b"])
            risk = 0.3 + 0.4 * float((once.model.predict(new) != (new["a"] > 0)).mean())
            rows.append([("copied tables", risk, _value(once), broken)])
    return collect(DELTA, rows)


def simulate_ordinary_tables(draws, seed=37):
    """Half of the rows all zeros, and 62 ages: all rows count; the broken twin counts contents."""
    rng = np.random.default_rng(seed)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        for draw in range(draws):
            row = []
            for name, law in (("fit of half zeros", half_zeros), ("fit of 62 ages", ages)):
                X, y, _ = law(rng, 400)
                frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)
                frame.to_csv(path, index=False)
                result = _fit(path, random_state=draw)
                new, labels, _ = law(rng, 20_000)
                named = pd.DataFrame(new, columns=list(frame)[:-1])
                risk = float((result.model.predict(named) != labels).mean())
                held = frame.iloc[result.holdout_rows]
                wrong = pd.Series(result.model.predict(held.drop(columns="y")) != held["y"].to_numpy())
                contents = wrong.groupby(held.drop(columns="y").apply(tuple, axis=1).to_numpy()).mean()
                broken = clopper_pearson(round(contents.sum()), len(contents), delta=DELTA)
                row.append((name, risk, _value(result), broken))
            rows.append(row)
    return collect(DELTA, rows)


def simulate_grouped_tables(draws, seed=31):
    """Rows of a group share a label and nearly share a feature; the broken twin does not know the groups."""

    def table(rng):
        group = np.repeat(np.arange(50), 6)
        mark = rng.normal(size=50)[group] + 1e-4 * rng.normal(size=300)
        return pd.DataFrame({"who": group, "mark": mark, "y": rng.integers(0, 2, 50)[group]})

    honest, broken = {"groups": "who"}, {}
    return _simulate("grouped tables", draws, seed, table, honest, broken)


def _simulate_counts(name, draws, seed, risk, table, counts, **options):
    """The same where the broken twin counts the holdout rows of the same fit in another way.

    `counts(frame, held, wrong)` gives the number of errors and rows that the twin counts.
    """
    rng = np.random.default_rng(seed)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        for draw in range(draws):
            frame = table(rng)
            frame.to_csv(path, index=False)
            result = _fit(path, random_state=draw, **options)
            held = np.zeros(len(frame), dtype=bool)
            held[result.holdout_rows] = True
            wrong = result.model.predict(frame[held].drop(columns="y")) != frame["y"][held]
            errors, n = counts(frame, held, wrong.to_numpy())
            rows.append([(name, risk, _value(result), clopper_pearson(errors, n, delta=DELTA) if n else 1.0)])
    return collect(DELTA, rows)


def simulate_weighted_tables(draws, seed=32):
    """Rows with coins for labels weigh little; the broken twin counts errors by their weight."""

    def table(rng):
        x = rng.normal(size=150)
        y = np.where(x > 0, "a", np.where(rng.random(150) < 0.5, "a", "b"))
        return pd.DataFrame({"x": x, "z": rng.normal(size=150), "w": np.where(x > 0, 1.0, 0.2), "y": y})

    def weighted(frame, held, wrong):
        weight = frame["w"].to_numpy()[held]
        return round(len(wrong) * float(weight @ wrong / weight.sum())), len(wrong)

    return _simulate_counts("weighted tables", draws, seed, 0.25, table, weighted, weight="w")


def simulate_zero_weights(draws, seed=33):
    """Half of the rows have weight 0 and are no part of the fit; the broken twin does not count them."""

    def table(rng):
        x = rng.normal(size=150)
        y = np.where(
            x > 0, np.where(rng.random(150) < 0.05, "b", "a"), np.where(rng.random(150) < 0.5, "a", "b")
        )
        return pd.DataFrame({"x": x, "z": rng.normal(size=150), "w": (x > 0).astype(int), "y": y})

    def positive(frame, held, wrong):
        counted = frame["w"].to_numpy()[held] > 0
        return int(wrong[counted].sum()), int(counted.sum())

    return _simulate_counts("rows of weight 0", draws, seed, 0.25 + 0.025, table, positive, weight="w")


def simulate_rare_classes(draws, seed=34, n_rare=15):
    """Three rows in ten have one of many rare labels; the broken twin leaves labels with few rows out."""

    def table(rng):
        rare = rng.random(150) < 0.3
        labels = np.where(rare, [f"r{k}" for k in rng.integers(n_rare, size=150)], "common")
        return pd.DataFrame({"x": rng.normal(size=150) - 2 * rare, "z": rng.normal(size=150), "y": labels})

    def moved(frame, held, wrong):
        trained = frame["y"][~held].value_counts()
        counted = frame["y"][held].map(trained).fillna(0).to_numpy() >= 3
        return int(wrong[counted].sum()), int(counted.sum())

    risk = 0.3 * (1 - 1 / n_rare)  # which of the rare labels it is, nobody can tell
    return _simulate_counts("rare classes", draws, seed, risk, table, moved)


KINDS = {
    "sets of predict": {},
    "sets of predict by class": {"sets_by": "class"},
    "adaptive sets of predict": {"sets_score": "adaptive"},
}


def _sets_of_models(draws, seed, coverage, kinds, n=150):
    """Sets of small forests for 500 places, and of twins that find their limits on the training rows.

    Yields the probability of each class at each place, and for every kind the two masks of the sets.
    """
    rng = np.random.default_rng(seed)
    places = pd.DataFrame({"x": np.linspace(0, 1, 500), "z": rng.random(500)})
    chance = np.c_[0.9 - 0.8 * places["x"], 0.1 + 0.8 * places["x"]]
    with tempfile.TemporaryDirectory() as folder:
        path, new = Path(folder) / "table.csv", Path(folder) / "new.csv"
        places.to_csv(new, index=False)
        for draw in range(draws):
            frame = pd.DataFrame({"x": rng.random(n), "z": rng.random(n)})
            frame["y"] = np.where(rng.random(n) < 0.1 + 0.8 * frame["x"], "b", "a")
            frame.to_csv(path, index=False)
            result = _fit(path, {"n_estimators": 10, "min_samples_leaf": 4}, random_state=draw)
            trained = frame.drop(result.holdout_rows)
            own, codes = result.model.predict_proba(trained[["x", "z"]]), (trained["y"] == "b").to_numpy(int)
            ties = tie_breakers(trained[["x", "z"]], "adaptive")
            scores = {
                kind: true_scores(own, codes, kind, ties).tolist() for kind in ("threshold", "adaptive")
            }
            kept = {**result.facts["holdout_scores"], "code": codes.tolist(), **scores}
            facts = {**result.facts, "holdout_scores": kept}
            found = {}
            for name, options in kinds.items():
                models = [workflow.SavedModel(path, result.model, one) for one in (result.facts, facts)]
                sets = [
                    workflow.predict(one, new, coverage=coverage, **options).frame["set"] for one in models
                ]
                found[name] = [np.c_[one.str.contains("a"), one.str.contains("b")] for one in sets]
            yield rng, chance, found


def simulate_sets_of_predict(draws, seed=35, coverage=0.8):
    """`surewood predict --coverage 0.8`; the broken twin finds the limit on the training rows."""
    rows, kept = [], 1 - coverage
    for _, chance, found in _sets_of_models(draws, seed, coverage, KINDS):
        row = []
        for name, sets in found.items():
            by_class = [(chance * ~one).sum(axis=0) / chance.sum(axis=0) for one in sets]
            pooled = [float((chance * ~one).sum(axis=1).mean()) for one in sets]
            missed, twin = (max(one) for one in by_class) if "class" in name else pooled
            row.append((name, missed, kept, kept - (twin - missed)))
        rows.append(row)
    return collect(SETS_DELTA, rows)


def simulate_one_row_of_predict(draws, seed=36, coverage=0.8):
    """`--sets-guarantee marginal`: whether the set of one new row misses its label."""
    rows = []
    kinds = {"one row of predict": {"sets_guarantee": "marginal"}}
    for rng, chance, found in _sets_of_models(draws, seed, coverage, kinds):
        place = rng.integers(len(chance))
        label = int(rng.random() < chance[place, 1])
        missed, twin = (float(not one[place, label]) for one in found["one row of predict"])
        rows.append([("one row of predict", missed, 0.5, 0.5 - (twin - missed))])
    return collect(1 - coverage, rows)
