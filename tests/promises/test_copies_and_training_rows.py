"""Training rows in a holdout, tables that were entered several times: a valid claim, or a remedy."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surewood import BinnedForestClassifier, DeepCascadeSVMClassifier, load, save
from surewood.base.reasons import Reason
from surewood.certify import (
    Claim,
    CostClassifier,
    Monitor,
    NoThresholdError,
    PredictionSets,
    certify,
    compare_models,
    find_threshold,
)
from surewood.workflow import DecisionRule
from tests.promises.population import NOISE, draw, is_true, memorising_forest, nearest_neighbour
from tests.promises.tables import fit, frame, write

X, Y = draw(400, 0)
NEW = draw(300, 1)
HALF = np.r_[NEW[0], X[:100]], np.r_[NEW[1], Y[:100]]


def with_copy(model):
    judged = copy.copy(model)
    judged.predict = lambda rows: Y[: len(rows)]
    return judged


MODELS = {
    "forest": lambda: memorising_forest(X, Y),
    "pickled": lambda: pickle.loads(pickle.dumps(memorising_forest(X, Y))),
    "copied, with other predictions": lambda: with_copy(memorising_forest(X, Y)),
    "pipeline": lambda: make_pipeline(StandardScaler(), BinnedForestClassifier(9, random_state=0)).fit(X, Y),
    "a rule in a pipeline": lambda: make_pipeline(
        (scaler := StandardScaler().fit(X)),
        CostClassifier(memorising_forest(scaler.transform(X), Y), 1 - np.eye(2)),
    ),
    "costs of a pipeline": lambda: CostClassifier(MODELS["pipeline"](), [[0, 1], [2, 0]]),
    "search": lambda: GridSearchCV(BinnedForestClassifier(5), {"max_depth": [3, None]}, cv=2).fit(X, Y),
    "weight 0": lambda: BinnedForestClassifier(9).fit(X, Y, sample_weight=np.arange(400) < 300),
}


@pytest.mark.parametrize("kind", MODELS)
def test_training_rows_give_no_guarantee_whoever_holds_the_model(kind):
    model = MODELS[kind]()
    assert certify(model, X, Y).withheld[0].code == "TRAINING_TABLE"
    assert certify(model, X[:150], Y[:150]).withheld[0].code == "TRAINING_ROWS"
    assert certify(model, X[300:], Y[300:]).guarantees == ()


@pytest.mark.parametrize("share", [0.05, 0.25, 1.0])
@pytest.mark.parametrize("claim", [
    *("error", "accuracy", "recall:1", "precision:1", "brier", "balanced_accuracy", "f1:1", "fpr:1"),
    *("specificity:1", "npv:1", "mcc:1", "auc:1", "calibration:1", "log_loss"),
    Claim("cost", cost=[[0, 1], [2, 0]]),
])  # fmt: skip
def test_no_claim_on_a_holdout_with_training_rows(claim, share):
    n = int(share * 400)
    mixed = np.r_[NEW[0], X[:n]], np.r_[NEW[1], Y[:n]]
    certificate = certify(memorising_forest(X, Y), *mixed, claims=[claim])
    assert certificate.guarantees == ()
    assert f"{n:,} of {300 + n:,} holdout rows are training rows, about 0 would be" in certificate.verdict


@pytest.mark.parametrize("seed", range(5))
def test_training_rows_do_not_hide_among_ordinary_equal_rows(seed):
    """Half of the rows are zeros, so half match by chance; rows that equal a single one should not."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(1200, 2)) * (rng.random((1200, 1)) < 0.5)
    labels = np.where(table[:, 0] == 0, 0, rng.integers(0, 2, 1200))  # every classifier errs on a quarter
    model, new = memorising_forest(table[:1000], labels[:1000]), slice(1000, 1200)
    assert is_true(certify(model, table[new], labels[new]), least=0.2)
    mixed = slice(960, 1160)
    certificate = certify(model, table[mixed], labels[mixed])
    assert certificate.withheld[0].code == "TRAINING_ROWS"
    assert "of 200 holdout rows are training rows, about 0 would be expected by chance" in certificate.verdict
    assert certify(model, table[mixed], labels[mixed], copies="leave_out").guarantees


def test_the_remedy_leave_out_gives_a_true_claim_about_its_population():
    model = memorising_forest(X, Y)
    certificate = certify(model, *HALF, copies="leave_out")
    assert certificate.best.n == 300
    assert is_true(certificate)
    assert "on rows that are not copies of training rows, with probability" in certificate.verdict
    assert 'equal rows are as copies="leave_out" says' in certificate.assumptions
    assert certify(model, *NEW).best.n == 300  # the other remedy: rows that are new


def test_other_libraries_need_x_train():
    model = nearest_neighbour(X, Y)
    certificate = certify(model, *NEW)
    assert certificate.assumptions[0] == "no row is a copy of a training row (not checked: give X_train)"
    assert certify(model, *HALF, X_train=X).withheld[0].code == "TRAINING_ROWS"
    assert "not checked" in certify(memorising_forest(X, Y, remember_rows=False), *NEW).assumptions[0]
    with pytest.raises(ValueError, match="X_train must have the columns of X"):
        certify(model, *NEW, X_train=X[:, :3])


def test_columns_are_found_by_name_and_frames_equal_arrays():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = memorising_forest(frame, Y)
    assert model.remembered_rows_.contains(frame[list("dbca")]).all()
    assert certify(model, frame.astype(object)[:200], Y[:200]).guarantees == ()


@pytest.mark.parametrize("times", [[2] * 200, [4] * 200, [1, 2] * 150, list(range(1, 31)) * 2])
def test_a_holdout_that_was_entered_several_times(times):
    rows = np.repeat(np.arange(len(times)), times)
    new, labels = draw(len(times), 2)
    model = memorising_forest(X, Y)
    copied = new[rows], labels[rows]
    certificate = certify(model, *copied)
    assert certificate.withheld[0].code == "COPIED_HOLDOUT"
    assert f"{len(rows):,} rows are {len(times):,} different ones" in certificate.verdict
    with pytest.raises(NoThresholdError, match="the holdout looks copied"):
        find_threshold(model, *copied, fpr=0.5)
    with pytest.raises(ValueError, match="the holdout looks copied"):
        PredictionSets(model).fit(*copied)
    with pytest.raises(ValueError, match="the holdout looks copied"):
        Monitor(0.4, model=model).update(*copied)
    assert certify(model, new, labels).best.n == len(times)  # the remedy: repeated rows removed


def test_ten_rows_many_times_and_groups():
    new, labels = draw(10, 2)
    many = np.repeat(new, 100, axis=0), np.repeat(labels, 100)
    model = memorising_forest(X, Y)
    assert certify(model, *many).guarantees == ()
    assert certify(model, *many, groups=np.arange(1000)).guarantees == ()  # row numbers are no groups
    new, labels = draw(60, 3)
    plain = certify(model, new, labels, groups=np.arange(60) // 3)
    again = certify(model, np.r_[new, new], np.r_[labels, labels], groups=np.tile(np.arange(60) // 3, 2))
    assert again.best.value == plain.best.value  # equal rows of one group are no copies


@pytest.mark.parametrize("times", [[2] * 400, [1, 2] * 200])
def test_a_training_table_that_was_entered_several_times(times):
    rows = np.repeat(np.arange(400), times)
    model = memorising_forest(X[rows], Y[rows])
    assert model.remembered_rows_.copied
    few = np.r_[NEW[0], X[:4]], np.r_[NEW[1], Y[:4]]
    certificate = certify(model, *few)
    assert certificate.best.n == 300
    assert is_true(certificate)
    assert "on rows that are not copies of training rows" in certificate.verdict
    assert certificate.facts[0].startswith("4 of 304 holdout rows equal a training row and are left out")
    assert certify(model, X[:4], Y[:4]).withheld[0].code == "NOTHING_LEFT"
    refused = certify(model, *HALF)  # as if the table had been divided after it was copied
    assert refused.withheld[0].code == "COPIED_TABLE"
    assert "100 of 400 holdout rows equal one of its rows" in refused.verdict
    assert certify(model, *HALF, copies="leave_out").best.n == 300
    assert all(entry.sample == "holdout" for entry in certificate.guarantees)  # [D-38]
    caller = certify(model, *NEW, copies="count")
    assert caller.best.population == "new rows"
    assert 'equal rows are as copies="count" says' in caller.assumptions


def test_thresholds_sets_and_comparisons_on_training_rows():
    model = memorising_forest(X, Y)
    with pytest.raises(NoThresholdError, match="100 of 400 holdout rows are training rows"):
        find_threshold(model, *HALF, positive=1, fpr=0.3)
    with pytest.raises(ValueError, match="100 of 400 holdout rows are training rows"):
        PredictionSets(model, 0.1).fit(*HALF)
    assert PredictionSets(model, 0.1).fit(*HALF, copies="leave_out").guarantees_[0].n == 300
    assert find_threshold(model, *HALF, positive=1, fpr=0.5, copies="leave_out").guarantees
    other = nearest_neighbour(X, Y)
    assert compare_models(model, other, *HALF).withheld[0].code == "TRAINING_ROWS"
    twice = memorising_forest(np.r_[X, X], np.r_[Y, Y])
    for pair in ((twice, other), (other, twice)):  # of one model the training rows are not known
        assert compare_models(*pair, *HALF).withheld[0].code == "COPIED_TABLE"
        entry = compare_models(*pair, *HALF, copies="leave_out").entries[0]
        assert (entry.n, entry.population) == (300, "rows that are not copies of training rows")


def test_a_threshold_is_not_certified_on_the_rows_it_was_chosen_on():
    chosen = draw(1500, 1)
    found = find_threshold(memorising_forest(X, Y), *chosen, fpr=0.5)
    assert certify(found, *chosen).withheld[0].code == "CHOSEN_ON"
    assert certify(found, *draw(500, 2)).guarantees


def test_nor_is_a_pipeline_that_ends_with_the_threshold(tmp_path):
    """What `fit` returns: the rows behind the steps are those that were remembered."""
    table = frame(1500, 3).assign(when=[f"2024-{k % 12 + 1:02}-{k % 28 + 1:02}" for k in range(1500)])
    rule = DecisionRule(positive="yes", recall=0.5)
    result = fit(write(table, tmp_path / "t.csv"), rule=rule)
    rows, labels = table.drop(columns="y"), table["y"]
    held = np.isin(np.arange(1500), result.holdout_rows)
    assert certify(result.model, rows[held], labels[held]).withheld[0].code == "CHOSEN_ON"
    assert certify(result.model, rows[~held], labels[~held]).withheld[0].code == "TRAINING_TABLE"


def test_warm_starts_remember_the_rows_of_every_fit(tmp_path):
    second = draw(300, 5)
    model = BinnedForestClassifier(15, max_features=None, warm_start=True, random_state=0).fit(X, Y)
    model.set_params(n_estimators=16).fit(*second)
    for judged in (model, load(save(model, tmp_path / "m.surewood"))):
        assert certify(judged, X, Y).guarantees == ()
        assert certify(judged, *second).guarantees == ()
        assert certify(judged, *draw(300, 6)).best.n == 300
    forgetful = BinnedForestClassifier(5, warm_start=True, remember_rows=False).fit(X, Y)
    assert forgetful.set_params(n_estimators=6, remember_rows=True).fit(*second).remembered_rows_ is None


def test_a_reject_option_does_not_count_training_rows():
    model = DeepCascadeSVMClassifier(max_leaves=2, n_leaves=2, degrees=(1,), random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="these are the 400 training rows"):
        model.reject_option(0.2, X, Y)
    with pytest.raises(ValueError, match="the holdout looks copied"):
        model.reject_option(0.2, np.repeat(NEW[0], 5, axis=0), np.repeat(NEW[1], 5))
    assert model.reject_option(0.2, *NEW).status == "GUARANTEE"


def test_training_rows_that_are_named_as_such_give_an_estimate():
    certificate = certify(nearest_neighbour(X, Y), X, Y, sample="training")
    assert certificate.guarantees == ()
    assert certificate.entries[0].biased
    assert certificate.majority_error > NOISE


def test_every_reason_names_a_remedy():
    for reason in Reason:
        assert "; " in reason.value, reason


def test_rows_that_were_entered_more_often_because_of_their_label():
    """An oversampled class is missing among the rows that equal no training row."""
    new, labels = draw(2000, 7)
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(2000), 1 + 3 * (labels == 1)))
    X, y = new[rows], labels[rows]
    model = memorising_forest(X[1000:], y[1000:])
    certificate = certify(model, X[:1000], y[:1000])
    assert certificate.withheld[0].code == "COPIED_TABLE"
    once = memorising_forest(new[400:], labels[400:])  # the remedy: repeated rows removed before dividing
    assert is_true(certify(once, new[:400], labels[:400]))
