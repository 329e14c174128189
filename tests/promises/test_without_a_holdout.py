"""Ways to get a false guarantee from the training sample: weights, copies, grids, scalers, frozen parts."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from surewood import (
    BinnedForestClassifier,
    DeepCascadeSVMClassifierCV,
    MarginDeepForestClassifierCV,
    PolySVC,
    RandomCompositeForestClassifier,
    RandomCompositeForestClassifierCV,
)
from surewood.bounds import cascade_theorem
from surewood.bounds.cascade import native_cascade_complexity
from surewood.bounds.evidence import CascadeEvidence, ForestEvidence
from surewood.certify import CrossFittedClassifier, Method, certify
from tests.contract.estimators import classifiers, small
from tests.promises.population import (
    NOISE,
    draw,
    is_true,
    memorising_forest,
    nearest_neighbour,
    says_nothing_of_groups_or_time,
)

KINDS = {
    "binned": (BinnedForestClassifier, {"n_estimators": 30}, {"min_samples_leaf": 20}),
    "composite": (RandomCompositeForestClassifier, {"n_estimators": 8}, {"max_depth": 1}),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


@pytest.fixture
def forest(kind):
    """Makes a certifiable forest."""
    family, size, _ = kind
    return lambda **options: family(**{**size, "certifiable": True, "random_state": 0, **options})


def test_a_clean_fit_is_guaranteed_and_true(forest, kind):
    certificate = certify(forest(**kind[2]).fit(*draw(2500, 0)))
    assert len(certificate.guarantees) == 2
    assert is_true(certificate)


@pytest.mark.parametrize("hard", [0.0, 0.5])
def test_rows_that_are_hard_weigh_little_or_nothing(forest, hard):
    X, y = draw(600, 0)
    weight = np.where(y == (X[:, 0] > 0), 1.0, hard)
    assert certify(forest().fit(X, y, sample_weight=weight)).guarantees == ()


@pytest.mark.parametrize("weights", [{0: 1.0, 1: 0.0}, "balanced"])
def test_classes_with_weights(forest, weights):
    assert certify(forest(class_weight=weights).fit(*draw(500, 0))).guarantees == ()


def test_a_table_copied_four_times(forest):
    X, y = draw(200, 0)
    assert certify(forest().fit(np.tile(X, (4, 1)), np.tile(y, 4))).guarantees == ()


def test_ten_rows_many_times(forest):
    X, y = draw(10, 0)
    y[:2] = 0, 1
    assert certify(forest().fit(np.tile(X, (100, 1)), np.tile(y, 100))).guarantees == ()


def test_parameters_changed_after_the_fit(forest, kind):
    model = forest().fit(*draw(400, 0))
    before = certify(model).to_json()
    model.set_params(certifiable=False, n_estimators=1, max_depth=1)
    assert certify(model).to_json() == before
    family, size, _ = kind
    ordinary = family(**size, random_state=0).fit(*draw(400, 0))
    assert certify(ordinary.set_params(certifiable=True)).guarantees == ()


def test_a_scaler_fitted_before_the_forest(forest):
    pipeline = make_pipeline(StandardScaler(), forest()).fit(*draw(400, 0))
    assert certify(pipeline).guarantees == ()
    assert certify(pipeline, fixed_features=True).guarantees == ()


def test_rows_in_groups_or_in_time(forest):
    model = forest().fit(*draw(400, 0))
    assert certify(model, groups=np.arange(400) // 4).guarantees == ()
    assert certify(model, time=np.arange(400)).guarantees == ()


def test_every_setting_of_a_search_is_paid_for(forest):
    X, y = draw(300, 0)
    search = GridSearchCV(forest(n_estimators=4), {"max_depth": [1, 2, 3]}, cv=2).fit(X, y)
    entries = certify(search).guarantees
    assert [entry.n_models for entry in entries] == [3, 3]
    alone = certify(search.best_estimator_).guarantees
    assert all(a.value <= b.value for a, b in zip(alone, entries))


@pytest.mark.parametrize("seed", range(3))
def test_labels_that_are_coins(forest, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    assert is_true(certify(forest().fit(X, y)), least=0.5)


def test_training_rows_as_a_holdout(forest):
    X, y = draw(400, 0)
    certificate = certify(forest().fit(X, y), X, y)
    assert all(entry.sample == "out-of-bag" for entry in certificate.guarantees)
    assert is_true(certificate)


def forest_composite(**options):
    return RandomCompositeForestClassifier(8, certifiable=True, random_state=0, **options)


@pytest.mark.parametrize("selection", ["auto", "exact", "common_degree"])
@pytest.mark.parametrize("seed", range(2))
def test_deep_trees_with_a_large_C_on_coins(seed, selection):
    """They know their bags by heart, and what is compared is compared on noise."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    model = forest_composite(selection=selection, max_depth=8, C=100.0).fit(X, y)
    assert is_true(certify(model), least=0.5)


def test_settings_that_are_searched_within_the_fit():
    """The pilot and the tuning of C see the preparation part alone."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 12)), rng.integers(0, 2, 500)
    for selection in ("auto", "exact"):
        certificate = certify(forest_composite(selection=selection, degrees=[1, 2, 3]).fit(X, y))
        assert is_true(certificate, least=0.5)
        assert all(entry.n_models == 1 for entry in certificate.guarantees)


def test_a_column_that_few_rows_have():
    """What is missing in a bag says nothing to its tree."""
    X, y = draw(400, 0)
    X[:, 3] = np.where(np.random.default_rng(1).random(400) < 0.9, np.nan, y)
    assert is_true(certify(forest_composite().fit(X, y)), least=0.2)


def test_plain_trees_and_calibration_cannot_be_smuggled_in():
    X, y = draw(300, 0)
    model = forest_composite().fit(X, y)
    assert model.plain_weight_ == 0.0
    assert model.model_.calibrator is None
    for options in ({"plain_weight": 0.9}, {"calibrate": "isotonic"}, {"time_limit": 1.0}):
        with pytest.raises(ValueError, match=r"^certifiable=True"):
            forest_composite(**options).fit(X, y)


def average():
    return CrossFittedClassifier(KNeighborsClassifier(1))


def test_labels_that_are_coins_of_cross_fitting():
    rng = np.random.default_rng(0)
    model = average().fit(rng.normal(size=(300, 2)), rng.integers(0, 2, 300))
    assert all(entry.value >= 0.5 for entry in certify(model).guarantees)


def test_equal_rows_are_dealt_to_all_folds():
    """In one fold, half zeros would count for a fold in five, and their coins for as little."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2)) * (rng.random((4000, 1)) < 0.5)
    y = np.where(X[:, 0] == 0, rng.random(4000) < 0.5, X[:, 0] > 0)
    model = CrossFittedClassifier(LogisticRegression(C=1e4)).fit(X, y)
    assert certify(model).guarantees[0].value >= 0.25


def test_groups_and_time():
    assert says_nothing_of_groups_or_time(average().fit(*draw(300, 0)), 300)


def test_a_scaler_outside_the_folds():
    assert certify(make_pipeline(StandardScaler(), average()).fit(*draw(300, 0))).guarantees == ()


def test_copied_rows():
    X, y = draw(100, 0)
    assert certify(average().fit(np.tile(X, (4, 1)), np.tile(y, 4))).guarantees == ()


def test_changed_parameters_and_searches():
    X, y = draw(200, 0)
    model = average().fit(X, y)
    before = certify(model).to_json()
    model.set_params(n_folds=2, estimator=KNeighborsClassifier(50))
    assert certify(model).to_json() == before
    search = GridSearchCV(average(), {"n_folds": [2, 3, 5]}, cv=2).fit(X, y)
    assert certify(search).guarantees[0].n_models == 3


X, Y = draw(400, 0)


@pytest.mark.parametrize("hide", [
    FrozenEstimator,
    lambda model: make_pipeline(FrozenEstimator(model)),
    lambda model: CalibratedClassifierCV(FrozenEstimator(model)),
    lambda model: VotingClassifier([("one", FrozenEstimator(model))], voting="soft"),
    lambda model: make_pipeline(FrozenEstimator(StandardScaler().fit(X)), nearest_neighbour(X, Y)),
])  # fmt: skip
@pytest.mark.parametrize("fit", [memorising_forest, nearest_neighbour])
def test_a_model_of_all_rows_is_refused_as_a_fold_model(hide, fit):
    with pytest.raises(ValueError, match=r"^estimator must not have parts that are fitted already"):
        CrossFittedClassifier(hide(fit(X, Y))).fit(X, Y)


def test_a_fitted_estimator_itself_is_cloned_and_its_guarantee_is_true():
    model = CrossFittedClassifier(memorising_forest(X, Y)).fit(X, Y)
    (entry,) = certify(model).guarantees
    assert entry.value >= 2 * NOISE * (1 - NOISE)  # the Brier score of the true probabilities


def test_steps_that_learn_nothing_are_no_fitted_parts():
    pipeline = make_pipeline(FunctionTransformer(), StandardScaler(), nearest_neighbour(X, Y))
    assert len(certify(CrossFittedClassifier(pipeline).fit(X, Y)).guarantees) == 1


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


def native(degrees):
    return cascade(degrees).set_params(multiclass="native")


def several(X, y):
    """The same rows with a third class."""
    return X, np.where(X[:, 0] > np.quantile(X[:, 0], 0.7), 2, y)


@pytest.mark.parametrize(("make", "few", "many"), [
    (composite, SHALLOW, DEEP), (cascade, (1,), (1, 2, 3)), (native, (1,), (1, 2, 3)),
])  # fmt: skip
def test_every_offered_setting_is_paid_for(make, few, many):
    X, y = draw(160, 0)
    if make is native:
        X, y = several(X, y)
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


def test_a_native_cascade_pays_for_every_class_and_one_against_the_rest_claims_nothing():
    X, y = several(*draw(160, 0))
    model = native((1, 2)).fit(X, y)
    (evidence,) = (e for e in model.__certificate_evidence__() if isinstance(e, CascadeEvidence))
    assert evidence.n_classes == 3
    n_leaves, m = len(evidence.correct), len(y)
    assert evidence.n_samples == m
    binary = cascade_theorem(
        evidence.correct, evidence.errors, evidence.complexity, n_families=evidence.n_families
    )
    (entry,) = certify(model).guarantees
    assert entry.value >= binary.uniform(max_rho_inverse=2, delta=entry.delta).value
    assert (evidence.complexity > native_cascade_complexity([2] * n_leaves, m, 3) - 1e-12).all()
    assert certify(native((1, 2)).fit(X, y, sample_weight=1.0 + X[:, 0] ** 2)).guarantees == ()
    assert certify(cascade((1, 2)).fit(X, y)).guarantees == ()


def test_a_margin_forest_tuned_on_its_rows_gives_no_guarantee_of_them():
    X, y = draw(160, 0)
    grid = {"n_estimators": 5, "max_layers": 2, "thetas": (0.7, 0.9), "random_state": 0}
    model = MarginDeepForestClassifierCV(**grid).fit(X, y)
    assert certify(model).guarantees == ()
    assert all(entry.biased for entry in certify(model).entries if entry.method == "held-out error")
    assert certify(model, X, y).guarantees == ()


def test_set_params_changes_nothing():
    X, y = draw(150, 0)
    model = PolySVC(gamma=1.0, scale=False, degree=2).fit(X, y)
    before = certify(model).to_dict()
    model.set_params(degree=1, C=1e-3)
    assert certify(model).to_dict() == before


@pytest.mark.parametrize("class_weight", [{0: 1, 1: 0}, {0: 1, 1: 3}, "balanced"])
def test_weights_withhold_in_sample_guarantees(class_weight):
    X, y = draw(150, 0)
    certificate = certify(PolySVC(gamma=1.0, scale=False, degree=1, class_weight=class_weight).fit(X, y))
    assert certificate.guarantees == ()
    assert is_true(certificate)
    assert [w.method for w in certificate.withheld] == [Method.COMPRESSION]


@pytest.mark.parametrize("tol", [0.1, 1.0, 5.0])
def test_a_loose_tolerance_neither_raises_nor_proves(tol):
    X, y = draw(150, 0)
    assert is_true(certify(PolySVC(gamma=1.0, scale=False, degree=2, tol=tol).fit(X, y)))


def test_training_rows_are_recognised_behind_the_scaler():
    X, y = draw(300, 0)
    pipeline = make_pipeline(StandardScaler(), BinnedForestClassifier(9, random_state=0)).fit(X, y)
    assert certify(pipeline, X, y).guarantees == ()
    assert is_true(certify(pipeline, *draw(200, 1)))


def test_features_are_not_fixed_and_nobody_has_to_say_so():
    X, y = draw(120, 0)
    pipeline = make_pipeline(StandardScaler(), PolySVC(gamma=1.0, scale=False, degree=1)).fit(X, y)
    for fixed in (None, True):
        certificate = certify(pipeline, *draw(100, 1), fixed_features=fixed)
        assert [entry.method for entry in certificate.guarantees] == [Method.HOLDOUT]
        reasons = [w.reason for w in certificate.withheld if w.method == Method.COMPRESSION]
        assert "no scaler, encoder or choice of columns or rows was fitted" in reasons[0]


CHANGES = {
    "max_depth": 1,
    "degrees": (1,),
    "max_features": 1,
    "n_estimators": 1,
    "max_leaves": 1,
    "fractions": (0.5,),
    "C": 1.0,
    "gamma_scale": 1.0,
    "max_layers": 1,
    "n_leaves": 1,
    "cv": 2,
    "leaf_gammas": (1.0,),
    "study": None,
}


@pytest.mark.parametrize("kind", classifiers())
def test_certificates_do_not_change(kind):
    X, y = draw(160, 0)
    new, labels = draw(150, 1)
    model = small(kind).fit(X, y)
    before = certify(model, new, labels).to_json()
    known = model.get_params(deep=False)
    for parameter, value in CHANGES.items():
        if parameter in known:
            model.set_params(**{parameter: value})
    assert certify(model, new, labels).to_json() == before


CLASSES = classifiers()


def _fit(kind, sample_weight=None, **options):
    X, y = draw(160, 0)
    model = small(kind, **options)
    return model.fit(X, y) if sample_weight is None else model.fit(X, y, sample_weight=sample_weight)


def _no_guarantee_without_a_holdout(model):
    certificate = certify(model)
    assert certificate.guarantees == ()
    new, labels = draw(200, 1)
    assert {entry.sample for entry in certify(model, new, labels).guarantees} <= {"holdout"}


@pytest.mark.parametrize("kind", CLASSES)
def test_rows_of_weight_zero(kind):
    weight = np.ones(160)
    weight[draw(160, 0)[1] == 1] = 0.0
    weight[:2] = 1.0
    _no_guarantee_without_a_holdout(_fit(kind, weight))


@pytest.mark.parametrize("kind", CLASSES)
def test_unequal_weights(kind):
    _no_guarantee_without_a_holdout(_fit(kind, 1.0 + np.arange(160) / 160))


@pytest.mark.parametrize("kind", CLASSES)
def test_a_class_of_weight_zero(kind):
    if "class_weight" not in kind().get_params():
        pytest.skip("no class_weight")
    _no_guarantee_without_a_holdout(_fit(kind, class_weight={0: 1.0, 1: 0.0}))
