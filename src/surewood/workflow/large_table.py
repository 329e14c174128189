"""Parquet tables too large to read at once: a sample for what looks at rows, the whole for fit and predict.

A folder of Parquet files, or one file of more than `STREAM_BYTES` as numbers, is streamed. Columns are
learned, families compared and the page drawn on a random sample of the training rows; the holdout is a random
part of at most `HELD_ROWS`; the model is trained on all other rows, which are prepared batch by batch into a
temporary file.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from surewood.parallel.progress import stage
from surewood.tables import ParquetTable, TablePreparer
from surewood.tables.reading.file_format import PARQUET_ENDINGS
from surewood.tables.row_hashes import content_hashes
from surewood.workflow.errors import WorkflowError
from surewood.workflow.holdout import DEFAULT_HOLDOUT, check_classes, check_holdout
from surewood.workflow.labelled_table import LabelledTable, TrainingTable

STREAM_BYTES = 1 << 30
SAMPLE_ROWS = 50_000
HELD_ROWS = 100_000


def is_large(source: str) -> bool:
    """Whether a table is a Parquet table to be streamed."""
    path = Path(source).expanduser()
    if path.is_dir():
        return any(file.name.lower().endswith(PARQUET_ENDINGS) for file in path.iterdir())
    if not path.is_file() or not source.lower().endswith(PARQUET_ENDINGS):
        return False
    try:
        metadata = pq.read_metadata(path)
    except (pa.ArrowException, OSError):
        return False  # the reader of small tables reports what is wrong
    return int(metadata.num_rows) * int(metadata.num_columns) * 8 > STREAM_BYTES


def read_large(wanted: TrainingTable) -> LabelledTable:
    """A sample of the training rows and the holdout in memory; ``stream`` has all training rows."""
    source, target, sampling = str(wanted.source), wanted.target, wanted.sampling
    check_holdout(wanted.holdout)
    if sampling.columns:
        option = "groups" if sampling.groups else "time"
        raise WorkflowError(
            f"{option}= is not possible for a streamed Parquet table, whose rows are divided one by one; "
            "read a sample of it into one smaller file, or fit on a part of your own and certify on the rest."
        )
    if target is None:
        raise WorkflowError(f"{source} needs target=...: the column to predict.")
    whole = ParquetTable(source, target=target)
    n_rows = whole.open().n_rows
    fraction = DEFAULT_HOLDOUT if wanted.holdout is None else wanted.holdout
    notes = [f"{n_rows:,} rows are streamed from {source}; columns were learned from a sample."]
    if fraction * n_rows > HELD_ROWS:
        fraction = HELD_ROWS / n_rows
        notes.append(f"the holdout is {fraction:.2%} of the rows: at most {HELD_ROWS:,}.")
    train, held = whole.split(fraction, wanted.random_state) if fraction > 0 else (whole, None)
    n_train = train.open().n_rows
    sample = train if n_train <= SAMPLE_ROWS else train.split(SAMPLE_ROWS / n_train, wanted.random_state)[1]
    X, y = _labelled(sample, target)
    check_classes(y, target)
    table = LabelledTable(Path(source).name, source, target, X, y, np.arange(1, len(y) + 1), None, notes)
    if wanted.weight is not None:
        table.take_weights(wanted.weight)
    if held is not None:
        table.holdout = _labelled(held, target)
        if not len(table.holdout[1]):
            raise WorkflowError(
                f"holdout={fraction:g} of {n_rows:,} rows is less than one row; take more, or 0."
            )
    table.stream, table.n_streamed = train, n_train
    table.sampling = sampling
    return table


def _labelled(parquet: ParquetTable, target: str) -> tuple[pd.DataFrame, pd.Series]:
    """The rows that have a label, in memory."""
    opened = parquet.open()
    names = [*opened.names, target]
    parts = []
    for _, _, source in ParquetTable(parquet.path, selection=parquet.selection).open(names).batches():
        known = source.table.column(target).is_valid()
        parts.append(source.table.filter(known).to_pandas())
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=names)
    return frame.drop(columns=target), frame[target]


@contextmanager
def prepared_table(table: LabelledTable, preparer: TablePreparer, verbose: int) -> Iterator[ParquetTable]:
    """All training rows as the estimator sees them, in a temporary file that is removed when the fit ends."""
    assert table.stream is not None
    opened = table.stream.open()
    stream = ParquetTable(table.stream.path, selection=table.stream.selection).open(
        [*opened.names, table.target]
    )
    label = _unused(table.target, preparer)
    weight = None if table.weight_name is None else _unused(f"{label} weight", preparer)
    keys = []
    with tempfile.TemporaryDirectory(prefix="surewood-") as folder:
        path = os.path.join(folder, "prepared.parquet")
        writer: Any = None
        try:
            with stage(verbose, "preparing rows", table.n_rows) as advance:
                for _, _, source in stream.batches():
                    frame = preparer.transform(source.table.drop_columns([table.target]).to_pandas())
                    keys.append(content_hashes(frame))
                    rows = pa.Table.from_pandas(frame, preserve_index=False)
                    rows = rows.append_column(label, source.table.column(table.target))
                    if weight is not None:
                        rows = rows.append_column(weight, source.table.column(table.weight_name))
                    writer = writer or pq.ParquetWriter(path, rows.schema)
                    writer.write_table(rows.cast(writer.schema))
                    advance(len(frame))
        finally:
            if writer is not None:
                writer.close()
        preparer.row_keys_ = np.unique(np.concatenate(keys))  # `certify` checks whether later rows are new
        yield ParquetTable(path, target=label, weight=weight, workdir=folder)


def _unused(target: str, preparer: TablePreparer) -> str:
    """A name for the labels that no prepared column has."""
    names = set(preparer.get_feature_names_out().tolist())
    while target in names:
        target += "_"
    return target
