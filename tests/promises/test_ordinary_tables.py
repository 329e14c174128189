"""Tables that must be neither refused nor recounted: equal rows are ordinary ([D-33])."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.tree import DecisionTreeClassifier

from surewood import BinnedForestClassifier, workflow
from surewood.certify import Monitor, PredictionSets, certify, find_threshold


def dates(rng, n):
    day = rng.integers(0, 1000, n)
    return 20200101 + day // 336 * 10000 + day // 28 % 12 * 100 + day % 28


def crossed(rng, n):
    """Some of the runs of an experiment: each combination of 20 doses and 20 plots three times."""
    runs = np.repeat(np.arange(400), 3)
    return np.c_[runs // 20, runs % 20][rng.permutation(1200)[:n]]


ORDINARY = {
    "half zeros": lambda rng, n: rng.normal(size=(n, 2)) * (rng.random((n, 1)) < 0.5),
    "half zeros, one column": lambda rng, n: rng.normal(size=(n, 1)) * (rng.random((n, 1)) < 0.5),
    "age and sex": lambda rng, n: np.c_[rng.integers(18, 90, n), rng.integers(0, 2, n)],
    "age and a rare flag": lambda rng, n: np.c_[rng.integers(18, 90, n), rng.random(n) < 0.1],
    "ages": lambda rng, n: rng.integers(18, 80, (n, 1)),
    "prices in cents": lambda rng, n: np.c_[np.round(np.exp(rng.normal(3, 1, n)), 2), rng.integers(0, 4, n)],
    "epoch seconds": lambda rng, n: np.c_[1_600_000_000 + rng.integers(0, 10**7, n), rng.integers(0, 3, n)],
    "yyyymmdd": lambda rng, n: np.c_[dates(rng, n), rng.integers(0, 2, n)],
    "yyyymmdd alone": lambda rng, n: dates(rng, n)[:, None],
    "contract numbers": lambda rng, n: np.c_[10**9 + rng.permutation(10**6)[:n], rng.integers(0, 5, n)],
    "UTM": lambda rng, n: np.c_[rng.integers(300_000, 310_000, n), rng.integers(5_400_000, 5_410_000, n)],
    "two scales": lambda rng, n: np.round(rng.normal(15, 8, (n, 1)), 1) * [1.0, 1.8] + [0.0, 32.0],
    "crossed design": crossed,
    "three yes/no answers": lambda rng, n: rng.integers(0, 2, (n, 3)),
}


def draw(kind, n, seed):
    """Rows of a kind, and labels that are coins with probability 0.3."""
    rng = np.random.default_rng([seed, list(ORDINARY).index(kind)])
    X = np.asarray(ORDINARY[kind](rng, n), dtype=float)
    return X, (rng.random(n) < 0.3).astype(int)


@pytest.mark.parametrize("n", [40, 400])
@pytest.mark.parametrize("kind", ORDINARY)
def test_every_row_counts_and_the_plain_claim_stands(kind, n):
    X, y = draw(kind, 1000, 0)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    ours = BinnedForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    for seed in (1, 2, 3):
        new, labels = draw(kind, n, seed)
        for certificate in (certify(model, new, labels, X_train=X), certify(ours, new, labels)):
            assert certificate.best.n == n
            assert certificate.copies == "count"
            assert certificate.best.population == "new rows"
            assert certificate.facts == ()


@pytest.mark.parametrize(("kind", "step"), [("age and sex", PCA()), ("ages", SplineTransformer())])
def test_steps_of_a_pipeline_that_mix_columns_make_no_copies(kind, step):
    X, y = draw(kind, 1000, 0)
    new, labels = draw(kind, 300, 1)
    model = make_pipeline(step, BinnedForestClassifier(5, max_depth=3, random_state=0)).fit(X, y)
    refused = certify(model, new, labels).verdict
    assert refused.endswith("; or give X_train, if the steps before the classifier mix columns")
    assert certify(model, new, labels, X_train=X).best.n == 300  # the remedy
    assert PredictionSets(model, 0.1).fit(new, labels, X_train=X).guarantees_[0].n == 300
    twice = np.repeat(np.random.default_rng(0).normal(size=(500, X.shape[1])), 2, axis=0)
    model.fit(twice[:900], y[:900])
    assert certify(model, twice[800:], y[800:], X_train=twice[:900]).withheld[0].code == "COPIED_TABLE"


def test_all_runs_of_an_experiment_count_by_the_word_of_the_caller():
    """Every combination three times looks copied; the remedy that is named gives a claim."""
    X, y = draw("crossed design", 1200, 0)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    new = draw("crossed design", 400, 1)
    refused = certify(model, *new, X_train=X)
    assert refused.withheld[0].code == "COPIED_TABLE"
    assert 'copies="count" if equal rows are separate draws' in refused.verdict
    assert certify(model, *new, X_train=X, copies="count").best.n == 400


@pytest.mark.parametrize("kind", ["half zeros", "age and sex", "yyyymmdd"])
def test_thresholds_sets_monitors_and_fits_count_them_too(kind, tmp_path):
    X, y = draw(kind, 1000, 0)
    new, labels = draw(kind, 500, 1)
    model = BinnedForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    assert find_threshold(model, new, labels, positive=1, recall=0.5).guarantee.n == labels.sum()
    sets = PredictionSets(model, 0.1).fit(new, labels)
    assert sets.guarantees_[0].n == 500
    monitor = Monitor(certify(model, new, labels), model=model, holdout=new)
    assert monitor.update(*draw(kind, 300, 2)).n_labelled == 300
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    small = {"n_estimators": 3, "max_layers": 1}
    result = workflow.fit(tmp_path / "t.csv", "y", model="mddf", parameters=small, n_jobs=1)
    assert result.certificate.best.n == 200
    assert not any("copied" in note for note in result.notes)


def test_groups_whose_rows_differ_in_nothing_but_the_label(tmp_path):
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(150), rng.integers(2, 8, 150))
    frame = pd.DataFrame(rng.normal(size=(150, 3))[who], columns=list("abc")).assign(who=who)
    frame["y"] = (frame["a"] > 0) ^ (rng.random(who.size) < 0.2)
    frame.to_csv(tmp_path / "t.csv", index=False)
    small = {"n_estimators": 3, "max_layers": 1}
    result = workflow.fit(tmp_path / "t.csv", "y", groups="who", model="mddf", parameters=small, n_jobs=1)
    assert result.certificate.best.population == "new groups"
    assert not any("copied" in note for note in result.notes)


def test_rows_of_equal_values_may_be_watched_one_by_one():
    X, y = draw("half zeros", 1000, 0)
    model = BinnedForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    certificate = certify(model, *draw("half zeros", 500, 1))
    new, labels = draw("half zeros", 40, 2)
    monitor = Monitor(certificate, model=model)
    for k in range(40):
        look = monitor.update(new[k : k + 1], labels[k : k + 1], key=f"row {k}")
    assert look.n_labelled == 40
    with pytest.raises(ValueError, match="other rows with the same values belong in one batch"):
        monitor.update(new[:1], labels[:1], key="row 0")
    plain = Monitor(certificate, model=model)
    zeros, others = new[(new == 0).all(axis=1)], new[(new != 0).any(axis=1)]
    plain.update(zeros[:1], [0])
    with pytest.raises(ValueError, match="other rows with the same values belong in one batch"):
        plain.update(zeros[:1], [0])
    assert plain.update(np.r_[zeros[:1], others[:1]], [0, 0]).n_labelled == 3  # the remedy


def test_no_claim_after_ordinary_equal_rows_were_removed(tmp_path):
    X, y = draw("half zeros", 1000, 0)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = {"model": "mddf", "parameters": {"n_estimators": 3, "max_layers": 1}, "n_jobs": 1}
    fitted = workflow.fit(tmp_path / "t.csv", "y", drop_duplicates=True, out=tmp_path / "m", **options)
    assert fitted.certificate.guarantees == ()
    assert "equal rows may be ordinary here" in fitted.certificate.verdict
    with pytest.raises(workflow.WorkflowError, match="neither a guaranteed error nor a holdout"):
        workflow.monitor(tmp_path / "m", tmp_path / "t.csv")
    forest = BinnedForestClassifier(20, certifiable=True, random_state=0).fit(*draw("half zeros", 400, 1))
    assert certify(forest).guarantees
    assert certify(forest, copies="removed").guarantees == ()  # no sample of rows as they come
    assert workflow.fit(tmp_path / "t.csv", "y", **options).certificate.best.n == 200  # the remedy
    pd.concat([frame, frame]).to_csv(tmp_path / "twice.csv", index=False)  # zeros with either label
    twice = workflow.fit(tmp_path / "twice.csv", "y", drop_duplicates=True, **options)
    assert twice.certificate.withheld[0].code == "REMOVED"
    frame["y"] = (frame["a"] > 0).astype(int)  # zeros with one label, and some of the others entered twice
    pd.concat([frame, frame[frame["a"] != 0].head(60)]).to_csv(tmp_path / "few.csv", index=False)
    few = workflow.fit(tmp_path / "few.csv", "y", drop_duplicates=True, **options)
    assert few.certificate.withheld[0].code == "REMOVED"
    frame.drop_duplicates().to_csv(tmp_path / "once.csv", index=False)
    plain = workflow.fit(tmp_path / "once.csv", "y", drop_duplicates=True, **options)
    assert plain.certificate.best.population == "new rows"  # nothing was removed


def test_many_matches_add_a_claim_about_the_other_rows():
    X, y = draw("half zeros", 1000, 0)
    new, labels = draw("half zeros", 500, 1)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    certificate = certify(model, new, labels, X_train=X)
    other = certificate.other_rows
    assert other.n == (new != 0).any(axis=1).sum()
    assert other.delta == certificate.best.delta == 0.05
    assert "on rows that are not copies of training rows" in repr(certificate)
    few = certify(model, *draw("epoch seconds", 200, 2), X_train=X)
    assert few.other_rows is None


def test_no_second_claim_for_a_stratified_holdout():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 60, (400, 1)).astype(float)
    y = (rng.random(400) < 0.3).astype(int)
    model = DecisionTreeClassifier(max_depth=2).fit(X[:60], y[:60])
    assert certify(model, X[60:], y[60:], X_train=X[:60]).other_rows is not None
    assert certify(model, X[60:], y[60:], X_train=X[:60], stratified=True).other_rows is None
