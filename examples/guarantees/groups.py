"""The error in every clinic at once, worst first."""

import numpy as np
import pandas as pd

from surewood import BinnedForestClassifier
from surewood.certify import Claim, certify

rng = np.random.default_rng(0)
n = 4000
X = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
clinic = pd.Series(rng.choice(["north", "south", "harbor"], n, p=[0.6, 0.3, 0.1]), name="clinic")
noise = np.where(clinic == "harbor", 0.2, 0.05)  # labels of one clinic are less reliable
y = (X["a"] + X["b"] > 0).to_numpy() ^ (rng.random(n) < noise)

forest = BinnedForestClassifier(60, random_state=0).fit(X[:2000], y[:2000])
certificate = certify(forest, X[2000:], y[2000:], claims=[Claim("error_by", by=clinic[2000:])])
(entry,) = certificate.guarantees
for name, limit in sorted(entry.decomposition.items(), key=lambda item: -item[1]):
    print(f"{name}: error at most {limit:.3f}")
print(entry.note)
