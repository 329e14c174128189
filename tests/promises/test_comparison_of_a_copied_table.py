"""`compare --certify` of a table that stands in the file many times."""

import numpy as np
import pandas as pd

from surewood import workflow


def test_coins_copied_eight_times_prove_no_difference(tmp_path):
    """The forest knows the copies by heart, the linear model does not; on new rows both are coins."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd")).assign(y=rng.integers(0, 2, 60))
    pd.concat([frame] * 8).sample(frac=1.0, random_state=0).to_csv(tmp_path / "t.csv", index=False)
    found = workflow.compare(
        tmp_path / "t.csv", "y", only=["rf", "logreg"], folds=2, certify=True, n_jobs=1, random_state=0
    )
    certificate = found.facts["certificate"]
    assert not [entry for entry in certificate["entries"] if entry["status"] == "GUARANTEE"]
    assert certificate["withheld"]
