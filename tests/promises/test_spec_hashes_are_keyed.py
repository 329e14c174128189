"""[D-34]: hashes are kept with the model, 8 bytes per row, and cannot be compared across models."""

import numpy as np

from surewood import BinnedForestClassifier, load, save
from surewood.certify import certify
from tests.promises.population import draw


def test_models_of_different_tables_share_no_hash(tmp_path):
    X, y = draw(300, 0)
    first = BinnedForestClassifier(2, random_state=0).fit(X, y)
    second = BinnedForestClassifier(2, random_state=0).fit(X[:-1], y[:-1])
    new, labels = draw(100, 1)
    for model in (first, second):
        save(model, tmp_path / "model")
        certificate = certify(load(tmp_path / "model"), np.vstack([X[:-1], new]), np.r_[y[:-1], labels])
        assert certificate.best.n == 100
    kept = [model.remembered_rows_.hashes for model in (first, second)]
    assert [len(hashes) for hashes in kept] == [300, 299]
    assert kept[0].itemsize == 8
    assert not np.intersect1d(*kept).size
