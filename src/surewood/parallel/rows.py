"""Blocks of rows: kernels that write into their rows of an output, wherever they run.

In threads all blocks write into one array. Workers elsewhere get the rows of their block only, fill arrays of
their own and send them back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from surewood.parallel.remote import run_remotely
from surewood.parallel.running import active_engine
from surewood.parallel.threads import run_in_threads

WORTH_SENDING = 0.5  # seconds: below, sending rows and results takes as long as the work


def over_rows(
    kernel: Callable[..., None],
    fixed: Sequence[Any],
    take: Callable[[int, int], Sequence[Any]],
    outputs: Sequence[NDArray[Any]],
    *,
    send: Callable[[int, int], Sequence[Any]] | None = None,
    n_rows: int,
    rows_a_task: int,
    n_jobs: int | None,
    seconds_a_row: float,
    stop: NDArray[np.uint8] | None = None,
    advance: Callable[[float], None] = lambda rows: None,
) -> None:
    """Run ``kernel(*fixed, *take(begin, end), *(out[begin:end] for out in outputs))`` over all rows.

    Parameters
    ----------
    kernel : importable function
        Writes its last arguments, which start as zeros.
    fixed : sequence
        Arguments that all blocks need; large arrays in them should be marked with
        :func:`surewood.parallel.share`.
    take : function of (begin, end)
        Arguments of a block of rows; views, where the kernel takes them.
    send : function of (begin, end), optional
        The same for a worker elsewhere, where `take` would name more than the block's own rows.
    outputs : sequence of ndarray, first axis of length `n_rows`
    n_rows, rows_a_task : int
    n_jobs : int or None
    seconds_a_row : float
        What a row takes, roughly.
    stop : ndarray of uint8, shape (1,), optional
        Set to 1 when a block failed or Ctrl-C came.
    advance : function of a number, optional
        Told of rows as they are done.

    Examples
    --------
    >>> x, out = np.arange(5.0), np.zeros(5)
    >>> over_rows(np.add, (1.0,), lambda a, b: (x[a:b],), [out], n_rows=5, rows_a_task=2, n_jobs=2,
    ...           seconds_a_row=1e-9)
    >>> out
    array([1., 2., 3., 4., 5.])
    """
    spans = [(begin, min(begin + rows_a_task, n_rows)) for begin in range(0, n_rows, rows_a_task)]
    engine = active_engine(n_jobs) if len(spans) > 1 else None
    if engine is not None and seconds_a_row * n_rows >= WORTH_SENDING:
        shapes = [(out.dtype, out.shape[1:]) for out in outputs]
        part = take if send is None else send
        tasks = [delayed(_fill)(kernel, fixed, part(*span), span[1] - span[0], shapes) for span in spans]
        found = run_remotely(engine, tasks, seconds_a_row * rows_a_task)
        for (begin, end), parts in zip(spans, found):
            for out, part in zip(outputs, parts):
                out[begin:end] = part
            advance(end - begin)
        return

    def here(begin: int, end: int) -> None:
        kernel(*fixed, *take(begin, end), *(out[begin:end] for out in outputs))
        advance(end - begin)

    try:
        if len(spans) == 1:
            here(*spans[0])
        else:
            threads = 1 if engine is not None else n_jobs
            run_in_threads((partial(here, *span) for span in spans), threads)
    except BaseException:
        if stop is not None:
            stop[0] = 1
        raise


def _fill(
    kernel: Callable[..., None], fixed: Sequence[Any], rows: Sequence[Any], n_rows: int, shapes: Sequence[Any]
) -> list[NDArray[Any]]:
    outputs = [np.zeros((n_rows, *shape), dtype=dtype) for dtype, shape in shapes]
    kernel(*fixed, *rows, *outputs)
    return outputs
