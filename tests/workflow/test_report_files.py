"""The page and the JSON beside a model."""

import json


def test_the_page_is_about_the_table_and_the_holdout(fitted):
    summary = json.loads(fitted.files["data"].read_text(encoding="utf-8"))
    assert summary["data"]["name"] == fitted.facts["table"]
    assert summary["data"]["n_holdout"] == fitted.facts["holdout_rows"]
    assert summary["scores"]["sample"] == "holdout"
    assert summary["certificate"]["entries"][0]["value"] == fitted.certificate.entries[0].value
    assert "Confusion matrix" in fitted.files["page"].read_text(encoding="utf-8")
