"""`workflow.fit` through its public door on generated tables with copies and groups; risks are known.

Labels are coins, drawn once per content or per group: on new contents, or new groups, every classifier errs
half of the time. The forest knows its training rows by heart, so a certificate that counts them is caught. A
fit takes a fraction of a second, so there are fewer draws than through `certify`.
"""

import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

import surewood
from surewood import workflow
from tests.guarantees.harness import collect

DELTA = 0.1
FOREST = {"n_estimators": 2, "max_features": None}


def _value(path, **options):
    """The guaranteed error of a small forest on the table."""
    names = {**surewood.SHORT_NAMES, "forest": "BinnedForestClassifier"}
    with mock.patch.object(surewood, "SHORT_NAMES", names):
        result = workflow.fit(
            path, "y", model="forest", parameters=FOREST, n_jobs=1, holdout=0.3, delta=DELTA, **options
        )
    held = [entry.value for entry in result.certificate.guarantees if entry.sample == "holdout"]
    return min(held, default=1.0)


def _simulate(name, draws, seed, table, honest, broken):
    rng = np.random.default_rng(seed)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        for draw in range(draws):
            table(rng).to_csv(path, index=False)
            values = [_value(path, random_state=draw, **options) for options in (honest, broken)]
            rows.append([(name, 0.5, *values)])
    return collect(DELTA, rows)


def simulate_copied_tables(draws, seed=30):
    """Every row stands in the table six times; the broken twin counts copies as independent draws."""

    def table(rng):
        frame = pd.DataFrame(rng.normal(size=(50, 2)), columns=["a", "b"]).assign(y=rng.integers(0, 2, 50))
        return pd.concat([frame] * 6).sample(frac=1.0, random_state=int(rng.integers(2**31)))

    return _simulate("copied tables", draws, seed, table, {}, {"copies": "natural"})


def simulate_grouped_tables(draws, seed=31):
    """Rows of a group share a label and nearly share a feature; the broken twin does not know the groups."""

    def table(rng):
        group = np.repeat(np.arange(50), 6)
        mark = rng.normal(size=50)[group] + 1e-4 * rng.normal(size=300)
        return pd.DataFrame({"who": group, "mark": mark, "y": rng.integers(0, 2, 50)[group]})

    honest, broken = {"groups": "who"}, {}
    return _simulate("grouped tables", draws, seed, table, honest, broken)
