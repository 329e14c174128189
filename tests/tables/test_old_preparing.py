"""Preparers saved before there were plans."""

import pandas as pd

from surewood.tables import TablePreparer
from surewood.tables.old_preparing import plan_of_old_rules

RULES = {
    "day": {"kind": "date", "form": "%d/%m/%Y"},
    "job": {"kind": "category", "values": ["baker", "clerk"], "ordered": False},
    "age": {"kind": "number"},
}


def test_an_old_preparer_does_what_it_did():
    preparer = TablePreparer.__new__(TablePreparer)
    preparer.__setstate__({"max_values": 1000, "columns_": dict(RULES), "dropped_": {"x": "it is text"}})
    frame = pd.DataFrame({"day": ["03/04/2024"], "job": ["clerk"], "age": ["41"]})
    out = preparer.transform(frame)
    assert out.columns.tolist() == ["day: year", "day: month", "day: weekday", "day: days", "job", "age"]
    assert out.iloc[0].tolist() == [2024, 4, 2, 19816, "clerk", 41]
    assert preparer.dropped_ == {"x": "it is text"}


def test_all_old_forms_have_a_plan():
    for form in ("ISO8601", "%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y"):
        assert plan_of_old_rules({"d": {"kind": "date", "form": form}}, {})["d"].kind == "date"
