"""A small table of the kind that users have."""

import numpy as np
import pandas as pd


def messy(n=90, seed=0):
    """Numbers, text, categories, booleans and dates, with holes, and a class that depends on some of them."""
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n)
    text = rng.choice(["red", "green", "blue"], n)
    label = np.where(number + (text == "red") + 0.3 * rng.normal(size=n) > 0.4, "yes", "no")
    frame = pd.DataFrame(
        {
            "number": np.where(rng.random(n) < 0.1, np.nan, number),
            "text": pd.Series(np.where(rng.random(n) < 0.1, None, text), dtype=object),
            "category": pd.Categorical(rng.choice(["u", "v"], n)),
            "flag": rng.random(n) < 0.5,
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 1000, n), unit="h"),
            "constant": 1,
        }
    )
    return frame, label
