"""A fitted model recognises its training rows, and nothing else."""

import numpy as np
import pandas as pd
import pytest

import surewood
from surewood import BinnedForestClassifier, PolySVC
from surewood.base import remembered
from surewood.base.remembered import RememberedRows, copied_fraction
from surewood.tables import TableSchema, content_hashes


def repeated(rows):
    """How many rows equal another one."""
    return (rows.times(rows.hashes) > 1).sum()


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
    assert (rows.n_rows, repeated(rows), rows.copied) == (60, 0, False)
    assert (np.diff(rows.hashes.astype(object)) > 0).all()
    assert rows.contains(X).all()
    assert not rows.contains(frame(seed=1)[0]).any()
    assert not rows.contains(X.assign(a=X["a"] * (1 + 1e-9))).any()
    assert rows.contains(X[["c", "a", "b"]]).all()  # columns are found by name


def test_unseen_categories_are_new_rows():
    X, y = frame()
    X.loc[:5, "c"] = None
    rows = BinnedForestClassifier(2).fit(X, y).remembered_rows_
    assert rows.contains(X).all()
    assert not rows.contains(X.loc[:5].assign(c="z")).any()


def test_all_rows_are_remembered_with_or_without_weight_and_copies_too():
    X, y = frame()
    weight = np.ones(60)
    weight[:30] = 0.0
    rows = BinnedForestClassifier(2).fit(X, y, weight).remembered_rows_
    assert rows.contains(X).all()
    twice = BinnedForestClassifier(2).fit(pd.concat([X, X]), np.r_[y, y]).remembered_rows_
    assert (twice.n_rows, repeated(twice), twice.copied) == (120, 120, True)


def test_the_same_fit_remembers_the_same_in_any_order_of_the_rows():
    X, y = frame(400)
    order = np.random.default_rng(0).permutation(400)
    one = BinnedForestClassifier(2, random_state=0).fit(X, y).remembered_rows_
    two = BinnedForestClassifier(2, random_state=0).fit(X.iloc[order], y[order]).remembered_rows_
    assert one.digest == two.digest
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


def test_rows_of_two_tables_are_counted_as_often_as_in_either():
    first, second = (RememberedRows.from_table(np.array(X)) for X in ([[1.0], [1.0], [2.0]], [[1.0], [3.0]]))
    both = first.and_rows_of(second)
    assert (both.n_rows, repeated(both)) == (4, 2)
    assert both.contains(np.array([[1.0], [2.0], [3.0], [4.0]])).tolist() == [True, True, True, False]
    assert first.and_rows_of(None) is None


def fraction(X):
    schema = TableSchema.learn(X)
    return copied_fraction(schema.read(X), schema, content_hashes(X))


RNG = np.random.default_rng(0)
MEASURED = RNG.normal(size=(500, 3))
FLAGGED = np.c_[MEASURED[:, 0], np.arange(500) % 50 == 0]
COPIED = {
    "every row twice": (np.r_[MEASURED, MEASURED], 1.0),
    "ten rows many times": (np.tile(MEASURED[:10], (50, 1)), 1.0),
    "a few rows twice": (np.r_[MEASURED, MEASURED[:15]], 30 / 515),
    "a measured column and a rare flag": (np.r_[FLAGGED, FLAGGED[:150]], 300 / 650),
}


@pytest.mark.parametrize("kind", COPIED)
def test_signs_of_copying(kind):
    X, expected = COPIED[kind]
    assert fraction(X) == pytest.approx(expected)


@pytest.mark.parametrize("n_copies", [0, 4])
def test_a_few_copies_may_be_chance(n_copies):
    assert fraction(np.r_[MEASURED, MEASURED[:n_copies]]) == 0.0


def test_large_and_streamed_tables_are_checked_on_a_part(monkeypatch, tmp_path):
    X = np.r_[MEASURED, MEASURED[:150]]
    monkeypatch.setattr(remembered, "_CHECKED_ROWS", 300)
    assert fraction(X) == pytest.approx(300 / 650, abs=0.15)
    pd.DataFrame(X, columns=list("abc")).assign(y=np.arange(650) % 2).to_parquet(tmp_path / "t.parquet")
    model = BinnedForestClassifier(2, random_state=0).fit(tmp_path / "t.parquet", "y")
    assert model.remembered_rows_.copied


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"hashes": np.array([2, 1], dtype=np.uint64)}, "must ascend"),
        ({"columns": [1]}, "list of names"),
        ({"copied": "no"}, "True or False"),
    ],
)
def test_what_no_fit_remembers_is_refused(state, words):
    rows = RememberedRows.from_table(MEASURED)
    with pytest.raises(ValueError, match=words):
        RememberedRows.__new__(RememberedRows).__setstate__({**vars(rows), **state})
