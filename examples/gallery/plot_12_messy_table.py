"""A messy table, as it is

Text, dates and missing values go straight into `fit`.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from surewood import BinnedForestClassifier

rng = np.random.default_rng(0)
n = 1000
frame = pd.DataFrame(
    {
        "plan": rng.choice(["basic", "plus", "pro"], n),
        "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1800, n), unit="D"),
        "usage": np.where(rng.random(n) < 0.2, np.nan, rng.gamma(2.0, 10.0, n)),
        "city": rng.choice(["Aachen", "Bremen", "Cottbus", None], n),
    }
)
risk = 1.2 * (frame["plan"] == "basic") - 0.03 * frame["usage"].fillna(0) + (frame["since"] > "2023-06-01")
left = np.where(rng.random(n) < 1 / (1 + np.exp(-risk)), "left", "stayed")
model = BinnedForestClassifier(100, oob_score=True, random_state=0).fit(frame, left)
print("out-of-bag accuracy", round(model.oob_score_, 3))
fig, ax = plt.subplots(figsize=(6, 2.4), layout="constrained")
ax.barh(frame.columns, model.feature_importances_, color="#2e7d4f")
ax.set(xlabel="importance")
