"""Write a small model of every kind: `python tests/saved_models/make_saved_models.py`.

One folder per format of model files (`surewood.persistence.FORMAT`). Files of an older format stay for ever:
`test_saved_models.py` loads them with every later version.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import surewood
from surewood.persistence import FORMAT

HERE = Path(__file__).parent
MODELS = {
    "BinnedForestClassifier": {"n_estimators": 4, "max_depth": 4},
    "CascadeForestClassifier": {"n_estimators": 2, "max_layers": 2, "cv": 2},
    "CompositeTreeClassifier": {"max_depth": 2, "C": 1.0},
    "DeepCascadeClassifier": {"max_leaves": 2},
    "DeepCascadeSVMClassifier": {"gamma_scale": 1e-3, "max_leaves": 2},
    "DeepCascadeSVMClassifierCV": {"max_leaves": 2, "cv": 2, "study": {"max_svms": 50}},
    "MarginDeepForestClassifier": {"n_estimators": 2, "max_layers": 2, "cv": 2},
    "MarginDeepForestClassifierCV": {"n_estimators": 2, "max_layers": 2, "thetas": (0.7, 0.9)},
    "MultiGrainedScanner": {"n_estimators": 2, "windows": [2]},
    "PolySVC": {"degree": 2},
    "RandomCompositeForestClassifier": {"n_estimators": 4},
    "RandomCompositeForestClassifierCV": {"n_estimators": (2, 4), "max_depth": (1, 2)},
    "SurewoodClassifier": {"n_estimators": 2},
}
#: Estimators that did not exist yet, by format.
LATER = {1: {"SurewoodClassifier"}}


def table(numbers_only: bool = False) -> tuple[pd.DataFrame, np.ndarray]:
    """A table by formula, the same for ever: numbers, a category, missing values, three classes."""
    k = np.arange(60.0)
    frame = pd.DataFrame({"a": np.sin(k), "b": np.cos(1.7 * k), "c": np.where(k % 7 == 0, np.nan, k % 5)})
    if not numbers_only:
        frame["d"] = pd.Series([("red", "green", "blue")[int(i) % 3] for i in k], dtype=object)
    y = np.digitize(np.sin(k) + 0.4 * np.cos(3.1 * k), [-0.5, 0.5])
    return frame, np.array(["low", "middle", "high"])[y]


def outputs(model: object) -> np.ndarray:
    """What a model says about the table."""
    frame, _ = table(hasattr(model, "transform"))
    return model.predict_proba(frame) if hasattr(model, "predict_proba") else model.transform(frame)


def main() -> None:
    folder = HERE / f"format-{FORMAT}"
    folder.mkdir(exist_ok=True)
    expected = {}
    for name, parameters in MODELS.items():
        cls = getattr(surewood, name)
        if "random_state" in cls().get_params():
            parameters = {**parameters, "random_state": 0}
        frame, y = table(not hasattr(cls, "predict"))
        model = cls(**parameters).fit(frame, y)
        surewood.save(model, folder / f"{name}.surewood")
        expected[name] = outputs(model)
    np.savez_compressed(folder / "expected.npz", **expected)
    print(f"{sum(f.stat().st_size for f in folder.iterdir()) / 1000:.0f} kB in {folder}")


if __name__ == "__main__":
    main()
