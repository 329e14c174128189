"""[D-34]: hashes are kept with the model, 8 bytes per row, and cannot be compared across models."""

import io

import numpy as np

from surewood import BinnedForestClassifier, load, save
from surewood.certify import certify
from tests.promises.population import draw


def test_two_models_of_the_same_rows_share_no_hash(tmp_path):
    X, y = draw(300, 0)
    first, second = (BinnedForestClassifier(2, random_state=0).fit(X, y) for _ in range(2))
    for model, name in ((first, "one"), (second, "two")):
        save(model, tmp_path / name)
    new, labels = draw(100, 1)
    rows, classes = np.vstack([X, new]), np.r_[y, labels]
    for name in ("one", "two"):
        assert certify(load(tmp_path / name), rows, classes).best.n == 100
    held = [_words(model.training_rows_) for model in (first, second)]
    assert len(held[0] & held[1]) == 0
    assert len(held[0]) >= 300


def _words(memory):
    """All 64-bit numbers that a model keeps about its rows."""
    buffer = io.BytesIO()
    arrays = [value for value in vars(memory).values() if isinstance(value, np.ndarray)] if not hasattr(
        memory, "__slots__"
    ) else [getattr(memory, name) for name in memory.__slots__ if isinstance(getattr(memory, name), np.ndarray)]
    for array in arrays:
        buffer.write(array.astype(np.uint64).tobytes())
    return set(np.frombuffer(buffer.getvalue(), dtype=np.uint64).tolist())
