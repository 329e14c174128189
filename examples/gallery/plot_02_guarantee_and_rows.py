"""How many rows a guarantee needs

The guaranteed error approaches the observed one as the holdout grows. With 5 % errors, about 380 rows
guarantee 7 %.
"""

import matplotlib.pyplot as plt
import numpy as np

from surewood.bounds import clopper_pearson

rows = np.unique(np.geomspace(20, 10_000, 60).astype(int))
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for rate, color in [(0.1, "#8e5572"), (0.05, "#2e7d4f"), (0.01, "#3a7ca5")]:
    limits = [clopper_pearson(round(rate * n), n) for n in rows]
    ax.plot(rows, limits, color=color, label=f"observed error {rate:.0%}")
    ax.axhline(rate, color=color, linewidth=0.8, linestyle=":")
ax.set(xscale="log", xlabel="holdout rows", ylabel="guaranteed error (95 %)", ylim=(0, 0.3))
ax.legend(frameon=False)
