"""Structure of the data: whole groups are dealt to the sides and the claim is about a new group."""

import numpy as np
import pandas as pd

from tests.promises.tables import fit, write


def patients(n_groups, per_group, seed):
    """Each patient has one random label and a fingerprint that all of their rows share."""
    rng = np.random.default_rng(seed)
    label, mark = rng.random(n_groups) < 0.5, rng.normal(size=n_groups)
    who = np.repeat(np.arange(n_groups), per_group)
    return pd.DataFrame(
        {
            "patient": [f"p{k}" for k in who],
            "mark": mark[who] + 1e-3 * rng.normal(size=len(who)),
            "noise": rng.normal(size=len(who)),
            "y": np.where(label[who], "yes", "no"),
        }
    ).sample(frac=1.0, random_state=seed)


def test_a_fingerprint_of_the_patient_earns_nothing(tmp_path):
    path = write(patients(60, 10, 0), tmp_path / "patients.csv")
    result = fit(path, groups="patient")
    [claim] = [entry for entry in result.certificate.guarantees if entry.sample == "holdout"]
    assert claim.value > 0.5  # the label of a new patient is a coin
    assert (claim.n, claim.unit) == (12, "groups")
    assert "new group" in claim.population
    assert "patient" not in result.model[0].columns_


def test_no_group_is_on_both_sides(tmp_path):
    rows = patients(40, 5, 1).reset_index(drop=True)
    result = fit(write(rows, tmp_path / "patients.csv"), groups="patient")
    held = np.isin(np.arange(len(rows)), result.holdout_rows.tolist())
    assert held.any()
    assert not set(rows["patient"][held]) & set(rows["patient"][~held])
