"""Building, changing or replacing a guarantee by hand."""

import dataclasses

import pytest

from surewood.bounds import Entry
from surewood.certify import Certificate, certify
from tests.promises.population import draw, memorising_forest


def test_a_guarantee_can_neither_be_built_nor_changed():
    entry = certify(memorising_forest(*draw(200, 0)), *draw(100, 1)).best
    with pytest.raises(ValueError, match="issue_guarantee only"):
        dataclasses.replace(entry, value=0.0)
    with pytest.raises(ValueError, match="issue_guarantee only"):
        Entry(method=entry.method, status="GUARANTEE", value=0.0, sample="holdout", n=9, delta=0.05)
    with pytest.raises(dataclasses.FrozenInstanceError):
        entry.value = 0.0


def test_a_certificate_cannot_hold_more_than_its_delta():
    entry = certify(memorising_forest(*draw(200, 0)), *draw(100, 1)).best
    with pytest.raises(ValueError, match="more than delta"):
        Certificate((entry, entry), (), "M", 0.05)
