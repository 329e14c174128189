"""Which members a mixture uses

`SurewoodClassifier` fits five classifiers and weighs them by their held-out log-loss. Members that add
nothing are dropped.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from surewood import SurewoodClassifier

X, y = load_wine(return_X_y=True)
model = SurewoodClassifier(30, random_state=0).fit(X, y)
names = [member.name for member in model.members_]
losses = [member.held_out_log_loss for member in model.members_]
fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
bars = ax.barh(
    names, losses, color=["#2e7d4f" if member.weight > 0 else "#c9cdd2" for member in model.members_]
)
ax.bar_label(bars, [f"weight {member.weight:.2f}" for member in model.members_], padding=4)
ax.set(xlabel="held-out log-loss (smaller is better)", xlim=(0, 1.35 * max(losses)))
ax.invert_yaxis()
