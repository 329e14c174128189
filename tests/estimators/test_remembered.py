"""A fitted model recognises its training rows, and nothing else."""

import numpy as np
import pandas as pd
import pytest

import surewood
from surewood import BinnedForestClassifier, PolySVC
from surewood.estimators.remembered import RememberedRows


def frame(n=60, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {"a": rng.normal(size=n), "b": rng.integers(0, 10**6, n), "c": rng.choice(["x", "y"], n)}
    )
    return table, np.where(table["a"] > 0, "yes", "no")


@pytest.mark.parametrize("model", [BinnedForestClassifier(3, random_state=0), PolySVC(degree=1)])
def test_training_rows_are_known_and_new_ones_are_not(model):
    X, y = frame()
    rows = model.fit(X, y).remembered_rows_
    assert rows.n_rows == rows.n_contents == 60
    assert (np.diff(rows.hashes.astype(object)) > 0).all()
    assert rows.contains(X).all()
    assert not rows.contains(frame(seed=1)[0]).any()
    noisy = X.assign(a=X["a"] * (1 + 1e-9), c=" " + X["c"] + " ")
    assert rows.contains(noisy).mean() > 0.99
    assert rows.contains(X[["c", "a", "b"]]).all()  # columns are found by name


def test_unseen_categories_are_new_rows():
    X, y = frame()
    X.loc[:5, "c"] = None
    rows = BinnedForestClassifier(2).fit(X, y).remembered_rows_
    assert rows.contains(X).all()
    assert not rows.contains(X.loc[:5].assign(c="z")).any()


def test_all_rows_count_with_or_without_weight_and_copies_once():
    X, y = frame()
    weight = np.ones(60)
    weight[:30] = 0.0
    rows = BinnedForestClassifier(2).fit(X, y, weight).remembered_rows_
    assert rows.contains(X).all()
    twice = BinnedForestClassifier(2).fit(pd.concat([X, X]), np.r_[y, y]).remembered_rows_
    assert (twice.n_rows, twice.n_contents) == (120, 60)


def test_hashes_of_models_of_different_data_cannot_be_compared():
    X, y = frame(400)
    one = BinnedForestClassifier(2, random_state=0).fit(X, y).remembered_rows_
    for rows in (slice(0, 399), slice(1, 400), slice(0, 200)):
        two = BinnedForestClassifier(2, random_state=0).fit(X[rows], y[rows]).remembered_rows_
        assert len(np.intersect1d(one.hashes, two.hashes)) == 0
    other = RememberedRows.from_table(X), RememberedRows.from_table(X)
    assert len(np.intersect1d(other[0].hashes, other[1].hashes)) == 0


def test_the_same_fit_remembers_the_same_in_any_order_of_the_rows():
    X, y = frame(400)
    order = np.random.default_rng(0).permutation(400)
    one = BinnedForestClassifier(2, random_state=0).fit(X, y).remembered_rows_
    two = BinnedForestClassifier(2, random_state=0).fit(X.iloc[order], y[order]).remembered_rows_
    assert one.salt == two.salt
    np.testing.assert_array_equal(one.hashes, two.hashes)


def test_nothing_is_remembered_where_that_is_asked():
    X, y = frame()
    assert BinnedForestClassifier(2, remember_rows=False).fit(X, y).remembered_rows_ is None


def test_they_are_saved_with_the_model(tmp_path):
    X, y = frame()
    with_ = surewood.save(BinnedForestClassifier(2, random_state=0).fit(X, y), tmp_path / "a.surewood")
    assert surewood.load(with_).remembered_rows_.contains(X).all()


def test_a_parquet_file_is_remembered_like_a_frame(tmp_path):
    X, y = frame()
    X.assign(y=y).to_parquet(tmp_path / "t.parquet")
    model = BinnedForestClassifier(2, random_state=0).fit(tmp_path / "t.parquet", "y")
    assert model.remembered_rows_.contains(X).all()
    assert model.remembered_rows_.contains(tmp_path / "t.parquet").all()


def test_tables_of_other_libraries():
    X, _ = frame()
    rows = RememberedRows.from_table(X)
    assert rows.contains(X).all()
    assert not rows.contains(frame(seed=1)[0]).any()
    assert RememberedRows.from_table(X.to_numpy()).contains(X.to_numpy(dtype=object)).all()


def test_rows_with_fewer_digits_are_alike_and_not_equal():
    X, y = frame()
    rows = BinnedForestClassifier(2).fit(X, y).remembered_rows_
    rounded = X.assign(a=X["a"].map(lambda value: float(f"{value:.3g}")))
    assert not rows.contains(rounded).any()
    assert rows.resembles(rounded).mean() > 0.9
    assert rows.resembles(frame(seed=1)[0]).mean() < 0.1


def test_contents_that_are_alike_are_counted_equal_ones_once():
    rows = RememberedRows.from_table(np.array([[1.234], [1.234], [1.21], [5.0]]))
    assert (rows.n_contents, rows.n_alike) == (3, 2)
    assert rows.also(np.array([[5.01], [7.0]])).n_alike == 4


def test_an_earlier_fit_and_a_file_without_rough_hashes():
    tables = [np.array([[1.234]]), np.array([[5.678]])]
    first, second = (RememberedRows.from_table(X) for X in tables)
    assert second.after(first).resembles(np.array([[1.23], [5.68], [9.0]])).tolist() == [True, True, False]
    old = RememberedRows.__new__(RememberedRows)
    old.__setstate__({name: value for name, value in vars(first).items() if name != "rough"})
    assert old.contains(tables[0]).all()
    assert old.n_alike is None
    assert not old.resembles(tables[0]).any()
    assert old.also(tables[1]).rough is None


@pytest.mark.parametrize("rough", [[2, 1], [1], [1.0, 2.0], "12"])
def test_rough_hashes_that_no_fit_remembers_are_refused(rough):
    state = vars(RememberedRows.from_table(np.array([[1.0], [2.0]])))
    kind = np.uint64 if isinstance(rough[0], int) else None
    with pytest.raises((TypeError, ValueError), match="hashes"):
        RememberedRows.__new__(RememberedRows).__setstate__({**state, "rough": np.array(rough, dtype=kind)})
