"""Training rows whose text has blanks around it."""

import numpy as np
import pandas as pd

from surewood.certify import certify
from tests.promises.population import draw, nearest_neighbour


class Numbers:
    """A model of another library that reads two columns."""

    def __init__(self, frame, y):
        self.model = nearest_neighbour(frame[["a", "b"]].to_numpy(), y)

    def predict(self, frame):
        return self.model.predict(frame[["a", "b"]].to_numpy())


def test_stripped_text_is_the_same_text():
    X, y = draw(200, 0, d=2)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(name=[f"row {i}" for i in range(200)])
    blanks = frame.assign(name=" " + frame["name"] + "  ")
    certificate = certify(Numbers(frame, y), blanks, y, X_train=frame)
    assert certificate.guarantees == ()
    assert np.all([w.reason.startswith("no row can be counted") for w in certificate.withheld])
