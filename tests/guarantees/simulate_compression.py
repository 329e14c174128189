"""Sample compression of SVMs on Gaussian pairs, whose risks are normal tails."""

import numpy as np
from sklearn.svm import SVC

from surewood.bounds import clopper_pearson
from surewood.bounds.evidence import CompressionEvidence
from surewood.certify import Method, certify
from tests.guarantees.harness import Speaker, collect
from tests.guarantees.simulate_holdout import Linear, gaussian_pair

DELTA = 0.05
PENALTIES = (0.1, 1.0, 10.0)
CONDITIONS = {"reproduces": True, "scaling_fixed": True, "unweighted": True}


def simulate_svm(draws, seed=4, m=60):
    """The penalty is chosen among three on the data, and paid for; the broken twin forgets all choices."""
    rng = np.random.default_rng(seed)
    mean = np.array([1.0, 0.0])
    rows = []
    for _ in range(draws):
        X, y = gaussian_pair(rng, m, mean)
        if np.abs(y.sum()) == m:
            X, y = np.vstack([X[:-1], -X[-1:]]), np.append(y[:-1], -y[-1])
        offers = []
        for penalty in PENALTIES:
            machine = SVC(C=penalty, kernel="linear").fit(X, y)
            others = np.setdiff1d(np.arange(m), machine.support_)
            errors = int(np.count_nonzero(machine.predict(X[others]) != y[others]))
            evidence = CompressionEvidence(
                n_samples=m,
                n_compressed=m - others.size,
                errors=errors,
                n_models=len(PENALTIES),
                **CONDITIONS,
            )
            entry = certify(Speaker(evidence), delta=DELTA).best
            wrong = clopper_pearson(errors, others.size, delta=DELTA) if others.size else 1.0
            offers.append((entry.value, wrong, machine))
        value, wrong, machine = min(offers, key=lambda offer: offer[0])
        risk = Linear(machine.coef_[0], machine.intercept_[0]).risk(mean)
        rows.append([(Method.COMPRESSION, risk, value, wrong)])
    return collect(DELTA, rows)
