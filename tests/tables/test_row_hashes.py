"""Contents are hashed alike wherever they come from, and apart where they differ."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surewood import _core
from surewood.tables import TableSchema, content_hashes, table_content_hashes
from surewood.tables import row_hashes as module
from tests.tables.reference_row_words import row_words


def mixed_frame():
    return pd.DataFrame(
        {
            "size": [1.5, np.nan, -0.0, 1234567.0],
            "count": [3, 4, 5, 6],
            "color": ["red", None, " blue ", "red"],
            "day": pd.to_datetime(["2024-01-02", "2024-01-03", None, "2024-01-02"]),
            "ok": [True, False, True, True],
        }
    )


def test_the_same_from_pandas_polars_arrow_and_parquet(tmp_path):
    polars = pytest.importorskip("polars")
    frame = mixed_frame()
    frame.to_parquet(tmp_path / "t.parquet")
    hashes = content_hashes(frame, salt=5)
    for other in (polars.from_pandas(frame), pa.Table.from_pandas(frame), tmp_path / "t.parquet",
                  frame.astype({"color": "category", "count": "Int64"})):  # fmt: skip
        assert content_hashes(other, salt=5).tolist() == hashes.tolist()


def test_the_same_from_arrays_frames_and_sparse_matrices():
    import scipy.sparse as sp

    X = np.random.default_rng(0).normal(size=(50, 4)).round(2)
    hashes = content_hashes(X)
    for other in (X.tolist(), np.asfortranarray(X), pd.DataFrame(X), sp.csr_matrix(X), X.astype(object)):
        assert (content_hashes(other) == hashes).all()
    single = X.astype(np.float32)
    assert (content_hashes(single) == hashes).all()


def test_a_table_read_by_its_schema_gives_the_same():
    frame = mixed_frame()
    schema = TableSchema.learn(frame, categorical_features=["color", "count"])
    assert (table_content_hashes(schema.read(frame), schema, salt=9) == content_hashes(frame, salt=9)).all()


def test_text_is_stripped_and_missing_values_are_equal():
    one = content_hashes(pd.DataFrame({"a": ["x", None, "x y"]}))
    two = content_hashes(pd.DataFrame({"a": [" x\t", np.nan, "x  y"]}))
    assert (one == two).tolist() == [True, True, False]


def test_every_cell_matters_and_so_does_its_column():
    X = np.arange(12.0).reshape(3, 4)
    hashes = content_hashes(X)
    for j in range(4):
        changed = X.copy()
        changed[:, j] += 0.5
        assert (content_hashes(changed) != hashes).all()
    assert (content_hashes(X[:, ::-1]) != hashes).all()
    assert content_hashes(X[::-1]).tolist() == hashes[::-1].tolist()
    assert (content_hashes(X, salt=1) != hashes).all()


def test_times_are_told_apart_by_milliseconds():
    start = datetime.datetime(2024, 1, 2)
    times = [start + datetime.timedelta(milliseconds=k) for k in (0, 1, 86_400_000)]
    frame = pd.DataFrame({"t": times})
    assert len(set(content_hashes(frame).tolist())) == 3
    assert (content_hashes(frame.astype("datetime64[ms]")) == content_hashes(frame)).all()


@given(
    st.floats(min_value=1e-290, max_value=1e300),
    st.floats(min_value=-3e-10, max_value=3e-10),
    st.sampled_from([1.0, -1.0]),
)
def test_numbers_are_rounded_to_six_digits(value, noise, sign):
    text = f"{sign * value:.5e}"
    middle = float(text)  # in the middle of its rounding interval
    one, two, far = content_hashes(np.array([[middle], [middle * (1 + noise)], [middle * 1.0001]]))
    assert one == two
    assert one != far


def test_rounding_agrees_with_text():
    rng = np.random.default_rng(0)
    values = rng.normal(size=3000) * 10.0 ** rng.integers(-200, 200, 3000)
    values = np.r_[values, 0.0, -0.0, 1e5, 999999.4, 1e-5, 1.0, 10.0, 999.9999999]
    hashes = content_hashes(values[:, None])
    texts = [f"{value + 0.0:.5e}" for value in values]
    by_text = {}
    assert all(by_text.setdefault(text, h) == h for text, h in zip(texts, hashes))
    assert len(set(hashes.tolist())) == len(set(texts))


def test_columns_are_found_by_name():
    frame = mixed_frame()
    shuffled = frame[["ok", "day", "color", "count", "size"]].assign(extra=1)
    assert (content_hashes(shuffled, columns=list(frame)) == content_hashes(frame)).all()
    with pytest.raises(ValueError, match="the table lacks the column 'size', which the hashed rows have"):
        content_hashes(frame.drop(columns="size"), columns=list(frame))


@pytest.mark.parametrize("n_rows", [4, 1])
def test_wide_tables_are_hashed_in_blocks(monkeypatch, n_rows):
    X = np.random.default_rng(1).normal(size=(n_rows, 50))
    table, y = TableSchema.learn(X).read(X), np.zeros(n_rows, dtype=np.int32)
    whole, contents = module.row_hashes(table, y), content_hashes(X)
    monkeypatch.setattr(module, "_WIDE_BLOCK", 12)
    monkeypatch.setattr(module, "_COPIED", 3)
    np.testing.assert_array_equal(module.row_hashes(table, y), whole)
    np.testing.assert_array_equal(content_hashes(pd.DataFrame(X)), contents)


def test_linear_keys_are_a_linear_form_of_the_columns():
    columns = np.random.default_rng(0).integers(0, 255, size=(3, 20), dtype=np.uint8)
    keys = module.linear_keys(columns, seed=7)
    factors = np.random.default_rng(7).integers(1, 2**63, size=3, dtype=np.uint64)
    expected = [sum(int(c) * int(f) for c, f in zip(row, factors)) % 2**64 for row in columns.T]
    assert keys.tolist() == expected
    odd = module.linear_keys(np.eye(3, dtype=np.uint64), seed=7, odd=True)
    assert (odd % 2 == 1).all()


def hard_numbers():
    """Numbers of all sizes, at the borders of powers of ten, of single precision and of rounding."""
    rng = np.random.default_rng(0)
    powers = 10.0 ** np.arange(-308, 307)
    near = [powers * factor for factor in (1.0, 1 - 1e-16, 1 + 3e-16, 1 - 1e-7, 0.9999995, 9.9999949, -1.0)]
    anything = rng.integers(0, 0x7FF0 << 48, 4000, dtype=np.uint64).view(np.float64)
    odd = [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 1.7976931348623157e308, 1e-37, 1e38, 0.5, 999999.5]
    return np.concatenate([*near, anything, -anything, rng.normal(size=500), odd])


@pytest.fixture(params=["baseline", "avx2", "avx512"])
def instruction_set(request):
    best = _core.instruction_set()
    if not _core.use_instruction_set(request.param):
        pytest.skip("not on this processor")
    yield
    _core.use_instruction_set(best)


@pytest.mark.parametrize("digits", [1, 6, 12])
def test_the_kernel_agrees_with_the_reference(instruction_set, digits):
    numbers = hard_numbers()
    X = np.column_stack([numbers, numbers[::-1], np.roll(numbers, 7)])
    keys = np.array([1, 2**63, 3**40], dtype=np.uint64)
    for array in (X, np.asfortranarray(X), X[::2], X[:, ::-1]):
        out = np.full(len(array), 5, dtype=np.uint64)
        _core.add_row_words(array, keys, digits, out)
        np.testing.assert_array_equal(out - np.uint64(5), row_words(array, keys, digits))


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"])
@pytest.mark.parametrize("n_rows", [40, 700])
def test_every_type_of_number_has_the_words_of_its_values(dtype, n_rows):
    X = (np.random.default_rng(0).normal(size=(n_rows, 45)) * 1000).astype(np.int64).astype(dtype)
    keys = np.arange(45, dtype=np.uint64)
    out = np.zeros(n_rows, dtype=np.uint64)
    _core.add_row_words(X, keys, 6, out)
    np.testing.assert_array_equal(out, row_words(X, keys))


ODD_NUMBERS = [(dtype, odd) for dtype in ("u1", "i1", "u2", "i4", "i8", "u8") for odd in (None, -1.0, 256.0)]
ODD_NUMBERS += [(dtype, odd) for dtype in ("f4", "f8") for odd in (None, 0.5, -1.0, 256.0, 1e9, np.nan, -0.0)]


@pytest.mark.parametrize(("dtype", "odd"), ODD_NUMBERS)
def test_small_whole_numbers_are_looked_up_until_another_number_comes(instruction_set, dtype, odd):
    """The odd number stands in the first rows, in a later tile, or in the last row."""
    rng = np.random.default_rng(0)
    for place, n_columns in ((3, 16), (100, 39), (300, 5), (300, 16), (699, 32)):
        X = rng.integers(0, 128, size=(700, n_columns)).astype(dtype)
        if odd is not None:
            X[place, n_columns // 2] = odd if dtype[0] == "f" else np.int64(odd).astype(dtype)
        keys = rng.integers(0, 2**63, n_columns, dtype=np.uint64)
        for array in (X, np.asfortranarray(X), X[::2], X[:, ::-1]):
            out = np.zeros(len(array), dtype=np.uint64)
            _core.add_row_words(array, keys, 6, out)
            np.testing.assert_array_equal(out, row_words(array, keys))


def test_the_kernel_refuses_what_it_cannot_read():
    X, keys, out = np.zeros((3, 2)), np.zeros(2, dtype=np.uint64), np.zeros(3, dtype=np.uint64)
    with pytest.raises(TypeError, match="keys: axis 0 must have length 2"):
        _core.add_row_words(X, keys[:1], 6, out)
    with pytest.raises(TypeError, match="out: axis 0 must have length 3"):
        _core.add_row_words(X, keys, 6, out[:2])
    with pytest.raises(TypeError, match="numbers: expected an array of integers, float32 or float64"):
        _core.add_row_words(X.astype(np.float16), keys, 6, out)
    with pytest.raises(ValueError, match="digits: must be between 1 and 15"):
        _core.add_row_words(X, keys, 0, out)


PINNED = [
    "0xe705f52503ba59af",
    "0x5c4b0c1caa68c643",
    "0x42d4836f1acf569c",
    "0xf73693ab6b23d0c4",
]


def test_hashes_are_those_of_saved_models():
    assert [hex(h) for h in content_hashes(mixed_frame(), salt=5).tolist()] == PINNED
