"""`DeepCascadeSVMClassifier`: parameters and data become one frozen plan, which training follows."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.model_selection import KFold

from surewood import DeepCascadeSVMClassifier, DeepCascadeSVMClassifierCV
from surewood.cascade import svm_trainer, training
from surewood.cascade.search import leaf_complexity
from surewood.cascade.svm_trainer import SvmTrainer
from surewood.cascade.training import prepare_all, search_task
from surewood.svm import penalty
from tests.cascade.conftest import small_problem


@pytest.fixture(scope="module")
def moons():
    return make_moons(110, noise=0.3, random_state=1)


def small(**changes):
    settings = {"max_leaves": 3, "fractions": (0.3, 0.6), "degrees": (1, 2), "random_state": 0}
    return DeepCascadeSVMClassifier(**{**settings, **changes})


@pytest.fixture(scope="module")
def fitted(moons):
    return small(gamma_scale=1e-3).fit(*moons)


def test_every_row_reaches_exactly_one_leaf_with_the_counts_of_the_search(fitted, moons):
    X, y = moons
    model, found = fitted, fitted.search_[0]
    leaf = model.decision_path(X)
    assert found.path.n_leaves > 1
    right = model.predict(X) == y
    for k in range(found.path.n_leaves):
        assert right[leaf == k].sum() == found.plus[k]
        assert (~right)[leaf == k].sum() == found.minus[k]


def test_search_statistics(fitted, moons):
    model, found = fitted, fitted.search_[0]
    assert found.proven
    assert found.gap == 0.0
    assert 0 < found.n_svms <= found.n_cascades == 2 + 2 * 4 + 2 * 16
    assert found.n_pruned >= 0
    m = len(moons[1])
    brackets = leaf_complexity(model.kernels_.complexity(m)[list(found.path.choices)])
    assert found.score == pytest.approx((found.minus + np.minimum(4e-3 * m * brackets, found.plus)).sum())


def test_the_unit_of_fractional_weights_does_not_matter(moons):
    X, y = moons
    weight = np.random.default_rng(0).random(len(y))
    first = small().fit(X, y, sample_weight=weight).decision_function(X)
    second = small().fit(X, y, sample_weight=weight / weight.sum()).decision_function(X)
    np.testing.assert_allclose(first, second, atol=5e-3)


def test_exactly_so_many_leaves(moons):
    for n_leaves in (1, 2, 3):
        assert small(n_leaves=n_leaves).fit(*moons).cascades_[0].n_leaves == n_leaves
    with pytest.raises(ValueError, match="n_leaves=4 is more than max_leaves=3"):
        small(n_leaves=4).fit(*moons)
    with pytest.raises(ValueError, match="no cascade has exactly n_leaves=3 leaves on this sample"):
        small(n_leaves=3, C=1.0).fit([[0.0], [1.0]], [0, 1])


def test_a_limit_returns_the_best_so_far_with_its_gap(moons):
    whole = small(gamma_scale=1e-4, degrees=(1, 2, 3)).fit(*moons).search_[0]
    part = small(gamma_scale=1e-4, degrees=(1, 2, 3), study={"max_svms": 5}).fit(*moons).search_[0]
    assert part.n_svms < whole.n_svms
    assert not part.proven
    assert part.lower_bound <= whole.score <= part.score
    assert part.gap >= (part.score - whole.score) / len(moons[1])
    at_once = small(gamma_scale=1e-4, time_limit=0.0).fit(*moons)
    assert at_once.search_[0].path.n_leaves == 1


@pytest.mark.parametrize("multiclass", ["one_vs_rest", "native"])
def test_several_classes(iris, multiclass):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = small(multiclass=multiclass, gamma_scale=1e-3).fit(X, names)
    assert model.score(X, names) > 0.95
    assert model.decision_function(X).shape == (150, 3)
    assert len(model.cascades_) == (3 if multiclass == "one_vs_rest" else 1)
    assert model.decision_path(X).shape == ((150, 3) if multiclass == "one_vs_rest" else (150,))
    proba = model.predict_proba(X)
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
    assert sum(found.plus.sum() + found.minus.sum() for found in model.search_) == 150 * len(model.cascades_)


@pytest.mark.parametrize("kernel", ["homogeneous", "rbf"])
def test_other_kernels(moons, kernel):
    model = small(kernel=kernel, degrees=(1, 3), gamma_scale=1e-3).fit(*moons)
    assert model.score(*moons) > 0.8
    assert len(model.ledger()) == model.cascades_[0].n_leaves


def test_points_at_the_same_distance_cannot_be_divided():
    X, y = np.array([[-1.0], [1.0]] * 10), np.array([0, 1] * 10)
    model = small(gamma_scale=0.0, C=1.0).fit(X, y)
    assert model.cascades_[0].n_leaves == 1
    assert model.score(X, y) == 1.0


BAD_VALUES = [
    ({"fractions": (0.5, 1.5)}, "fractions must be a list of numbers in (0, 1], got (0.5, 1.5)."),
    ({"fractions": (float("nan"),)}, "fractions must be a list of numbers in (0, 1], got (nan,)."),
    ({"C": (1.0, 2.0, 3.0)}, "C must be one number or one for each of the 2 degrees, got (1.0, 2.0, 3.0)."),
]


@pytest.mark.parametrize(("changes", "message"), BAD_VALUES)
def test_bad_values_are_named(moons, changes, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        small(**changes).fit(*moons)


@pytest.mark.parametrize("selection", ["cv", "validation"])
def test_the_penalty_is_chosen_among_the_grid(moons, selection):
    model = small(study={"C_selection": selection, "C_grid": (0.1, 10.0)}).fit(*moons)
    assert model.C_.shape == (1, 2)
    assert set(model.C_.ravel()) <= {0.1, 10.0}


@pytest.mark.parametrize("C", [1.0, (0.1, 10.0)])
def test_a_given_penalty(moons, C):
    model = small(C=C).fit(*moons)
    np.testing.assert_array_equal(model.C_[0], np.broadcast_to(C, 2))


def test_a_stopped_fit_leaves_nothing_behind(moons, monkeypatch):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    model = small()
    monkeypatch.setattr(SvmTrainer, "train", stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*moons)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_the_gamma_path_of_the_estimator(moons):
    model = small()
    pieces = model.gamma_path(*moons, gamma_min=1e-3)[0]
    assert not hasattr(model, "cascades_")
    for piece in pieces[1:]:
        refitted = small(gamma_scale=piece.inner).fit(*moons)
        assert refitted.search_[0].path == piece.path
    assert pieces[0].path.n_leaves == 1


def test_stages_end_in_the_prediction():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (np.abs(X).sum(axis=1) + 0.3 * rng.normal(size=200) > 1.4).astype(int)
    model = DeepCascadeSVMClassifier(n_leaves=3, gamma_scale=1e-4, random_state=0).fit(X, y)
    stages = list(model.staged_predict_proba(X))
    assert len(stages) == 3
    np.testing.assert_array_equal(stages[-1], model.predict_proba(X))
    stayed = model.apply(X) == 0  # rows that leave at the first SVM never change
    np.testing.assert_array_equal(stages[0][stayed], stages[2][stayed])
    assert (stages[0] != stages[2]).any()


# --- the plan ----------------------------------------------------------------------------------------------


def test_parameters_are_read_once():
    plan, _ = small_problem(fractions=(0.5, 0.1), degrees=(3, 1, 1), C=2.0, max_memory="1GB",
                            calibrate="isotonic", time_limit=6)  # fmt: skip
    assert [float(fraction) for fraction in plan.fractions] == [0.1, 0.5]
    assert plan.kernels.degrees == (1, 3)
    np.testing.assert_array_equal(plan.C, [2.0, 2.0])
    assert (plan.max_memory, plan.calibration) == (10**9, "isotonic")
    assert plan.until(0.5).divided(3).seconds == pytest.approx(1.0, abs=0.2)


def test_every_class_has_a_problem_but_native_ones(iris):
    plan, sample = small_problem(*iris)
    assert len(plan.problems) == 3
    np.testing.assert_array_equal(plan.problems[1].codes, sample.codes == 1)
    plan, _ = small_problem(*iris, multiclass="native")
    assert [problem.n_classes for problem in plan.problems] == [3]


@pytest.mark.parametrize(
    ("study", "n_folds", "fraction"),
    [
        ({}, 1, 0.25),
        ({"C_selection": "cv"}, 5, 1 / 5),
    ],
)
def test_folds_on_which_C_is_chosen(study, n_folds, fraction):
    plan, _ = small_problem(study=study)
    assert len(plan.folds) == n_folds
    assert all(len(held_out) == pytest.approx(90 * fraction, abs=1.5) for _, held_out in plan.folds)
    assert len(plan.calibration_folds) == 5


# --- training ----------------------------------------------------------------------------------------------


def test_a_search_reports_one_step_whatever_the_limit():
    for n_svms in (None, 40):
        (task,) = prepare_all(*small_problem())
        steps = []
        search_task(task, 1e-3, None, None, n_svms, steps.append)
        assert sum(steps) == pytest.approx(1.0)


class WorkClock:
    """A clock that stands still but while SVMs are trained: one second for each, on all rows."""

    def __init__(self, monkeypatch, n_rows):
        self.now = 1e6
        solve = svm_trainer.solve_many

        def solve_many(gram, groups, codes, degrees, C, **options):
            squares = sum((len(group) / n_rows) ** 2 for group in groups)
            self.now += squares * len(degrees) * np.shape(C)[-1]
            return solve(gram, groups, codes, degrees, C, **options)

        for module in (svm_trainer, penalty):
            monkeypatch.setattr(module, "solve_many", solve_many)
        monkeypatch.setattr("surewood.base.time_limit.time", SimpleNamespace(monotonic=lambda: self.now))


@pytest.mark.parametrize("seconds", [30, 80])
@pytest.mark.parametrize(
    "model",
    [
        DeepCascadeSVMClassifier(3, gamma_scale=1e-4, n_jobs=1, random_state=0),
        DeepCascadeSVMClassifier(3, n_leaves=3, gamma_scale=0.0, n_jobs=1, random_state=0),
        DeepCascadeSVMClassifierCV(3, n_jobs=1, random_state=0),
    ],
    ids=["search", "exact number of leaves", "cross-validation"],
)
def test_a_time_limit_ends_the_fit(monkeypatch, model, seconds):
    X, y = make_moons(120, noise=0.4, random_state=0)
    clock = WorkClock(monkeypatch, len(y))
    model = clone(model).set_params(time_limit=seconds)
    started = clock.now
    assert model.fit(X, y).score(X, y) > 0.7
    assert 0.3 * seconds < clock.now - started <= 1.2 * seconds + 1
    started = clock.now
    model.set_params(time_limit=None).fit(X, y)
    assert clock.now - started > 100


@pytest.mark.parametrize(
    "model",
    [
        DeepCascadeSVMClassifier(3, n_jobs=1, random_state=0),
        DeepCascadeSVMClassifierCV(3, n_jobs=1, random_state=0),
        DeepCascadeSVMClassifierCV(3, cv=KFold(3), n_jobs=1, random_state=0),
    ],
    ids=["search", "cross-validation", "folds of the user's"],
)
def test_a_time_limit_shorter_than_a_few_svms_leaves_rows_out(monkeypatch, model):
    """One SVM of each degree on all rows takes four seconds."""
    monkeypatch.setattr(training, "_MEASURED_ROWS", 60)
    X, y = make_moons(720, noise=0.3, random_state=0)
    y[:2] = 2  # a rare class is not lost
    clock = WorkClock(monkeypatch, len(y))
    started = clock.now
    fitted = clone(model).set_params(time_limit=6, multiclass="native").fit(X, y)
    assert clock.now - started <= 1.2 * 6 + 1
    assert fitted.score(X, y) > 0.8
    assert 60 <= len(fitted.out_of_fold_.codes) < 600
    assert set(fitted.out_of_fold_.codes) == {0, 1, 2}
    assert not fitted.model_.is_counted  # what was counted is no evidence about the rows of the fit


def test_weights_decide_the_majority():
    X, y = np.zeros((6, 1)), np.array([0, 0, 0, 0, 1, 1])
    model = DeepCascadeSVMClassifier(random_state=0).fit(X, y, sample_weight=[1, 1, 1, 1, 4, 4])
    assert set(model.predict(X)) == {1}
    assert model.ledger().correct.tolist() == [8.0]
