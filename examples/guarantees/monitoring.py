"""After deployment: a monitor that may be looked at after every batch."""

import numpy as np

from surewood import BinnedForestClassifier
from surewood.certify import Monitor, certify


def draw(n, seed, noise=0.05):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] > 0) ^ (rng.random(n) < noise)


forest = BinnedForestClassifier(60, random_state=0).fit(*draw(1000, 0))
X_hold, y_hold = draw(1000, 1)
certificate = certify(forest, X_hold, y_hold)
print(certificate.verdict)

monitor = Monitor(certificate, model=forest, holdout=X_hold)
for month, noise in enumerate([0.05, 0.05, 0.05, 0.15, 0.15], start=1):
    look = monitor.update(*draw(400, 10 + month, noise))
    state = "ALARM" if look.error_alarm else "quiet"
    print(f"month {month}: {state}, error between {look.lower:.3f} and {look.upper:.3f}")
