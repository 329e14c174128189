"""`estimate_cost` and `max_memory` of every public estimator, and two estimates against reality."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import surewood
from surewood.estimators.cost import CostEstimate
from tests.contract.estimators import deterministic, exported
from tests.contract.messy_table import messy

FACTOR = 1.5  # within which memory is promised, for fits of 30 MiB and more


@pytest.mark.parametrize("cls", exported(), ids=lambda c: c.__name__)
def test_every_estimator_tells_its_cost_and_obeys_its_limit(cls):
    frame, y = messy(80)
    X = frame[["number", "flag"]].to_numpy(dtype=float)
    model = deterministic(cls)
    cost = model.estimate_cost(X, y)
    assert isinstance(cost, CostEstimate)
    assert not [name for name in vars(model) if name.endswith("_")]
    assert cost.memory_bytes == sum(cost.parts.values()) > 0
    assert 0 < cost.seconds[0] < cost.seconds[1]
    assert "MiB" in str(cost)
    with pytest.raises(ValueError, match=r"needs about \d+ MiB.*max_memory=\d+ MiB; .* raise it"):
        deterministic(cls, max_memory=1000).fit(X, y)
    deterministic(cls, max_memory=2 * cost.memory_bytes).fit(X, y)  # half of it is for inner products
    with pytest.raises((ValueError, TypeError), match="max_memory"):
        deterministic(cls, max_memory=-1).fit(X, y)


@pytest.mark.parametrize("name", ["BinnedForestClassifier", "DeepCascadeSVMClassifier"])
def test_an_infinite_limit_is_none(name):
    frame, y = messy(40)
    deterministic(getattr(surewood, name), max_memory=float("inf")).fit(frame, y)


@pytest.mark.parametrize(
    ("name", "rows", "columns", "parameters"),
    [
        ("BinnedForestClassifier", 150_000, 20, {"n_estimators": 10}),
        ("DeepCascadeSVMClassifier", 4000, 5, {"C": 0.1, "degrees": [1], "max_leaves": 1}),
    ],
)
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads the kernel's high-water mark")
def test_memory_in_a_process_of_its_own_subprocess(name, rows, columns, parameters):
    shape = [str(rows), str(columns), "2"]
    command = [sys.executable, "-m", "benchmarks.cost_run", name, *shape, json.dumps(parameters)]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    out = json.loads(done.stdout)
    assert out["peak"] > 30 * 2**20
    assert 1 / FACTOR < out["estimate"] / out["peak"] < FACTOR


def test_equal_shares_of_the_classes_in_probes():
    from surewood.estimators.cost import spread_rows

    y = np.repeat([0, 1, 2], [80, 15, 5])
    order = spread_rows(y)
    assert sorted(order) == list(range(100))
    assert np.bincount(y[order[:20]], minlength=3).tolist() == [16, 3, 1]
