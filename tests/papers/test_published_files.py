"""From published files to a checked table in the cache."""

import gzip
import urllib.error
from dataclasses import replace
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest

from papers.datasets import DataError, DatasetInfo, RawFiles, catalogue, data_folder, fetch
from papers.published_files import _download, _HttpsOnly, at_hand, build_frame, content_sha256, get, unpacked
from tests.papers.toys import published

ENTRIES = list(catalogue().values())


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


HEAD = 200
A = "https://example.org/"


@pytest.mark.needs_data
@pytest.mark.parametrize("name", [n for n, entry in catalogue().items() if entry.content])
def test_files_written_in_the_published_form_give_our_frame(name):
    folder, entry = data_folder(), catalogue()[name]
    if folder is None or not (folder / f"{name}.parquet").is_file():
        pytest.skip(f"SUREWOOD_DATA has no {name}.parquet")
    whole = pd.read_parquet(folder / f"{name}.parquet")
    wanted = whole.groupby("split", observed=True, sort=False).head(HEAD).reset_index(drop=True)
    files = published(entry.raw, wanted)
    found = build_frame(entry.raw, files.__getitem__, HEAD if entry.train_rows else None)
    assert found.columns.tolist() == wanted.columns.tolist()
    assert content_sha256(found) == content_sha256(wanted)
    for column in wanted:  # in a few rows all numbers of a column may be whole
        assert found[column].dtype.kind in (wanted[column].dtype.kind, "i")


def raw_of(*columns, **more):
    return RawFiles("delimited", {"all": (A + "toy.data",)}, columns, **more)


def built(raw, *contents, **more):
    return build_frame(raw, dict(zip(raw.all_addresses(), contents)).__getitem__, **more)


def test_blanks_before_between_and_after_the_numbers():
    frame = built(raw_of("target", "x1..x2", separator=" "), b"  6.0000  0.1 -1.0000 \n 5.0000 3  2 \n\n")
    assert frame["target"].tolist() == [6, 5]
    assert frame["target"].dtype == np.int8
    assert frame[["x1", "x2"]].to_numpy().tolist() == [[0.1, -1.0], [3.0, 2.0]]


def test_missing_values_comments_and_left_out_columns():
    raw = raw_of("-", "x", "kind", "target", unknown="?", comment="|")
    frame = built(raw, b"|a comment\nn1, 1, ?, no\nn2, ?, b, yes\n")
    assert frame.columns.tolist() == ["x", "kind", "target", "split"]
    assert frame["x"].isna().tolist() == [False, True]
    assert frame["kind"].isna().tolist() == [True, False]
    dropped = built(
        raw_of("-", "x", "kind", "target", unknown="?", drop_unknown=True), b"n,1,?,no\nm,2,b,yes\n"
    )
    assert dropped["target"].tolist() == ["yes"]


def test_the_text_na_is_no_missing_value():
    assert built(raw_of("kind", "target"), b"NA,a\nnull,b\n")["kind"].tolist() == ["NA", "null"]


def test_values_are_recoded_and_the_file_may_know_the_part():
    raw = raw_of(
        "split", "x", "target", recode={"split": {"0": "train", "1": "test"}, "target": {"0": 1, "1": 2}}
    )
    frame = built(raw, b"0,5,0\n1,6,1\n", n_train=1)
    assert frame["split"].tolist() == ["train", "test"]
    assert frame["target"].tolist() == [1, 2]


def test_the_first_rows_of_undivided_files_are_the_training_part():
    frame = built(raw_of("x", "target"), b"1,a\n2,b\n3,a\n", n_train=2)
    assert frame["split"].tolist() == ["train", "train", "test"]


def test_sparse_rows_are_filled_with_zeros_and_single_precision_is_kept():
    raw = RawFiles(
        "libsvm", {"train": (A + "a",), "test": (A + "a.t",)}, ("f0..f2", "target"), dtype="float32"
    )
    frame = built(raw, b"+1 1:0.1 3:2\n", b"-1 2:1\n")
    assert frame["split"].tolist() == ["train", "test"]
    assert frame[["f0", "f1", "f2"]].to_numpy().tolist() == [[np.float32(0.1), 0, 2], [0, 1, 0]]
    assert [str(frame[name].dtype) for name in ("f0", "f1", "target")] == ["float32", "int8", "int8"]


def test_compressed_files_are_known_by_their_first_bytes():
    packed = gzip.compress(b"1,a\n")
    assert unpacked(packed, A + "x.gz") == b"1,a\n" == unpacked(b"1,a\n", A + "x.gz")
    with pytest.raises(DataError, match=r"x\.gz cannot be unpacked"):
        unpacked(packed[:-6], A + "x.gz")


def test_a_file_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr("papers.published_files.MOST_BYTES_UNPACKED", 3)
    with pytest.raises(DataError, match="larger than 1 GiB"):
        unpacked(gzip.compress(b"1234"), A + "x.gz")


def test_a_cut_idx_file_is_refused():
    raw = RawFiles("idx", {"all": (A + "images", A + "labels")}, ("p0..p3", "target"))
    image = b"\0\0\x08\x03" + b"\0\0\0\x01" + b"\0\0\0\x02" * 2 + b"abcd"
    label = b"\0\0\x08\x01\0\0\0\x01\x07"
    assert built(raw, image, label)["target"].tolist() == [7]
    with pytest.raises(DataError, match="cut short"):
        built(raw, image[:-1], label)


MOST_CELLS = 10_000_000  # larger sets take seconds


@pytest.fixture
def frame():
    return pd.DataFrame(
        {"x": [0.0, 1.5, np.nan], "n": [3, 1, 2], "kind": ["a", None, "ä"], "target": ["p", "q", "p"]}
    )


def test_order_of_rows_and_types_do_not_matter(frame, tmp_path):
    wanted = content_sha256(frame)
    other = frame.iloc[[2, 0, 1]].astype({"x": "float32", "n": "Int8", "kind": "category"})
    assert content_sha256(other) == wanted
    frame.to_parquet(tmp_path / "a.parquet", compression="gzip")
    assert content_sha256(pd.read_parquet(tmp_path / "a.parquet")) == wanted
    assert content_sha256(frame.assign(x=[-0.0, 1.5, np.nan])) == wanted


@pytest.mark.parametrize(
    "change",
    [
        {"n": [3, 1, 3]},
        {"x": [0.0, 1.5, 0.0]},
        {"kind": ["a", "", "ä"]},
        {"target": ["p", "p", "q"]},
        {"n": ["3", "1", "2"]},
    ],
)
def test_values_and_kinds_matter(frame, change):
    assert content_sha256(frame.assign(**change)) != content_sha256(frame)


def test_names_and_the_number_of_rows_matter(frame):
    assert content_sha256(frame.rename(columns={"n": "m"})) != content_sha256(frame)
    assert content_sha256(pd.concat([frame, frame.iloc[:1]])) != content_sha256(frame)


def test_a_block_boundary_changes_nothing(monkeypatch, frame):
    wanted = content_sha256(frame)
    monkeypatch.setattr("papers.published_files._ROWS_PER_BLOCK", 2)
    assert content_sha256(frame) == wanted


@pytest.mark.needs_data
@pytest.mark.parametrize("name", [n for n, entry in catalogue().items() if entry.content])
def test_the_catalogue_has_the_checksum_of_the_files(name):
    folder, entry = data_folder(), catalogue()[name]
    if folder is None or not (folder / f"{name}.parquet").is_file():
        pytest.skip(f"SUREWOOD_DATA has no {name}.parquet")
    if entry.rows * entry.columns > MOST_CELLS:
        pytest.skip(f"{name} is large")
    assert content_sha256(pd.read_parquet(folder / f"{name}.parquet")) == entry.content


RAW = RawFiles("delimited", {"all": ("https://example.org/toy.data.gz",)}, ("x", "target"))
FRAME = pd.DataFrame({"x": [1, 2, 3], "target": ["a", "b", "a"], "split": "all"})
ENTRY = DatasetInfo("toy", "A toy", 3, 1, 2, "none", content=content_sha256(FRAME), raw=RAW)


@pytest.fixture
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


@pytest.mark.parametrize("name", ["protein", "sensit"])
def test_files_of_sets_that_we_never_had_are_read_from_a_generated_twin(folders, name):
    """The catalogue's columns and files, fewer rows: the shape is all that can be checked."""
    rng, entry = np.random.default_rng(0), catalogue()[name]
    values = rng.normal(size=(30, entry.columns)).astype("float32") * (rng.random((30, entry.columns)) < 0.3)
    twin = pd.DataFrame(values, columns=entry.raw.names()[:-1])
    twin = twin.assign(target=np.arange(30, dtype="int8") % 3 + 1, split=["train"] * 20 + ["test"] * 10)
    for address, content in published(entry.raw, twin).items():
        (folders / address.rpartition("/")[2]).write_bytes(content)
    found = pd.read_parquet(get(replace(entry, rows=30, train_rows=20, test_rows=10), folders))
    np.testing.assert_allclose(found[entry.raw.names()], twin[entry.raw.names()], rtol=1e-6)
    assert found["split"].tolist() == twin["split"].tolist()
    with pytest.raises(DataError, match="30 rows"):
        get(entry, folders)


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


def test_a_download_ends_in_the_cache(folders, monkeypatch):
    monkeypatch.setattr("urllib.request.build_opener", lambda *handlers: Answers(b"1,a\n2,b\n3,a\n"))
    told = []
    assert get(ENTRY, say=told.append).is_file()
    assert told == ["https://example.org/toy.data.gz"]


def test_no_network_is_one_sentence_with_the_command_to_run(folders, monkeypatch):
    failure = urllib.error.URLError("no route to host")
    monkeypatch.setattr("urllib.request.build_opener", lambda *handlers: Answers(failure))
    with pytest.raises(DataError) as caught:
        get(ENTRY)
    assert str(caught.value) == (
        "example.org did not give toy.data.gz (no route to host): put https://example.org/toy.data.gz into a "
        "folder and run `python -m papers get toy --from FOLDER`."
    )


def test_only_https_and_only_files_of_a_reasonable_size(monkeypatch):
    with pytest.raises(urllib.error.URLError, match="not an https address"):
        _download(Answers(b""), "http://example.org/a")
    with pytest.raises(urllib.error.URLError, match="not an https address"):
        _HttpsOnly().redirect_request(None, None, 302, "moved", {}, "http://example.org/a")
    monkeypatch.setattr("papers.published_files.MOST_BYTES", 2)
    with pytest.raises(DataError, match="is larger than"):
        _download(Answers(b"123"), "https://example.org/a")
