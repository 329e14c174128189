"""Tables with a known law, as files, and a small model fitted on them through the workflow."""

import numpy as np
import pandas as pd

from surewood import workflow
from tests.promises.population import draw

SMALL = {"n_estimators": 3, "max_layers": 1}
QUICK = ("--model", "mddf", "--set", "n_estimators=3", "--set", "max_layers=1", "--n-jobs", 1)


def frame(n, seed, **options):
    """Rows of the population of this folder as a frame with the target ``y``."""
    X, y = draw(n, seed, **options)
    table = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    table["y"] = np.where(y == 1, "yes", "no")
    return table


def write(table, path):
    """The frame as a CSV file."""
    table.to_csv(path, index=False)
    return path


def fit(path, **options):
    """A small margin deep forest on the table."""
    return workflow.fit(path, target="y", model="mddf", parameters=SMALL, n_jobs=1, **options)
