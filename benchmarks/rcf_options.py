"""Options that theory.md names for random composite forests, tried on small sets of the paper.

    python -m benchmarks.rcf_options            # measure what is not measured yet, write the table

The protocol of ``surewood reproduce rcf`` with one switch changed at a time: C by five folds of the training
part [D-12], constants offered at every leaf [D-13]. Same divisions and seeds as the paper's own records; 50
trees, depths 2, 4, 6, 8 and every second r. Rows are kept in results/rcf_options.csv; the table stands in
docs/reproduction.md between ``<!-- options -->`` and ``<!-- end options -->``. Needs SUREWOOD_DATA.
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from surewood.datasets import load
from surewood.experiments.protocol import Profile, read_profile
from surewood.experiments.rcf.division import divide
from surewood.experiments.rcf.grid_study import GridStudy
from surewood.experiments.seeds import seed_of

SETS = ("iris", "sonar", "australian", "vowel")
OPTIONS = {
    "as in the protocol": {},
    "C by five folds [D-12]": {"choose_C": "cv"},
    "constants offered [D-13]": {"constant_leaves": True},
}
SIZES = {"trees": [50], "depths": [2, 4, 6, 8], "every_r": 2}
ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "rcf_options.csv"
PAGE = ROOT / "docs" / "reproduction.md"


def measure(name: str, repeat: int, option: str) -> dict:
    """Validation and test error of RCF on one division under one option."""
    X, y = load(name).part_of("rcf")
    parts = divide(len(y), seed_of("rcf", name, repeat, "division"))
    profile = Profile("options", {**read_profile("rcf", "standard").protocol, **OPTIONS[option]}, SIZES)
    study = GridStudy(X, y, parts, profile, name, ("rcf",), seed_of("rcf", name, repeat, "trees"))
    point = study.choose("rcf")
    return {
        "data_set": name,
        "repeat": repeat,
        "option": option,
        "error": point.test_error,
        "refitted": study.refitted_error(point),
    }


def all_rows(n_repeats: int = 5) -> pd.DataFrame:
    """Every row, measured once."""
    known = (
        pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=["data_set", "repeat", "option"])
    )
    rows = known.to_dict("records")
    done = {(row["data_set"], row["repeat"], row["option"]) for row in rows}
    for name in SETS:
        for option in OPTIONS:
            for repeat in range(n_repeats):
                if (name, repeat, option) not in done:
                    rows.append(measure(name, repeat, option))
            RESULTS.parent.mkdir(exist_ok=True)
            pd.DataFrame(rows).to_csv(RESULTS, index=False, float_format="%.6g")
    return pd.DataFrame(rows)


def table(rows: pd.DataFrame) -> str:
    """Mean test errors in percent, a column an option."""
    mean = 100 * rows.groupby(["data_set", "option"])[["error", "refitted"]].mean()
    lines = ["| data set | " + " | ".join(OPTIONS) + " |", "|" + "---|" * (len(OPTIONS) + 1)]
    for name in SETS:
        cells = [
            f"{mean.loc[(name, o), 'error']:.2f} / {mean.loc[(name, o), 'refitted']:.2f}" for o in OPTIONS
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure and write the table."""
    text = table(all_rows())
    page = PAGE.read_text(encoding="utf-8")
    mark = re.compile(r"(<!-- options -->\n).*?(<!-- end options -->)", re.DOTALL)
    PAGE.write_text(mark.sub(lambda m: f"{m[1]}{text}\n{m[2]}", page), encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
