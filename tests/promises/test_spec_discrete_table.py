"""[D-33]: "auto" takes the plain claim for discrete tables, says so, and names what the other rule gives."""

import numpy as np
import pandas as pd

from tests.promises.tables import fit, write


def discrete(n, seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({name: rng.integers(0, 4, n) for name in ("a", "b", "c")})
    table["y"] = np.where((table["a"] > 1) ^ (rng.random(n) < 0.1), "yes", "no")
    return table


def test_auto_counts_all_rows_and_says_what_the_other_rule_gives(tmp_path):
    path = write(discrete(600, 0), tmp_path / "discrete.csv")
    result = fit(path)
    claim = result.certificate.best
    assert (claim.n, claim.unit) == (120, "rows")
    said = " ".join(result.certificate.facts)
    assert 'copies="natural"' in said
    assert "discrete" in said
    assert 'copies="exclude"' in said


def test_exclude_can_be_asked_for(tmp_path):
    path = write(discrete(600, 0), tmp_path / "discrete.csv")
    result = fit(path, copies="exclude")
    claims = [entry for entry in result.certificate.guarantees if entry.sample == "holdout"]
    assert all(entry.n <= 64 for entry in claims)  # 64 contents in all, some of them held out


def test_natural_can_be_stated(tmp_path):
    rows = discrete(300, 1)
    rows["a"] = rows["a"] * 1.5
    result = fit(write(rows, tmp_path / "real.csv"), copies="natural")
    assert result.certificate.best.n == 60
    assert any("independent draws" in text for text in result.certificate.assumptions)
