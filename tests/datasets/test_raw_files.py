"""The addresses of the catalogue, and how columns and file names are written there."""

from urllib.parse import urlsplit

import pytest

from surewood.datasets import catalogue
from surewood.datasets.raw_files import RawFiles

ENTRIES = [entry for entry in catalogue().values() if not entry.bundled]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_set_that_is_not_bundled_has_its_published_files(entry):
    assert entry.raw is not None
    addresses = entry.raw.all_addresses()
    assert len(addresses) == len(set(addresses)) > 0
    assert all(urlsplit(address).scheme == "https" for address in addresses)
    assert set(entry.raw.addresses) in ({"all"}, {"train", "test"})


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_columns_are_as_many_as_the_catalogue_says(entry):
    names = entry.raw.names()
    if entry.raw.form != "har":  # its archive has the names
        features = [name for name in names if name not in ("-", "split", "target")]
        assert len(features) == len(set(features)) == entry.columns
        assert names.count("target") == 1


def test_a_set_that_we_have_can_be_checked():
    assert all(entry.content for entry in ENTRIES if entry.sha256)


def test_file_names_do_not_clash():
    names = [RawFiles.file_name(a) for entry in ENTRIES for a in entry.raw.all_addresses()]
    assert len(names) == len(set(names))


def test_the_parts_stand_beside_the_other_keys_in_the_catalogue():
    raw = RawFiles.from_toml({"form": "libsvm", "train": ["https://a/b"], "columns": ["x", "target"]})
    assert (raw.addresses, raw.columns) == ({"train": ("https://a/b",)}, ("x", "target"))
    with pytest.raises(TypeError):
        RawFiles.from_toml({"form": "libsvm", "trian": []})
