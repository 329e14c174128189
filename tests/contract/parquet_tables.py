"""A table of every kind of column, as a frame and as Parquet parts."""

import numpy as np
import pandas as pd


def mixed_frame(n=600, seed=0):
    """Floats, integers, text, ordered and plain categories, booleans, times, dates; values missing."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "float": rng.normal(size=n),
            "integer": rng.integers(-5, 20, n),
            "text": rng.choice(["red", "green", "blue", "ünïcode"], n),
            "level": pd.Categorical(
                rng.choice(["low", "mid", "high"], n), categories=["low", "mid", "high"], ordered=True
            ),
            "plain": pd.Categorical(rng.choice(["s", "q", "r"], n)),
            "flag": rng.random(n) < 0.4,
            "time": pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 10**6, n), unit="s"),
            "many": [f"value {k}" for k in rng.integers(0, 400, n)],
            "empty": np.full(n, np.nan),
        }
    )
    frame["date"] = frame["time"].dt.date
    frame.loc[rng.random(n) < 0.15, "float"] = np.nan
    frame.loc[rng.random(n) < 0.15, "text"] = None
    frame.loc[rng.random(n) < 0.1, "time"] = pd.NaT
    score = frame["float"].fillna(0.5) + (frame["text"] == "red") + (frame["level"] == "high")
    frame["label"] = np.where(score + 0.4 * rng.normal(size=n) > 0.6, "yes", "no")
    return frame


def write_parts(frame, folder, n_parts=3):
    """The frame in parts; returns the folder."""
    folder.mkdir(exist_ok=True)
    for k, rows in enumerate(np.array_split(np.arange(len(frame)), n_parts)):
        frame.iloc[rows].to_parquet(folder / f"part-{k}.parquet", index=False)
    return folder
