"""Training rows handed over as (half of) the holdout of every claim and of every threshold."""

import numpy as np
import pytest

from surewood.certify import Claim, NoThresholdError, certify, find_threshold
from surewood.certify.claims import QUANTITIES
from tests.promises.population import NOISE, draw, memorising_forest

X, Y = draw(400, 0)
FOREST = memorising_forest(X, Y)
COST = np.array([[0.0, 1.0], [1.0, 0.0]])


def claim(quantity):
    """The claim in its simplest form; costs and groups are such that all of them are about the error."""
    options = {"cost": {"cost": COST}, "error_by": {"by": "group"}}
    of = {name: {"of": 1} for name in ("recall", "fpr", "precision", "f1")}
    return Claim(quantity, **{**options, **of}.get(quantity, {}))


def rows(n, seed, groups=True):
    """New rows as a frame with a column of groups."""
    import pandas as pd

    table, y = draw(n, seed)
    frame = pd.DataFrame(table, columns=list("abcd"))
    return frame.assign(group=np.where(np.arange(n) % 2, "left", "right")) if groups else frame, y


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_nothing_is_guaranteed_on_training_rows(quantity):
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abcd")).assign(group=np.where(np.arange(400) % 2, "l", "r"))
    model = memorising_forest(frame, Y)
    assert certify(model, frame, Y, claims=claim(quantity)).guarantees == ()


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_half_of_the_rows_are_training_rows(quantity):
    """The guarantee is about the new rows: of those a quarter cannot be classified by anybody."""
    import pandas as pd

    old, y_old = rows(400, 0)
    new, y_new = rows(400, 1)
    model = memorising_forest(old, y_old)
    (entry,) = certify(model, pd.concat([old, new]), np.r_[y_old, y_new], claims=claim(quantity)).guarantees
    worst = entry.value if entry.side == "at most" else 1.0 - entry.value
    assert worst >= NOISE
    assert entry.population == "new rows that are not copies of training rows"


@pytest.mark.parametrize(
    "wanted", [{"precision": 0.95}, {"recall": 0.99}, {"fpr": 0.02}, {"accepted_error": 0.05}]
)
def test_thresholds_count_new_rows_only(wanted):
    """A model that knows its training rows keeps everything on them, and nothing of this on new ones."""
    new, y_new = draw(300, 1)
    with pytest.raises(NoThresholdError, match="copies of training rows"):
        find_threshold(FOREST, X, Y, **wanted)
    try:
        found = find_threshold(FOREST, np.r_[X, new], np.r_[Y, y_new], **wanted)
    except NoThresholdError:
        return
    test, y_test = draw(20_000, 2)
    p = FOREST.predict_proba(test)
    above = p.max(axis=1) >= found.threshold if "accepted_error" in wanted else p[:, 1] >= found.threshold
    rates = {
        "precision": lambda: y_test[above].mean() if above.any() else 1.0,
        "recall": lambda: above[y_test == 1].mean(),
        "fpr": lambda: above[y_test == 0].mean(),
        "accepted_error": lambda: (p.argmax(axis=1) != y_test)[above].mean() if above.any() else 0.0,
    }
    ((name, value),) = wanted.items()
    rate = rates[name]()
    assert rate >= value - 0.01 if name in ("precision", "recall") else rate <= value + 0.01
