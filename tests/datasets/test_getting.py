"""``surewood datasets get``: files from a folder or from the network, checked, into the cache."""

import urllib.error
from dataclasses import replace

import pandas as pd
import pytest

from surewood.datasets import DataError, info
from surewood.datasets.built_in import DatasetInfo
from surewood.datasets.content import content_sha256
from surewood.datasets.getting import _download, _HttpsOnly, at_hand, get
from surewood.datasets.raw_files import RawFiles
from surewood.datasets.sources import fetch

RAW = RawFiles("delimited", {"all": ("https://example.org/toy.data.gz",)}, ("x", "target"))
FRAME = pd.DataFrame({"x": [1, 2, 3], "target": ["a", "b", "a"], "split": "all"})
ENTRY = DatasetInfo("toy", "A toy", 3, 1, 2, "none", content=content_sha256(FRAME), raw=RAW)


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.delenv("SUREWOOD_DATA", raising=False)
    monkeypatch.setenv("SUREWOOD_CACHE", str(tmp_path / "cache"))
    (tmp_path / "raw").mkdir()
    return tmp_path / "raw"


class Answers:
    """An opener that gives these bytes, or raises."""

    def __init__(self, answer):
        self.answer = answer

    def open(self, address, timeout):
        assert timeout > 0
        if isinstance(self.answer, Exception):
            raise self.answer
        return self

    def read(self, most):
        return self.answer[:most]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


def test_files_of_a_folder_become_a_checked_file_in_the_cache(folders):
    (folders / "toy.data").write_text("1,a\n2,b\n3,a\n")  # unpacked by the browser
    path = get(ENTRY, folders)
    assert content_sha256(pd.read_parquet(path)) == ENTRY.content
    assert fetch(ENTRY)[1] == "cache"
    assert at_hand(ENTRY) == "cache"
    assert at_hand(replace(ENTRY, content="of another copy")) is None


def test_a_file_may_keep_the_name_that_its_address_has(folders):
    raw = replace(RAW, addresses={"all": ("https://example.org/a%20toy.data",)})
    (folders / "a%20toy.data").write_text("1,a\n2,b\n3,a\n")
    assert get(replace(ENTRY, raw=raw), folders).is_file()


def test_a_file_that_is_not_there_is_named_with_its_address(folders):
    with pytest.raises(
        DataError, match=r"has no file 'toy.data.gz'; download it from https://example.org/toy"
    ):
        get(ENTRY, folders)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("1,a\n2,b\n4,a\n", "counts agree, but some values differ"),
        ("1,a\n2,b\n", "it has 2 rows"),
        ("<html>\n1,2,3,4\n", "the files of toy do not have the expected form"),
        ("", "it has 0 rows"),
    ],
)
def test_other_content_is_refused_and_nothing_is_kept(folders, content, words):
    (folders / "toy.data.gz").write_text(content)
    with pytest.raises(DataError, match=words):
        get(ENTRY, folders)
    assert not (folders.parent / "cache").exists()


def test_a_file_of_another_form_is_one_sentence(folders):
    (folders / "toy.data.gz").write_text("<html>404</html>")
    entry = replace(ENTRY, raw=replace(RAW, form="libsvm"))
    with pytest.raises(DataError, match="the files of toy do not have the expected form"):
        get(entry, folders)


def test_a_download_ends_in_the_cache(monkeypatch):
    monkeypatch.setattr("urllib.request.build_opener", lambda *handlers: Answers(b"1,a\n2,b\n3,a\n"))
    told = []
    assert get(ENTRY, say=told.append).is_file()
    assert told == ["https://example.org/toy.data.gz"]


def test_no_network_is_one_sentence_with_the_command_to_run(monkeypatch):
    failure = urllib.error.URLError("no route to host")
    monkeypatch.setattr("urllib.request.build_opener", lambda *handlers: Answers(failure))
    with pytest.raises(DataError) as caught:
        get(ENTRY)
    assert str(caught.value) == (
        "example.org did not give toy.data.gz (no route to host): put https://example.org/toy.data.gz into a "
        "folder and run `surewood datasets get toy --from FOLDER`."
    )


def test_only_https_and_only_files_of_a_reasonable_size(monkeypatch):
    with pytest.raises(urllib.error.URLError, match="not an https address"):
        _download(Answers(b""), "http://example.org/a")
    with pytest.raises(urllib.error.URLError, match="not an https address"):
        _HttpsOnly().redirect_request(None, None, 302, "moved", {}, "http://example.org/a")
    monkeypatch.setattr("surewood.datasets.getting.MOST_BYTES", 2)
    with pytest.raises(DataError, match="is larger than"):
        _download(Answers(b"123"), "https://example.org/a")


def test_a_bundled_set_needs_no_files():
    with pytest.raises(DataError, match="wine comes with scikit-learn"):
        get(info("wine"))
    assert at_hand(info("wine")) == "scikit-learn"
