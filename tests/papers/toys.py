"""What the tests run: a paper that costs nothing, toy sizes of mdDF, published files made up from a frame."""

import bz2
import gzip
import io
import struct
import zipfile

import numpy as np
import pandas as pd

from papers.datasets import DataError
from papers.protocol import Profile, Unit, read_profile, seed_of
from papers.published_files import _HAR_FOLDER

PROFILE = Profile("toy", {"kernel": "none"}, {"repeats": 2})


class ToyPaper:
    """Two methods a unit; `missing` sets cannot be had, `interrupt_at` stops before some record."""

    name, title = "toy", "A toy"
    sets = ("alpha", "beta", "gamma")

    def __init__(self, missing=(), interrupt_at=None):
        self.missing, self.interrupt_at, self.ran = set(missing), interrupt_at, []

    def units(self, profile, sets):
        return [Unit(name, k, ("plain", "rich")) for name in sets for k in range(profile.get("repeats"))]

    def run(self, unit, profile, context):
        if unit.dataset in self.missing:
            raise DataError(f"data set {unit.dataset!r} was not found; look elsewhere.")
        for method in unit.methods:
            if method in context.done:
                continue
            if self.interrupt_at == (unit.dataset, unit.repeat, method):
                raise KeyboardInterrupt
            self.ran.append((unit.dataset, unit.repeat, method))
            seed = seed_of(unit.dataset, unit.repeat, method)
            yield {
                "method": method,
                "metrics": {"error": seed / 2**32},
                "chosen": {"degree": seed % 9, "C": None},
                "seconds": 0.0,
                "seeds": {"draw": seed},
            }

    def summarise(self, records, profile, sets=None):
        rows = [[r["dataset"], r["repeat"], r["method"], r["metrics"]["error"]] for r in records]
        return {
            "tables": [
                {
                    "name": "all",
                    "title": "All <of> it",
                    "note": "",
                    "columns": ["set", "repeat", "method", "error"],
                    "rows": rows,
                }
            ]
        }


METHODS = [
    "mdDF", "mdDF literal", "mdDF-SF", "mdDF-ST", "mdDF-NP", "gcForest", "surewood default",
    "RF", "XGBoost", "MLP",
]  # fmt: skip


def tiny(**changes) -> Profile:
    """The protocol of the paper with two trees a forest."""
    quick = read_profile("mddf", "quick")
    sizes = {
        **quick.sizes,
        "trees": 2,
        "default_trees": 2,
        "tuning_trees": 2,
        "rf_trees": 5,
        "xgboost_rounds": 2,
        "mlp_epochs": 2,
        "figure_points": 60,
        "test_rows": 60,
        "train_rows": 0,
        "max_layers": 2,
        "gcforest_max_layers": 2,
        "mlp": [[4], [3]],
        **changes,
    }
    return Profile("tiny", quick.protocol, sizes)


def published(raw, frame):
    """Bytes by address, in the form that the catalogue says."""
    files = {}
    for part, addresses in raw.addresses.items():
        rows = frame if part == "all" else frame[frame["split"] == part]
        if raw.form == "idx":
            contents = _idx(rows)
        elif raw.form == "har":
            contents = [_har(rows)]
        else:
            pieces = np.array_split(np.arange(len(rows)), len(addresses))
            write = {"delimited": _delimited, "libsvm": _libsvm}[raw.form]
            contents = [write(raw, rows.iloc[piece], part) for piece in pieces]
        files |= {a: _packed(content, a) for a, content in zip(addresses, contents)}
    return files


def _packed(content, address):
    if address.endswith(".gz"):
        return gzip.compress(content, 1)
    return bz2.compress(content, 1) if address.endswith(".bz2") else content


def _delimited(raw, rows, part):
    undo = {
        name: {new: old for old, new in values.items() if part != "train" or not old.endswith(".")}
        for name, values in raw.recode.items()
    }
    columns = []
    for name in raw.names():
        if name == "-":
            columns.append(["NAME_OF_IT"] * len(rows))
            continue
        cells = [raw.unknown if pd.isna(v) else undo.get(name, {}).get(v, v) for v in rows[name].tolist()]
        columns.append([_digits(v) for v in cells])
    blanks = raw.separator == " "
    between, around = ("  ", " ") if blanks else (", " if raw.comment else ",", "")
    lines = [around + between.join(cells) + around for cells in zip(*columns)]
    if raw.comment and part == "test":
        lines.insert(0, f"{raw.comment}1x3 Cross validator")
    if raw.drop_unknown:
        cells = lines[0].split(",")
        lines.insert(1, ",".join([*cells[:-2], raw.unknown, cells[-1]]))
    return ("\n".join(lines) + "\n\n").encode()


def _digits(value):
    """The shortest text of a number; float32 values came from Parquet as Python floats."""
    if isinstance(value, float) and np.float32(value) == value:
        return str(np.float32(value))
    return str(value)


def _libsvm(raw, rows, part):
    features = [name for name in raw.names() if name != "target"]
    lines = []
    for values, label in zip(rows[features].to_numpy(dtype=float), rows["target"]):
        cells = [f"{k + 1}:{_digits(v)}" for k, v in enumerate(values.tolist()) if v != 0.0]
        lines.append(" ".join([f"{label:+d}", *cells]))
    return ("\n".join(lines) + "\n").encode()


def _idx(rows):
    pixels = rows.drop(columns=["target", "split"]).to_numpy(dtype=np.uint8)
    labels = rows["target"].to_numpy(dtype=np.uint8)
    side = int(np.sqrt(pixels.shape[1]))
    images = struct.pack(">HBBIII", 0, 8, 3, len(rows), side, side) + pixels.tobytes()
    return [images, struct.pack(">HBBI", 0, 8, 1, len(rows)) + labels.tobytes()]


def _har(frame):
    features = [name for name in frame.columns if name not in ("target", "split")]
    activities = sorted(set(frame["target"]))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:

        def add(path, lines):
            archive.writestr(f"{_HAR_FOLDER}/{path}", "\n".join(lines) + "\n")

        add("features.txt", [f"{k} {name.partition('#')[0]}" for k, name in enumerate(features, 1)])
        add("activity_labels.txt", [f"{k} {name}" for k, name in enumerate(activities, 1)])
        for part in ("train", "test"):
            rows = frame[frame["split"] == part]
            numbers = rows[features].to_numpy(dtype=float)
            add(f"{part}/X_{part}.txt", ["  ".join(map(_digits, row)) for row in numbers.tolist()])
            add(f"{part}/y_{part}.txt", [str(activities.index(name) + 1) for name in rows["target"]])
    return packed.getvalue()
