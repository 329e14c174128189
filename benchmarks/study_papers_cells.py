"""The published values of two papers that our tables do not reach: what would reach them, tried.

    python -m benchmarks.study_papers_cells                            # about an hour of processor time
    python -m benchmarks.study_papers_cells --sets vowel --trials "larger grid"

A *trial* repeats a paper's protocol with one thing read differently: other rows, other scaling of the
numbers, a larger grid. Rows go to ``papers/NAME/trials.csv``; repeats that are there are not computed again.
Divisions are those of ``python -m papers``. ``make papers`` then makes the tables of
docs/research/unreached-cells.md. Needs SUREWOOD_DATA.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.study_files import append_rows, option_parser
from papers.datasets import load
from papers.mddf.methods import parts_of
from papers.protocol import OFFICIAL, PAPER, Profile, paper_folder, read_profile, seed_of
from papers.rcf import numbers, prefix_labels
from papers.rcf.grid import Division, GridStudy, divide, divide_official
from papers.readings import Readings
from papers.records import commit

FIELDS = ("set", "trial", "repeat", "method", "error", "n_train", "n_test", "seconds", "commit")
#: Sets whose SVMs end in bearable time without scaling, and those that are not scaled from the start.
UNSCALED = ("vowel", "dna", "pendigits", "abalone", "a2a", "usps")
RESCALED = ("vowel", "pendigits", "german_numeric", "abalone")
#: Sets for which the paper's 100 to 900 trees may matter: those of its cells that no reading reached.
FEW_TREES = ("dna", "pendigits", "german_numeric", "a2a", "abalone")
DIVIDED = ("vowel", "dna", "pendigits", "a2a", "usps")
FOREST_TREES = 200

#: Rows of one repeat: (method, error, training rows, test rows).
Rows = Iterator[tuple[str, float, int, int]]


@dataclass(frozen=True)
class Trial:
    """One reading: how a repeat is computed, on which sets, how often at most."""

    run: Callable[[str, int], Rows]
    sets: tuple[str, ...]
    repeats: int
    paper: str = "rcf"


# Random composite forests


def composite(
    changes: Mapping[str, Any] | None = None,
    *,
    division: str = PAPER,
    change: Callable[[pd.DataFrame], pd.DataFrame] = lambda X: X,
    scaling: str = "standardised",
    forest: bool = False,
) -> Callable[[str, int], Rows]:
    """A trial of the standard profile with some sizes changed, the official parts or a changed table."""

    def run(dataset: str, repeat: int) -> Rows:
        profile = replace(_profile(dataset, changes or {}, division), readings=Readings(scaling=scaling))
        X, y, parts = _divided(dataset, repeat, division)
        X = change(X)
        seed = seed_of("rcf", *([OFFICIAL] if division == OFFICIAL else []), dataset, repeat, "trees")
        grid = GridStudy(X, y, parts, profile, dataset, ("rcf",), seed)
        point = grid.choose("rcf")
        validation, test = grid.errors("rcf")
        n_train, n_both = len(parts.train), len(parts.train) + len(parts.validation)
        n_test = len(parts.test)
        yield "RCF", point.test_error, n_train, n_test
        yield "RCF, refitted", grid.refitted_error(point), n_both, n_test
        yield "RCF, smallest validation error", validation.min() / len(parts.validation), n_train, n_test
        yield "RCF, smallest test error", test.min() / n_test, n_train, n_test
        if forest:
            yield "RF", _forest_error(X, y, parts.train, parts.test, seed), n_train, n_test
            both = np.concatenate([parts.train, parts.validation])
            yield "RF, refitted", _forest_error(X, y, both, parts.test, seed), n_both, n_test

    return run


def _profile(dataset: str, changes: Mapping[str, Any], division: str = PAPER) -> Profile:
    """The standard profile with other sizes of one set."""
    standard = read_profile("rcf", "standard", division)
    own = {**standard.sizes["sets"].get(dataset, {}), **changes}
    sizes = {**standard.sizes, "sets": {**standard.sizes["sets"], dataset: own}}
    return replace(standard, protocol={**standard.protocol, **changes}, sizes=sizes)


def _divided(dataset: str, repeat: int, division: str = PAPER) -> tuple[pd.DataFrame, pd.Series, Division]:
    """Table, labels and parts as `python -m papers` has them."""
    data = load(dataset)
    if division == OFFICIAL:
        seed = seed_of("rcf", OFFICIAL, dataset, repeat, "division")
        return data.X, data.y, divide_official(data.split, 0.25, seed)
    X, y = data.part_of("rcf")
    return X, y, divide(len(y), seed_of("rcf", dataset, repeat, "division"))


def _forest_error(X: pd.DataFrame, y: pd.Series, train: Any, test: Any, seed: int) -> float:
    table, codes = numbers(X), pd.factorize(y, sort=True)[0]
    r = max(1, round(X.shape[1] ** 0.5))
    labels = prefix_labels(table[train], codes[train], table[test], r, (FOREST_TREES,), seed, 1)
    return float((labels[0] != codes[test]).mean())


def as_codes(X: pd.DataFrame) -> pd.DataFrame:
    """Categories as numbers 1, 2, 3, as LIBSVM's file of abalone has them."""
    return X.apply(
        lambda column: column.cat.codes + 1.0 if isinstance(column.dtype, pd.CategoricalDtype) else column
    )


def to_unit_range(X: pd.DataFrame) -> pd.DataFrame:
    """Every column from -1 to 1, as LIBSVM's scaled files."""
    own = as_codes(X).astype(float)
    low, high = own.min(), own.max()
    return 2.0 * (own - low) / (high - low).replace(0.0, 1.0) - 1.0


def age_groups(y: pd.Series) -> pd.Series:
    """Rings in three groups, as in other work on abalone: up to 8, 9 and 10, 11 and more."""
    return pd.cut(y.astype(float), [0, 8, 10, 100], labels=["young", "middle", "old"]).astype(str)


def three_groups(dataset: str, repeat: int) -> Rows:
    """Abalone with three classes instead of 28."""
    X, y, parts = _divided(dataset, repeat)
    seed = seed_of("rcf", dataset, repeat, "trees")
    grid = GridStudy(X, age_groups(y), parts, _profile(dataset, {}), dataset, ("rcf",), seed)
    yield "RCF", grid.choose("rcf").test_error, len(parts.train), len(parts.test)


def other_methods(dataset: str, repeat: int) -> Rows:
    """What other classifiers make of the same rows: fitted to training and validation part together."""
    X, y, parts = _divided(dataset, repeat)
    rows = np.sort(np.concatenate([parts.train, parts.validation]))
    codes = pd.factorize(y, sort=True)[0]
    table = (X.iloc[rows], codes[rows], X.iloc[parts.test], codes[parts.test])
    yield from _errors_of(contenders(repeat), *table)


def official_default(dataset: str, repeat: int) -> Rows:
    """The library's composite forest on the official parts, fitted to the whole training part."""
    data = load(dataset)
    codes = pd.factorize(data.y, sort=True)[0]
    train, test = data.split == "train", data.split == "test"
    models = {name: contenders(repeat)[name] for name in ("composite forest", "random forest")}
    yield from _errors_of(models, data.X[train], codes[train], data.X[test], codes[test])


def _errors_of(models: Mapping[str, Callable[[], Any]], X: Any, y: Any, X_test: Any, y_test: Any) -> Rows:
    for name, make in models.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make().fit(X, pd.Series(y))
            error = float(np.mean(np.asarray(model.predict(X_test)) != y_test))
        yield name, error, len(y), len(y_test)


def contenders(seed: int) -> dict[str, Callable[[], Any]]:
    """Other classifiers by name."""
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    from surewood import RandomCompositeForestClassifier, SurewoodClassifier

    grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": ["scale", 0.01, 0.1]}
    return {
        "SurewoodClassifier": lambda: SurewoodClassifier(random_state=seed, n_jobs=1),
        "composite forest": lambda: RandomCompositeForestClassifier(random_state=seed, n_jobs=1),
        "random forest": lambda: _AsNumbers(RandomForestClassifier(500, random_state=seed)),
        "extra-trees": lambda: _AsNumbers(ExtraTreesClassifier(500, random_state=seed)),
        "hist. boosting": lambda: _AsNumbers(HistGradientBoostingClassifier(random_state=seed)),
        "logistic regression": lambda: _AsNumbers(
            make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        ),
        "tuned SVC": lambda: _AsNumbers(GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=3)),
    }


class _AsNumbers:
    """A classifier that sees categories as their codes."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: pd.DataFrame, y: pd.Series) -> _AsNumbers:
        self.model.fit(numbers(X), y)
        return self

    def predict(self, X: pd.DataFrame) -> Any:
        return self.model.predict(numbers(X))


LARGER = {
    "depths": [1, 2, 4, 8, 12],
    "gammas": [1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0],
    "C": [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0],
    "trees": [50, 200],
}

# Margin distribution deep forests


def margin_forests(
    methods: tuple[str, ...], change: Callable[[Any], Any] = lambda parts: parts
) -> Callable[[str, int], Rows]:
    """A trial of the published forests at their full number of trees, and of a random forest."""

    def run(dataset: str, repeat: int) -> Rows:
        parts = change(parts_of(dataset, repeat, read_profile("mddf", "standard")))
        models = {name: _margin_model(name, parts.seeds["model"]) for name in methods}
        yield from _errors_of(models, parts.X, parts.y, parts.X_test, parts.y_test)

    return run


def _margin_model(name: str, seed: int) -> Callable[[], Any]:
    """One of `FORESTS`, or a classifier of another kind."""
    from surewood import MarginDeepForestClassifier

    if name not in FORESTS:
        return contenders(seed)[name]
    return lambda: MarginDeepForestClassifier(random_state=seed, n_jobs=1, **FORESTS[name])


_BLOCK = ["random", "random", "completely_random", "completely_random"]
_LITERAL = {"reweighting": "literal", "step": "simplex", "patience": 3}
FORESTS: dict[str, dict[str, Any]] = {
    "default": {},
    "mdDF": {"forests": _BLOCK, "depth_schedule": 16, "study": _LITERAL},
    "mdDF, equal weights": {
        "forests": _BLOCK, "depth_schedule": 16, "study": _LITERAL | {"reweighting": "none"},
    },
    "mdDF, deep trees": {"forests": _BLOCK, "depth_schedule": 64, "study": _LITERAL},
    "extra-trees only": {"forests": ["extra"] * 4},
}  # fmt: skip


def one_hot(parts: Any) -> Any:
    """Categories as columns of zeros and ones."""
    from papers.mddf.methods import as_numbers

    X, X_test = (pd.DataFrame(table) for table in as_numbers(parts.X, parts.X_test))
    return replace(parts, X=X, X_test=X_test)


def coded(parts: Any) -> Any:
    """Categories as numbers in alphabetical order, missing ones as -1."""
    X, X_test = (pd.DataFrame(numbers(table)) for table in (parts.X, parts.X_test))
    return replace(parts, X=X, X_test=X_test)


def without_missing(parts: Any) -> Any:
    """Rows without missing values only."""
    kept, kept_test = (~table.isna().any(axis=1).to_numpy() for table in (parts.X, parts.X_test))
    return replace(
        parts,
        X=parts.X[kept].reset_index(drop=True),
        y=parts.y[kept],
        X_test=parts.X_test[kept_test].reset_index(drop=True),
        y_test=parts.y_test[kept_test],
    )


def stratified(parts: Any) -> Any:
    """The same number of test rows, drawn class by class."""
    from sklearn.model_selection import train_test_split

    X = pd.concat([parts.X, parts.X_test], ignore_index=True)
    y = np.concatenate([parts.y, parts.y_test])
    seed, size = parts.seeds["split"], len(parts.y_test)
    train, test = train_test_split(np.arange(len(y)), test_size=size, random_state=seed, stratify=y)
    return replace(parts, X=X.iloc[train], y=y[train], X_test=X.iloc[test], y_test=y[test])


_USUAL = ("default", "SurewoodClassifier", "random forest")
_PEERS = ("SurewoodClassifier", "random forest", "extra-trees", "hist. boosting", "tuned SVC")
TRIALS: dict[str, Trial] = {
    "numbers as they are": Trial(composite(scaling="raw", change=as_codes), UNSCALED, 10),
    "numbers from -1 to 1": Trial(composite(scaling="raw", change=to_unit_range), RESCALED, 10),
    "more trees": Trial(composite({"trees": [100, 200]}), FEW_TREES, 10),
    "categories as numbers": Trial(composite(change=as_codes), ("abalone",), 3),
    "rings in three groups": Trial(three_groups, ("abalone",), 3),
    "official division": Trial(composite(division=OFFICIAL, forest=True), ("vowel", "dna", "pendigits"), 2),
    "official division, default": Trial(official_default, DIVIDED, 2),
    "C by cross-validation": Trial(composite({"choose_C": "cv"}), ("dna",), 3),
    "constant leaves": Trial(composite({"constant_leaves": True}), ("dna", "abalone"), 3),
    "larger grid": Trial(composite(LARGER), ("dna",), 1),
    "other classifiers": Trial(other_methods, ("dna", "abalone", "a2a"), 2),
    "random splits": Trial(margin_forests(_USUAL), ("yeast",), 20, "mddf"),
    "stratified splits": Trial(margin_forests(_USUAL, change=stratified), ("yeast",), 10, "mddf"),
    "100 trees": Trial(margin_forests(("default",)), ("adult",), 3, "mddf"),
    "full trees": Trial(margin_forests(("default", "mdDF")), ("satimage",), 5, "mddf"),
    "other weights and depths": Trial(
        margin_forests(("mdDF, equal weights", "mdDF, deep trees", "extra-trees only")),
        ("satimage",),
        5,
        "mddf",
    ),
    "one-hot categories": Trial(margin_forests(("default",), change=one_hot), ("adult",), 1, "mddf"),
    "coded categories": Trial(margin_forests(("default",), change=coded), ("adult",), 2, "mddf"),
    "rows without missing values": Trial(
        margin_forests(("default",), change=without_missing), ("adult",), 2, "mddf"
    ),
    "other classifiers (mdDF)": Trial(margin_forests(_PEERS), ("yeast",), 3, "mddf"),
}


def run(sets: list[str], trials: list[str]) -> None:
    """Compute the repeats that are not in the files yet."""
    for name in trials:
        trial = TRIALS[name]
        path = paper_folder(trial.paper) / "trials.csv"
        done: set[tuple[str, ...]] = set()
        if path.exists():
            rows = pd.read_csv(path, dtype=str)[["set", "trial", "repeat"]]
            done = set(rows.itertuples(index=False, name=None))
        for dataset in trial.sets:
            for repeat in range(_repeats(trial, dataset)):
                if (dataset, name, str(repeat)) not in done and (not sets or dataset in sets):
                    append_rows(path, FIELDS, _finished(trial, name, dataset, repeat))


def _repeats(trial: Trial, dataset: str) -> int:
    """How often a trial runs; on composite forests at most as often as the protocol has divisions."""
    if trial.paper != "rcf":
        return trial.repeats
    return min(trial.repeats, int(read_profile("rcf", "standard").get("repeats", dataset)))


def _finished(trial: Trial, name: str, dataset: str, repeat: int) -> list[dict[str, Any]]:
    """All rows of one repeat."""
    found, started = [], time.process_time()
    for method, error, n_train, n_test in trial.run(dataset, repeat):
        row: dict[str, Any] = {"set": dataset, "trial": name, "repeat": repeat}
        row |= {"method": method, "error": round(float(error), 6), "n_train": n_train, "n_test": n_test}
        row |= {"seconds": round(time.process_time() - started, 2), "commit": commit()}
        started = time.process_time()
        found.append(row)
        print(*row.values(), flush=True)
    return found


def main() -> None:
    parser = option_parser(__doc__)
    parser.add_argument("--sets", nargs="+", default=[])
    parser.add_argument("--trials", nargs="+", default=list(TRIALS), choices=list(TRIALS))
    options = parser.parse_args()
    run(options.sets, options.trials)


if __name__ == "__main__":
    main()
