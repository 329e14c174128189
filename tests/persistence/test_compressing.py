"""A compressed archive has the same entries."""

import zipfile

from surewood.persistence.compressing import deflate


def test_entries_and_their_bytes_survive(tmp_path):
    stored, target = tmp_path / "stored.zip", tmp_path / "small.zip"
    contents = {"schema.json": b"{}", "data.npy": bytes(3 << 20), "empty": b""}
    with zipfile.ZipFile(stored, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    deflate(stored, target)
    with zipfile.ZipFile(target) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == contents
    assert target.stat().st_size < stored.stat().st_size / 100
