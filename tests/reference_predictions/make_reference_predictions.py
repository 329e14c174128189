"""Pin what every estimator predicts: `python tests/reference_predictions/make_reference_predictions.py`.

Small tables made by formula, every exported estimator in a small setting, one array per pair. A change
that is meant to leave results alone is checked against these files; a change of a rule rewrites them and is
listed in the changelog.
"""

import platform
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info

import surewood

HERE = Path(__file__).parent
SETTINGS = {
    "BinnedForestClassifier": {"n_estimators": 8, "calibrate": True},
    "BoostedTreesClassifier": {"n_estimators": 6},
    "CascadeForestClassifier": {"n_estimators": 4, "max_layers": 3, "cv": 3},
    "CompositeTreeClassifier": {"max_depth": 2},
    "DeepCascadeClassifier": {"max_leaves": 3},
    "DeepCascadeSVMClassifier": {"gamma_scale": 1e-3, "max_leaves": 3},
    "DeepCascadeSVMClassifierCV": {"max_leaves": 2, "cv": 2, "study": {"max_svms": 100}},
    "MarginDeepForestClassifier": {"n_estimators": 4, "max_layers": 3},
    "MarginDeepForestClassifierCV": {"n_estimators": 4, "max_layers": 2, "thetas": (0.7, 0.9)},
    "MultiGrainedScanner": {"n_estimators": 3, "windows": [2]},
    "PolySVC": {"degree": 2},
    "RandomCompositeForestClassifier": {"n_estimators": 12},
    "SurewoodClassifier": {"n_estimators": 4},
    "RandomCompositeForestClassifierCV": {"n_estimators": (4, 8), "max_depth": (1, 2)},
}
BINARY_ONLY = {"DeepCascadeClassifier"}
NUMBERS_ONLY = {"MultiGrainedScanner"}


def _labels(score: np.ndarray, cuts: list[float]) -> np.ndarray:
    return np.digitize(score, np.quantile(score, cuts))


def tables() -> dict[str, tuple[object, np.ndarray, np.ndarray | None]]:
    """Name -> (X, y, sample_weight)."""
    rng = np.random.default_rng(20260101)
    X = rng.standard_normal((150, 6))
    noise = 0.3 * rng.standard_normal(150)
    linear = X[:, 0] - X[:, 1] + noise
    ring = X[:, 0] ** 2 + X[:, 1] ** 2 + noise
    missing = X.copy()
    missing[rng.random(X.shape) < 0.1] = np.nan
    color = np.array(["red", "green", "blue", "grey"])[np.digitize(X[:, 2], [-1, 0, 1])]
    mixed = pd.DataFrame({"a": missing[:, 0], "b": X[:, 1], "color": pd.Series(color, dtype=object)})
    mixed["flag"] = X[:, 3] > 0
    dates = pd.DataFrame(
        {"x": X[:, 0], "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(150), "D")}
    )
    copied = np.repeat(X[:60], [1, 2, 3] * 20, axis=0)
    wide = rng.standard_normal((60, 40))
    whole = np.round(3 * X).astype(np.int64)
    return {
        "binary": (X, _labels(linear, [0.5]), None),
        "ring": (X[:, :3], _labels(ring, [0.5]), None),
        "three_classes": (X, np.array(["low", "mid", "top"])[_labels(linear, [0.3, 0.6])], None),
        "imbalanced": (X, _labels(linear, [0.9]), None),
        "missing": (missing, _labels(linear, [0.4]), None),
        "mixed_frame": (mixed, _labels(X[:, 1] + (color == "red") + noise, [0.5]), None),
        "dates": (dates, _labels(linear + np.arange(150) / 100, [0.5]), None),
        "weighted": (X, _labels(ring, [0.4]), 0.25 + rng.integers(0, 8, 150) / 4),
        "copies": (copied, _labels(np.repeat(linear[:60], [1, 2, 3] * 20), [0.5]), None),
        "wide_and_short": (wide, _labels(wide[:, 0] + wide[:, 1], [0.5]), None),
        "whole_numbers": (whole, _labels(whole[:, 0] + 2.0 * whole[:, 1] + noise, [0.25, 0.5, 0.75]), None),
    }  # fmt: skip


def model_of(name: str) -> object:
    cls = getattr(surewood, name)
    parameters = dict(SETTINGS[name])
    if "random_state" in cls().get_params():
        parameters["random_state"] = 0
    return cls(**parameters)


def applies(name: str, X: object, y: np.ndarray) -> bool:
    if name in BINARY_ONLY and len(np.unique(y)) > 2:
        return False
    return not (name in NUMBERS_ONLY and (isinstance(X, pd.DataFrame) or np.isnan(X).any()))


def outputs(name: str, X: object, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """What a freshly fitted model gives for its own rows."""
    model = model_of(name)
    model = model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.transform(X)


def machine() -> str:
    """What decides the last bits: the processor's features, the BLAS and its kernels."""
    found = np.show_config(mode="dicts")
    simd = ",".join(found["SIMD Extensions"].get("found", []))
    blas = found["Build Dependencies"]["blas"]
    kernels = ",".join(sorted({pool.get("architecture", "") for pool in threadpool_info()}))
    return f"{platform.machine()} {simd} {blas.get('name')} {blas.get('version')} {kernels}"


def main() -> None:
    for name in SETTINGS:
        arrays = {
            table: outputs(name, X, y, weight)
            for table, (X, y, weight) in tables().items()
            if applies(name, X, y)
        }
        np.savez_compressed(HERE / f"{name}.npz", machine=np.array(machine()), **arrays)
        print(f"{name}: {len(arrays)} tables")


if __name__ == "__main__":
    main()
