"""[D-37] for every CV family: what was offered is counted, however little of it was chosen."""

import pytest

from surewood import (
    DeepCascadeSVMClassifierCV,
    MarginDeepForestClassifierCV,
    RandomCompositeForestClassifierCV,
)
from surewood.bounds import CascadeEvidence, ForestEvidence
from surewood.certify import certify
from tests.promises.population import draw

SHALLOW, DEEP = (1, 2), (1, 2, 3, 4, 5)


def families_of(model):
    """Families that the model's in-sample bound pays for."""
    for evidence in model.__certificate_evidence__():
        if isinstance(evidence, ForestEvidence):
            return min(tree.n_families for tree in evidence.trees)
        if isinstance(evidence, CascadeEvidence):
            return evidence.n_families
    return None


def composite(depths):
    return RandomCompositeForestClassifierCV(n_estimators=(5,), max_depth=depths, cv=2, random_state=0)


def cascade(degrees):
    return DeepCascadeSVMClassifierCV(max_leaves=2, degrees=degrees, cv=2, random_state=0)


@pytest.mark.parametrize(("make", "few", "many"), [(composite, SHALLOW, DEEP), (cascade, (1,), (1, 2, 3))])
def test_every_offered_setting_is_paid_for(make, few, many):
    X, y = draw(160, 0)
    small, large = make(few).fit(X, y), make(many).fit(X, y)
    assert families_of(large) >= len(many)
    assert families_of(large) > families_of(small)
    parts = [certify(model).guarantees[0].decomposition["C"] for model in (small, large)]
    assert parts[0] < parts[1]


@pytest.mark.parametrize(("make", "many", "after"), [
    (composite, DEEP, {"max_depth": (1,), "n_estimators": (5,)}),
    (cascade, (1, 2, 3), {"degrees": (1,), "max_leaves": 1}),
])  # fmt: skip
def test_forgetting_the_grid_after_the_fit_changes_nothing(make, many, after):
    X, y = draw(160, 0)
    model = make(many).fit(X, y)
    before, paid = certify(model).to_json(), families_of(model)
    model.set_params(**after)
    assert families_of(model) == paid
    assert certify(model).to_json() == before


def test_a_margin_forest_tuned_on_its_rows_gives_no_guarantee_of_them():
    X, y = draw(160, 0)
    grid = {"n_estimators": 5, "max_layers": 2, "thetas": (0.7, 0.9), "random_state": 0}
    model = MarginDeepForestClassifierCV(**grid).fit(X, y)
    assert certify(model).guarantees == ()
    assert all(entry.biased for entry in certify(model).entries if entry.method == "held-out error")
    assert certify(model, X, y).guarantees == ()
