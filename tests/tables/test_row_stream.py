"""A streamed table has the numbers of the frame, in batches and column by column."""

import numpy as np
import pandas as pd
import pytest

from surewood.tables import ParquetTable, Workspace
from surewood.tables import parquet as parquet_module
from surewood.tables.parquet import RowStream, read_training


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"a": rng.normal(size=50), "b": rng.choice(["x", "y"], 50), "y": rng.integers(0, 2, 50)}
    )


@pytest.fixture
def stream(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_module, "_MOST_BATCH_ROWS", 7)
    frame.to_parquet(tmp_path / "t.parquet")
    return read_training(ParquetTable(tmp_path / "t.parquet", target="y"), "from_dtype")[0]


def test_batches_cover_all_rows_in_order(stream, frame):
    parts = list(stream.batches())
    assert len(parts) > 1
    assert [at for at, _ in parts] == np.cumsum([0, *(part.n_rows for _, part in parts)])[:-1].tolist()
    joined = np.concatenate([part.column(0) for _, part in parts])
    np.testing.assert_array_equal(joined, frame["a"])
    np.testing.assert_array_equal(stream.column(1), (frame["b"] == "y").astype(float))


def test_taken_rows_come_from_their_batches(stream, frame):
    rows = np.array([40, 3, 3, 11])
    table = stream.table().take(rows)
    np.testing.assert_array_equal(table.matrix()[:, 0], frame["a"].to_numpy()[rows])


def test_text_where_numbers_were_is_refused(stream, frame, tmp_path):
    frame.astype({"a": str}).to_parquet(tmp_path / "later.parquet")
    opened = ParquetTable(tmp_path / "later.parquet").open(columns=["a", "b"])
    later = RowStream(opened, stream.schema, 50, None, Workspace())
    with pytest.raises(
        ValueError, match=r"column 'a' held numbers in training and holds text in .*later\.parquet"
    ):
        later.column(0)


def test_infinities_name_the_file(stream, frame, tmp_path):
    frame.assign(a=np.inf).to_parquet(tmp_path / "later.parquet")
    opened = ParquetTable(tmp_path / "later.parquet").open(columns=["a", "b"])
    with pytest.raises(ValueError, match=r"infinity in column 'a' of .*later\.parquet"):
        RowStream(opened, stream.schema, 50, None, Workspace()).column(0)
