"""Models that earlier versions saved can be loaded, and say what they said then."""

from pathlib import Path

import numpy as np
import pytest

import surewood
from surewood.persistence import FORMAT
from tests.saved_models.make_saved_models import HERE, LATER, MODELS, outputs, table

FILES = sorted(HERE.glob("*/*.surewood"))


def test_every_format_has_a_file_of_every_kind():
    assert {f.parent.name for f in FILES} == {f"format-{k}" for k in range(1, FORMAT + 1)}
    for folder in {f.parent for f in FILES}:
        lacking = LATER.get(int(folder.name.removeprefix("format-")), set())
        assert {f.stem for f in folder.glob("*.surewood")} >= set(MODELS) - lacking


def test_they_are_small():
    for folder in {f.parent for f in FILES}:
        assert sum(f.stat().st_size for f in folder.iterdir()) < 400_000


@pytest.mark.parametrize("path", FILES, ids=lambda f: f"{f.parent.name}-{f.stem}")
def test_old_models_say_what_they_said(path: Path):
    model = surewood.load(path)
    with np.load(path.with_name("expected.npz")) as expected:
        np.testing.assert_allclose(outputs(model), expected[path.stem], rtol=1e-9, atol=1e-12)
    assert type(model).__name__ == path.stem
    if hasattr(model, "explain"):
        assert len(model.explain(table()[0].iloc[:2])) == 2
