"""Sizes of a search that are reasonable for a sample."""

from surewood.cascade.sizes import MANY_CLASSES, settings_for


def test_fewer_svms_on_more_rows_within_limits():
    counts = [settings_for(n, 2)["study"]["max_svms"] for n in (10, 600, 1200, 100_000)]
    assert counts == [2000, 2000, 500, 30]


def test_many_classes_share_one_cascade():
    assert "multiclass" not in settings_for(600, MANY_CLASSES)
    assert settings_for(600, MANY_CLASSES + 1)["multiclass"] == "native"
