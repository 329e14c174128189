"""The mixture on a page."""

import numpy as np
from sklearn.datasets import load_iris

from surewood import SurewoodClassifier
from surewood.estimators.describing import ReportRows


def test_the_page_shows_every_member_with_its_weight_and_the_sections_of_those_that_predict():
    X, y = load_iris(return_X_y=True)
    model = SurewoodClassifier(5, random_state=0).fit(X, y)
    facts = model.__report_facts__(ReportRows(X, y, np.asarray(y), False))
    table = facts["sections"][0]["blocks"][0]
    assert [row[0] for row in table["rows"]] == [one.name for one in model.members_]
    titles = [section["title"] for section in facts["sections"][1:]]
    for name, one in model.estimators_.items():
        own = one.__report_facts__(ReportRows(X, y, np.asarray(y), False))["sections"]
        assert sum(title.startswith(name.capitalize()) for title in titles) == len(own)
