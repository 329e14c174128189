"""A page about training rows, or about the best of many models, guarantees nothing that is not so."""

import numpy as np

from surewood import report
from surewood.certify import certify
from tests.promises.population import NOISE, draw, memorising_forest

X, Y = draw(300, 0)
FOREST = memorising_forest(X, Y)


def sections(holdout, **options):
    """What abstaining and sets guarantee on the page."""
    certificate = certify(FOREST, *holdout, **options)
    summary = report.build_summary(FOREST, X, Y, certificate=certificate, holdout=holdout)
    return summary["abstention"], summary["sets"]


def test_training_rows_have_neither_section():
    assert sections((X, Y)) == (None, None)


def test_training_rows_among_the_holdout_do_not_count():
    new, labels = draw(200, 1)
    abstention, sets = sections((np.r_[X, new], np.r_[Y, labels]))
    assert abstention is None or all(level["error"] >= NOISE for level in abstention["levels"])
    test, truth = draw(10_000, 2)
    p = FOREST.predict_proba(test)[np.arange(10_000), truth]
    assert sets["levels"]
    for level in sets["levels"]:
        assert (p >= level["threshold"]).mean() >= level["coverage"] - 0.02


def test_every_model_compared_is_paid_for():
    holdout = draw(400, 3)
    alone, of_fifty = sections(holdout)[1], sections(holdout, n_models=50)[1]
    assert of_fifty["delta"] == alone["delta"] / 50
    assert of_fifty["levels"][0]["threshold"] <= alone["levels"][0]["threshold"]
