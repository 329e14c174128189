"""A search over settings, certified on the rows it searched with."""

from sklearn.model_selection import GridSearchCV

from surewood import BinnedForestClassifier
from surewood.certify import certify
from tests.promises.population import draw


def test_rows_of_the_search_are_not_counted():
    X, y = draw(200, 0)
    grid = {"max_depth": [3, None]}
    search = GridSearchCV(BinnedForestClassifier(9, random_state=0), grid, cv=2).fit(X, y)
    assert certify(search, X, y).guarantees == ()
