"""What the tree, the forest and the search share."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from surewood import (
    CompositeTreeClassifier,
    RandomCompositeForestClassifier,
    RandomCompositeForestClassifierCV,
    load,
    save,
)
from tests.composite.composite_samples import sample

MODELS = [
    CompositeTreeClassifier(max_depth=2, C=1.0, random_state=0),
    RandomCompositeForestClassifier(4, random_state=0),
    RandomCompositeForestClassifierCV(n_estimators=(2, 3), max_depth=(1, 2), random_state=0),
]


@pytest.mark.parametrize("model", MODELS)
def test_at_most_twenty_parameters_each_with_a_rule(model):
    parameters = set(model.get_params())
    assert len(parameters) <= 19  # one is kept free
    assert parameters == {*model._parameter_rules, "study"}


@pytest.mark.parametrize("model", MODELS)
def test_nothing_is_known_before_the_fit(model):
    fresh = type(model)()
    for use in (fresh.ledger, fresh.nodes, fresh.__certificate_evidence__):
        with pytest.raises(NotFittedError):
            use()
    with pytest.raises(NotFittedError):
        fresh.predict(np.zeros((1, 2)))
    assert not hasattr(fresh, "criterion_")


@pytest.mark.parametrize("model", MODELS)
def test_a_saved_model_is_the_same(model, tmp_path):
    X, y = sample(80)
    model.fit(X, y)
    save(model, tmp_path / "model.surewood")
    again = load(tmp_path / "model.surewood")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.ledger().equals(model.ledger())
    assert again.explain(X[:2]) == model.explain(X[:2])
    assert repr(list(again.__certificate_evidence__())) == repr(list(model.__certificate_evidence__()))


@pytest.mark.parametrize("model", MODELS)
def test_training_rows_are_remembered(model):
    X, y = sample(80)
    model.fit(X[:60], y[:60])
    assert model.remembered_rows_.contains(X).tolist() == [True] * 60 + [False] * 20
    forgetful = type(model)(**{**model.get_params(), "remember_rows": False}).fit(X, y)
    assert forgetful.remembered_rows_ is None


@pytest.mark.parametrize("model", MODELS)
def test_max_memory_may_be_text(model):
    X, y = sample(80)
    expected = model.fit(X, y).predict_proba(X)
    roomy = type(model)(**{**model.get_params(), "max_memory": "2GB"})
    assert np.array_equal(roomy.fit(X, y).predict_proba(X), expected)
    with pytest.raises(ValueError, match="more than max_memory=1 MiB"):
        type(model)(**{**model.get_params(), "max_memory": "1kB"}).fit(X, y)
