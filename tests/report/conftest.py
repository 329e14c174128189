"""A small hostile table: names of columns and classes that try to run, break out or be read as markup."""

import numpy as np
import pandas as pd
import pytest

SCRIPT = "<script>alert(1)</script>"


def hostile_table(n=160, seed=0):
    """Two moons with names that no page should obey."""
    random = np.random.default_rng(seed)
    angle = random.uniform(0, np.pi, n)
    second = random.integers(0, 2, n)
    x = np.where(second, 1 - np.cos(angle), np.cos(angle)) + random.normal(0, 0.15, n)
    y = np.where(second, 0.5 - np.sin(angle), np.sin(angle)) + random.normal(0, 0.15, n)
    frame = pd.DataFrame(
        {
            "</script><img src=x onerror=alert(2)>": x,
            "{{ 7 * 7 }} %{x} \u2028": y,
            '"&<b>kind': pd.Categorical(random.choice([SCRIPT, "ä 'b'", "@leaf"], n)),
            "lost": np.where(random.random(n) < 0.3, np.nan, random.normal(size=n)),
            "day": pd.Timestamp("2024-02-28") + pd.to_timedelta(random.integers(0, 400, n), "D"),
        }
    )
    labels = np.where(second, SCRIPT, "<b>&amp;ß</b>")
    return frame, labels


@pytest.fixture(scope="session")
def hostile():
    return hostile_table()
