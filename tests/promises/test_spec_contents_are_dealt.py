"""[D-33]: when we divide the rows, contents are dealt, copies stay together, and each content counts once."""

import numpy as np
import pandas as pd

from tests.promises.population import is_true
from tests.promises.tables import fit, frame, write


def test_a_table_copied_four_times_gives_a_claim_about_contents(tmp_path):
    rows = frame(250, 0)
    copied = pd.concat([rows] * 4).sample(frac=1.0, random_state=0)
    result = fit(write(copied, tmp_path / "copied.csv"))
    assert is_true(result.certificate)
    [claim] = [entry for entry in result.certificate.guarantees if entry.sample == "holdout"]
    assert claim.n == 50
    assert claim.unit == "contents"
    assert "(equal rows count once)" in claim.population


def test_copies_with_other_labels_stay_together_and_count_once(tmp_path):
    rows = frame(300, 1)
    turned = rows.assign(y=np.where(rows["y"] == "yes", "no", "yes"))
    both = pd.concat([rows, turned]).sample(frac=1.0, random_state=1)
    result = fit(write(both, tmp_path / "both.csv"))
    [claim] = [entry for entry in result.certificate.guarantees if entry.sample == "holdout"]
    assert claim.n == 60  # 300 contents, a fifth of them held out
    assert claim.value > 0.5  # every content has both labels: no classifier errs on less than half


def test_without_copies_the_claim_is_about_rows(tmp_path):
    result = fit(write(frame(200, 2), tmp_path / "clean.csv"))
    [claim] = [entry for entry in result.certificate.guarantees if entry.sample == "holdout"]
    assert (claim.n, claim.unit) == (40, "rows")
