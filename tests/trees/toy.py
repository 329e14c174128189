"""A table with numbers, categories and missing values."""

import numpy as np
import pandas as pd


def table(n_rows=600, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n_rows),
            "letter": pd.Categorical(rng.choice(list("abcdefgh"), n_rows)),
            "other": rng.normal(size=n_rows),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n_rows)),
        }
    )
    score = frame["number"] + frame["letter"].cat.codes % 3 + frame["other"] * (frame["colour"] == "red")
    score += rng.normal(0, 0.3, n_rows)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    frame.loc[rng.random(n_rows) < 0.2, "number"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "letter"] = np.nan
    return frame, y
