"""Plain text files read block by block."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from surewood.tables import DataError, read_table
from surewood.tables.reading import delimited, streaming
from surewood.tables.reading.delimited import read_delimited
from surewood.tables.reading.streaming import PlainText, read_stream

pytestmark = pytest.mark.filterwarnings("ignore:.*above the header")
FILES = Path(__file__).parents[1] / "messy" / "files"
TEXTS = sorted(path for path in FILES.iterdir() if path.suffix in (".csv", ".tsv", ".txt"))


def same(streamed, whole):
    pd.testing.assert_frame_equal(streamed.frame, whole.frame)
    assert (streamed.separator, streamed.encoding) == (whole.separator, whole.encoding)
    assert (streamed.first_line, streamed.lines, whole.lines) == (whole.first_line, None, None)


def outcome(read):
    """What was read, or the sentence by which it was refused."""
    try:
        return read(), ""
    except DataError as error:
        return None, str(error)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
@pytest.mark.parametrize("block", [200, 1 << 22])
def test_a_file_gives_the_same_block_by_block_and_as_a_whole(path, block, monkeypatch):
    monkeypatch.setattr(delimited, "_BLOCK", block)
    streamed, sentence = outcome(lambda: read_stream(path))
    if sentence:
        assert sentence == outcome(lambda: read_table(path, encoding="utf-8"))[1]
    elif streamed is not None:
        same(streamed, read_delimited(path.read_bytes(), str(path)))


def test_most_files_are_plain():
    names = {path.name for path in TEXTS if not path.name.startswith("bad_") and read_stream(path) is None}
    assert names == {
        *("blank_lines.csv", "carriage_returns.csv", "inch_mark.csv", "latin1.csv", "line_breaks.csv"),
        *("utf16.csv", "white_space.txt", "drawn.txt", "r_table.txt", "typographic_quotes.csv"),
    }


def test_random_bytes_give_the_same_both_ways(tmp_path):
    """Whatever is accepted as plain is what the whole text gives."""
    rng = np.random.default_rng(0)
    path, n_plain = tmp_path / "t.csv", 0
    rows = [
        b"a,1\n",
        b"2,3\r\n",
        b'"a,b",2\n',
        "\u00e9,4\n".encode(),
        b"?,\n",
        b'5",\n',
        b'"x"y,\n',
        b"e,1",
        b"\n",
    ]
    rows += [b'"x\ny",3\n', b"\xe9,4\n", b"a,1\r", b"1,2,3\n", b'"a,1\n', b'a,1"\n', b"1\n", b"\r\n"]
    chance = np.array([20, 10, 10, 10, 5, 2, 2, 1, 2, *([1] * 8)])
    for _ in range(400):
        body = b"".join(rng.choice(rows, size=rng.integers(1, 9), p=chance / chance.sum()).tolist())
        path.write_bytes(b"x,y\n1,2\n" + body)
        whole, _ = outcome(lambda: read_delimited(path.read_bytes(), str(path)))
        streamed = read_stream(path)
        if streamed is not None:
            n_plain += 1
            same(streamed, whole)
    assert 100 < n_plain < 350


def looked_at(raw, size):
    text = PlainText()
    for start in range(0, len(raw), size):
        text.look_at(raw[start : start + size])
    return text


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_what_is_counted_does_not_depend_on_the_blocks(size, monkeypatch):
    monkeypatch.setattr(streaming, "_CHUNK", 4)
    text = looked_at('gr\u00f6\u00dfe,b\r\n"1",2\r\n\r\n'.encode(), size)
    assert (text.is_plain, text.n_quotes, text.n_lines) == (True, 2, 2)
    assert text.has_a_line_each(2)


@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize("raw", [b"a\r1\n", b"gr\xf6\xdfe\n", b"a\nb\xc3"])
def test_what_is_not_plain(raw, size):
    assert not looked_at(raw, size).has_a_line_each(2)


def test_marks_and_long_headers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\n1,2\n")
    assert read_stream(path).frame.columns.tolist() == ["a", "b"]
    path.write_bytes(b",".join(b"name %d" % k for k in range(20_000)) + b"\n" + b",".join([b"1"] * 20_000))
    assert read_stream(path) is None
    assert read_table(path).shape == (1, 20_000)
    assert read_stream(tmp_path / "absent.csv") is None
