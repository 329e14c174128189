"""Reading, planning, binning and hashing as fractions of the processor time of a fit.

A stage is the time in its functions, without that in functions of another stage that they call.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.datasets import make_classification

from surewood import SurewoodClassifier, workflow

STAGES = {
    "reading": (
        "tables.table_file:read_table",
        "tables.schema:TableSchema.learn",
        "tables.validation:begin_fit",
    ),
    "planning": ("tables.planning.table_plan:plan",),
    "binning": ("trees.binning:learn_bins", "trees.binning:BinMapper.codes"),
    "hashing": (
        "tables.row_hashes:content_hashes",
        "tables.row_hashes:table_content_hashes",
        "tables.row_hashes:row_hashes",
        "tables.row_hashes:merge_equal_rows",
    ),
}
ROWS, QUICK_ROWS = (1000, 10_000), (300,)

_seconds: Counter[str] = Counter()
_calls: Counter[str] = Counter()
_running: list[tuple[str, float]] = []  # stages under way, the innermost last, with the time it was entered


def main(quick: bool = False) -> None:
    for stage, names in STAGES.items():
        for name in names:
            _time(stage, name)
    for n_rows in QUICK_ROWS if quick else ROWS:
        X, y = make_classification(n_rows, 20, n_informative=8, random_state=0)
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(20)])
        model = SurewoodClassifier(random_state=0)
        _report(f"SurewoodClassifier, {n_rows:,} rows", partial(model.fit, frame, y))
        with tempfile.TemporaryDirectory(prefix="bench-shares-") as folder:
            path = Path(folder) / "table.csv"
            frame.assign(label=y).to_csv(path, index=False)
            fit = partial(workflow.fit, path, target="label")
            _report(f"surewood fit, {n_rows:,} rows", fit)


def _time(stage: str, name: str) -> None:
    """Count a function's time, wherever its module's name was imported to."""
    module_name, _, path = name.partition(":")
    owner: Any = import_module(f"surewood.{module_name}")
    *outer, attribute = path.split(".")
    for part in outer:
        owner = getattr(owner, part)
    bound = vars(owner)[attribute]
    function = bound.__func__ if isinstance(bound, classmethod) else bound

    @wraps(function)
    def timed(*arguments: Any, **named: Any) -> Any:
        now = time.process_time()
        if _running:
            _seconds[_running[-1][0]] += now - _running[-1][1]
        _running.append((stage, now))
        _calls[stage] += 1
        try:
            return function(*arguments, **named)
        finally:
            now = time.process_time()
            _seconds[stage] += now - _running.pop()[1]
            if _running:
                _running[-1] = (_running[-1][0], now)

    if isinstance(bound, classmethod):
        setattr(owner, attribute, classmethod(timed))
        return
    setattr(owner, attribute, timed)
    for module in [module for key, module in sys.modules.items() if key.startswith("surewood")]:
        for key, value in list(vars(module).items()):
            if value is function:
                setattr(module, key, timed)


def _report(title: str, work: Callable[[], object]) -> None:
    work()  # everything is imported and warm
    _seconds.clear()
    _calls.clear()
    start = time.process_time()
    work()
    total = time.process_time() - start
    parts = "  ".join(f"{stage} {_seconds[stage] / total:5.1%} ({_calls[stage]} calls)" for stage in STAGES)
    print(f"{title:34} {total:7.2f} s  {parts}  together {sum(_seconds.values()) / total:.1%}")


if __name__ == "__main__":
    main("--quick" in sys.argv)
