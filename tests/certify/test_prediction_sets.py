"""Prediction sets: coverage, sizes, per class and group, against the textbook quantile and MAPIE."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

import surewood
from surewood.bounds import Status
from surewood.certify import PredictionSets


def draw(n=6000, seed=0):
    return make_classification(
        n, 12, n_informative=8, n_classes=4, n_clusters_per_class=1, class_sep=0.9, random_state=seed
    )


@pytest.fixture(scope="module")
def data():
    X, y = draw()
    return (X[:2000], y[:2000]), (X[2000:4000], y[2000:4000]), (X[4000:], y[4000:])


@pytest.fixture(scope="module")
def model(data):
    return LogisticRegression(max_iter=1000).fit(*data[0])


@pytest.mark.parametrize("score", ["threshold", "adaptive"])
@pytest.mark.parametrize("guarantee", ["pac", "marginal"])
def test_coverage_on_new_rows(model, data, score, guarantee):
    sets = PredictionSets(model, 0.1, guarantee, score=score).fit(*data[1], X_train=data[0][0])
    measured = sets.coverage(*data[2])
    # one holdout and one test sample of 2,000 rows each: four standard deviations of the coverage
    noise = 4 * np.sqrt(2 * 0.1 * 0.9 / 2000)
    assert abs(measured.coverage - 0.9) < noise if guarantee == "marginal" else measured.coverage > 0.88
    assert measured.coverage < 0.94
    assert measured.lower < measured.coverage
    assert 1 <= measured.mean_size < 3
    assert measured.n == 2000
    assert len(sets.guarantees_) == 1
    assert sets.statement_.startswith("GUARANTEE")
    assert ("over the holdout" in sets.statement_) == (guarantee == "pac")


def test_pac_sets_are_larger_than_marginal_ones(model, data):
    pac, marginal = (
        PredictionSets(model, 0.1, kind).fit(*data[1], X_train=data[0][0]).thresholds_[0]
        for kind in ("pac", "marginal")
    )
    assert pac < marginal


def test_each_class_is_covered(model, data):
    sets = PredictionSets(model, 0.1, by="class").fit(*data[1], X_train=data[0][0])
    X, y = data[2]
    inside = sets.predict_set(X)
    for c in range(4):
        assert inside[y == c, c].mean() > 0.87
    assert [entry.delta for entry in sets.guarantees_] == [0.0125] * 4
    assert sets.guarantees_[2].quantity == "coverage of the prediction sets, class 2"
    assert sets.guarantees_[0].status is Status.GUARANTEE


def test_groups_by_a_column_and_an_unknown_group(model, data):
    columns = [f"x{j}" for j in range(12)]
    frames = [pd.DataFrame(X, columns=columns) for X, _ in data]
    model = LogisticRegression(max_iter=1000).fit(frames[0], data[0][1])
    site = [np.where(X[:, 0] > 0.5, "north", "south") for X, _ in data]
    sets = PredictionSets(model, 0.1, by="group").fit(
        frames[1], data[1][1], groups=site[1], X_train=frames[0]
    )
    assert sets.groups_ == ["north", "south"]
    inside = sets.predict_set(frames[2], groups=site[2])
    for name in sets.groups_:
        own = site[2] == name
        assert inside[own, data[2][1][own]].mean() > 0.87
    assert sets.predict_set(frames[2][:3], groups=["east"] * 3).all()
    with pytest.raises(ValueError, match=r"groups must have one label per row \(2000\), got None"):
        sets.predict_set(frames[2])
    with pytest.raises(ValueError, match="groups must be given with by='group', and only then"):
        PredictionSets(model, by="group").fit(frames[1], data[1][1])


def test_a_class_with_too_few_rows_is_in_every_set(model, data):
    X, y = data[1]
    kept = (y != 3) | (np.cumsum(y == 3) <= 5)
    sets = PredictionSets(model, 0.1, by="class").fit(X[kept], y[kept], X_train=data[0][0])
    assert sets.notes_ == ["class 3: too few rows (5); is in every set."]
    assert sets.predict_set(data[2][0])[:, 3].all()


def test_the_threshold_is_the_textbook_quantile(model, data):
    """As in split conformal prediction: the ceil((n+1)(1-alpha))-th smallest of 1 - p(true label)."""
    X, y = data[1]
    sets = PredictionSets(model, 0.1, "marginal").fit(X, y, X_train=data[0][0])
    strangeness = np.sort(1 - model.predict_proba(X)[np.arange(len(y)), y])
    quantile = strangeness[int(np.ceil((len(y) + 1) * 0.9)) - 1]
    assert sets.thresholds_[0] == pytest.approx(1 - quantile)


def test_mapie_gives_the_same_sets(model, data):
    mapie = pytest.importorskip("mapie.classification", reason="mapie, the peer, is not installed")
    theirs = mapie.SplitConformalClassifier(
        model, confidence_level=0.9, conformity_score="lac", prefit=True
    ).conformalize(*data[1])
    _, sets = theirs.predict_set(data[2][0])
    ours = PredictionSets(model, 0.1, "marginal").fit(*data[1], X_train=data[0][0]).predict_set(data[2][0])
    rows = np.arange(len(ours))
    assert sets[rows, data[2][1], 0].mean() == pytest.approx(ours[rows, data[2][1]].mean(), abs=0.01)
    assert sets[:, :, 0].sum(axis=1).mean() == pytest.approx(ours.sum(axis=1).mean(), abs=0.02)


def test_rows_the_sets_were_found_on_do_not_measure_them(model, data):
    sets = PredictionSets(model, 0.1).fit(*data[1], X_train=data[0][0])
    with pytest.raises(ValueError, match="rows were used to choose the decision rule; certify the model on"):
        sets.coverage(*data[1])
    mixed = np.r_[data[1][0][:500], data[2][0][:100]], np.r_[data[1][1][:500], data[2][1][:100]]
    with pytest.raises(ValueError, match="500 of 600 rows were used to choose the decision rule"):
        sets.coverage(*mixed)
    assert sets.coverage(*data[2]).n == len(data[2][1])


def test_a_copied_holdout_is_refused(model, data):
    X, y = data[1][0][:200], data[1][1][:200]
    with pytest.raises(ValueError, match="the holdout looks copied: 2,000 rows are 200 different ones"):
        PredictionSets(model, 0.1).fit(np.tile(X, (10, 1)), np.tile(y, 10), X_train=data[0][0])


def test_sets_of_too_few_rows_say_so_first(model, data):
    sets = PredictionSets(model, 0.05).fit(data[1][0][:5], data[1][1][:5], X_train=data[0][0])
    assert sets.statement_.startswith("5 rows guarantee nothing: every label is returned. ")
    wide = PredictionSets(model, 1e-3, "marginal").fit(*data[1], X_train=data[0][0])
    assert wide.full_ < 0.5 or wide.statement_.split(" % ")[1].startswith("of the sets contain every label. ")


def test_a_class_that_the_model_does_not_know_is_named(model, data):
    X, y = data[1]
    labels = np.where(np.arange(len(y)) < 30, 9, y)
    sets = PredictionSets(model, 0.1, by="class").fit(X, labels, X_train=data[0][0])
    assert "of new rows of each class that the model knows" in sets.statement_
    assert sets.statement_.endswith(" Not guaranteed for 9: unknown to the model.")


def test_saved_and_loaded(model, data, tmp_path):
    sets = PredictionSets(model, 0.1, by="class").fit(*data[1], X_train=data[0][0])
    again = surewood.load(surewood.save(sets, tmp_path / "sets.surewood"))
    assert (again.predict_set(data[2][0]) == sets.predict_set(data[2][0])).all()
    assert again.guarantees_ == sets.guarantees_
    assert again.label_sets(data[2][0][:3]) == sets.label_sets(data[2][0][:3])


def test_bad_arguments_are_named(model, data):
    for wrong, words in [
        ({"alpha": 0}, r"alpha must be in \(0, 1\), got 0"),
        ({"guarantee": "sure"}, "guarantee must be one of marginal, pac, got 'sure'"),
        ({"by": "colour"}, "by must be None, 'class' or 'group', got 'colour'"),
        ({"score": "top"}, "score must be one of adaptive, threshold, got 'top'"),
    ]:
        with pytest.raises(ValueError, match=words):
            PredictionSets(model, **wrong).fit(*data[1])
    with pytest.raises(ValueError, match=r"these are the [0-9,]+ training rows"):
        PredictionSets(model).fit(*data[0], X_train=data[0][0])


def test_marginal_sets_guarantee_one_row_at_alpha(model, data):
    sets = PredictionSets(model, 0.1, "marginal").fit(*data[1], X_train=data[0][0])
    (entry,) = sets.guarantees_
    assert (entry.quantity, entry.value, entry.delta) == ("coverage of the set of one new row", 1.0, 0.1)
    assert sets.statement_ == (
        "GUARANTEE: the set of a new row has its true label with probability at least 90 %, over holdout and "
        "row together; of many rows predicted with this holdout fewer may be covered."
    )
