"""Values as JSON knows them."""

import json

import numpy as np
import pandas as pd

from surewood.report.plain import cut_names, plain, plain_dict


def test_everything_becomes_strict_json():
    odd = {
        "nan": float("nan"),
        "inf": np.float32("inf"),
        "int": np.int64(3),
        "bool": np.bool_(True),
        "array": np.array([[1.5, np.nan]]),
        "set": {1},
        ("a", 1): pd.Timestamp("2024-02-28"),
    }
    found = plain(odd)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["nan"] is found["inf"] is None
    assert (found["int"], found["bool"]) == (3, True)
    assert found["array"] == [[1.5, None]]
    assert found["('a', 1)"].startswith("2024-02-28")


def test_the_copy_is_deep():
    inner = [1]
    copy = plain_dict({"a": inner})
    copy["a"].append(2)
    assert inner == [1]


def test_names_are_cut_where_they_are_equal():
    names = [f"average of the measurements of sensor {k} in 2023" for k in range(30)]
    cut = cut_names(names, 20)
    assert len(set(cut)) == 30
    assert max(map(len, cut)) <= 20
    assert cut_names(["a", "b"], 5) == ["a", "b"]
    assert cut_names(["same", "same"], 5) == ["same", "same"]
