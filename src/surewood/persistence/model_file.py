"""Save and load fitted models without pickle, in one flat file.

=======  ==================================================================================================
prefix   128 bytes: `surewood`, format, whether compressed, position and lengths of the header, a SHA-256 of
         all that, the header and the arrays, and an HMAC of all before it where the file has a key
arrays   bytes of one after the other; each starts at a multiple of 64, so that it can be mapped, or is
         deflated in a compressed file
header   JSON: what made the file, the facts of its maker, dtype, shape, order and stored length of every
         array, and the model as a tree of nodes (:mod:`surewood.persistence.nodes`)
=======  ==================================================================================================

Loading compares every declared size with the length of the file before it reads, then checksum and
signature before it builds anything; nodes and classes check themselves, and the model is tried out.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

import surewood
from surewood._text import escaped, first_line
from surewood.parallel.progress import stage
from surewood.persistence.leftovers import partial
from surewood.persistence.nodes import Reader, Writer, plain_dtype
from surewood.persistence.trial import flaw_of
from surewood.tables.workspace import available_memory as _available_memory

#: Raised by one when an older surewood could misread a file of the newer one.
FORMAT = 3
_MAGIC = b"surewood"
_PREFIX = struct.Struct("<8sIIQQQ32s32s")
_SIGNED, _HASHED = _PREFIX.size - 32, _PREFIX.size - 64  # bytes of the prefix that HMAC and SHA-256 cover
_START = 128  # of the first array
_ALIGNMENT = 64
_LEVEL = 4  # a forest comes out 7 % larger than at zlib's usual 6, in a quarter of the time
_LONGEST_HEADER = 16 << 20
#: Lists and objects of a header: one takes a hundred times the memory of its brackets.
_MOST_NESTED = 1 << 20
#: Bytes of memory per byte of JSON.
_TEXT_IN_MEMORY = 24
#: Arrays that unpack to more than this many times the size of the file and to more than `_ALWAYS_FINE` bytes
#: are refused.
_MAX_RATIO = 200
_ALWAYS_FINE = 1 << 27
_MOST_ARRAYS = 100_000


class ModelFileError(ValueError):
    """A file that is not a model, is damaged, of another format, too large, or holds what no model has.

    Examples
    --------
    >>> import surewood
    >>> from surewood.persistence import ModelFileError
    >>> try:
    ...     surewood.load("no-such-file")
    ... except ModelFileError as error:
    ...     print(error)
    there is no model file no-such-file.
    """


def save(
    model: Any,
    path: str | Path,
    *,
    compress: bool = True,
    facts: dict[str, Any] | None = None,
    key: bytes | str | None = None,
    verbose: int = 0,
) -> Path:
    """Write a fitted model, all or nothing.

    Parameters
    ----------
    model : estimator
        A fitted estimator of surewood, alone or in a pipeline with preparation and linear models of
        scikit-learn; others are refused by name.
    path : str or Path
        The file; an existing one is replaced only when the new one is complete.
    compress : bool, default=True
        Deflate the arrays: smaller files, slower to write. Only uncompressed files can be mapped, see
        :func:`load`.
    facts : dict, optional
        Plain values to store with the model, see :func:`surewood.persistence.read_facts`.
    key : bytes or str, optional
        Sign the file with this secret (HMAC-SHA256). Whoever loads it with the same key knows that it was
        written by someone who has the key and was not changed since.
    verbose : int, default=0
        1 or more shows progress.

    Examples
    --------
    >>> import tempfile, surewood
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = surewood.BinnedForestClassifier(10, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = surewood.load(surewood.save(model, f"{folder}/iris.surewood"))
    >>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    check_is_fitted(model)
    secret = None if key is None else _secret(key)
    path, writer, name = Path(path), Writer(), type(model).__name__
    header: dict[str, Any] = {
        "model": name,
        "surewood": surewood.__version__,
        "scikit-learn": sklearn.__version__,
        "facts": facts,
        "tree": writer.node(model, name),
        "arrays": [],
    }
    n_bytes = sum(array.nbytes for array in writer.arrays)
    with partial(path) as unfinished:
        with unfinished.open("wb") as file, stage(verbose, "saving the model", max(n_bytes, 1)) as advance:
            file.write(bytes(_START))
            digest = hashlib.sha256()
            for array in writer.arrays:
                order = "C" if array.flags.c_contiguous else "F"
                raw = (array if order == "C" else array.T).reshape(-1).view(np.uint8).data
                packed = zlib.compress(raw, _LEVEL) if compress else raw
                stored = packed if len(packed) < len(raw) else raw
                header["arrays"].append([array.dtype.str, list(array.shape), order, len(stored)])
                for block in (stored, bytes(0 if compress else -len(stored) % _ALIGNMENT)):
                    file.write(block)
                    digest.update(block)
                advance(len(raw))
            text = json.dumps(header, separators=(",", ":")).encode()
            stored = zlib.compress(text, _LEVEL) if compress else text
            if len(text) > _LONGEST_HEADER:
                raise ValueError(f"a header of {len(text):,} bytes is longer than a model file may have.")
            layout = (_MAGIC, FORMAT, int(compress), file.tell(), len(stored), len(text))
            file.write(stored)
            digest.update(stored)
            digest.update(_PREFIX.pack(*layout, b"", b"")[:_HASHED])
            prefix = _PREFIX.pack(*layout, digest.digest(), b"")
            file.seek(0)
            file.write(prefix if secret is None else prefix[:_SIGNED] + _signature(secret, prefix))
        os.replace(unfinished, path)
    return path


def load(path: str | Path, *, mmap_mode: str | None = None, key: bytes | str | None = None) -> Any:
    """Read a model written by :func:`save`.

    Parameters
    ----------
    path : str or Path
    mmap_mode : {None, "r", "c"}, default=None
        Map arrays from the file instead of reading them: a large model opens quickly, takes memory only
        as it is used, and is shared by all processes that map it. "r" is read-only, with "c" changes stay in
        memory. The file must stay where it is; a compressed one, which cannot be mapped, is read.
    key : bytes or str, optional
        Refuse the file unless it was saved with this key.

    Examples
    --------
    >>> import tempfile
    >>> import surewood
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> path = surewood.save(surewood.PolySVC().fit(X, y), tempfile.mkdtemp() + "/wine.surewood")
    >>> surewood.load(path).score(X, y) > 0.9
    True
    """
    if mmap_mode not in (None, "r", "c"):
        raise ValueError(f"mmap_mode must be None, 'r' or 'c', got {mmap_mode!r}.")
    with _opened(Path(path)) as (file, prefix):
        _check_signature(path, prefix, key)
        if mmap_mode is not None and prefix.compressed:
            mmap_mode = None
        stored, header = _read_header(path, file, prefix)
        try:
            places = _array_places(header, prefix)
            n_bytes = 0 if mmap_mode else sum(place.n_bytes for place in places)
            needed, free = _TEXT_IN_MEMORY * prefix.header_length + n_bytes, _available_memory()
            if free is not None and needed > free:
                raise ModelFileError(f"{path} would need {needed:,} bytes of memory; {free:,} are available.")
            file.seek(_START)
            digest = hashlib.sha256()
            if mmap_mode is None:
                arrays = [_read_array(file, place, prefix, digest) for place in places]
            else:
                mapped = np.asarray(np.memmap(file, np.uint8, mode=mmap_mode))  # type: ignore[call-overload]
                digest.update(mapped[_START : prefix.header_at].data)
                arrays = [place.shaped(mapped[place.start : place.start + place.n_bytes]) for place in places]
        except ModelFileError:
            raise
        except _NO_MODEL as error:
            raise ModelFileError(
                f"{path} was altered or damaged after it was saved: {_in_words(error)}."
            ) from error
        digest.update(stored)
        digest.update(prefix.packed[:_HASHED])
        if not hmac.compare_digest(digest.digest(), prefix.sha256):
            raise ModelFileError(f"{path} was altered or damaged after it was saved; its checksum differs.")
    try:
        model = Reader(arrays).model(header["tree"])
        flaw = flaw_of(model)
    except _NO_MODEL as error:
        raise ModelFileError(f"the model of {path} cannot be rebuilt: {_in_words(error)}") from error
    if flaw is not None:
        raise ModelFileError(f"the model of {path} cannot be used: {flaw}.")
    return model


def read_card(path: str | Path) -> dict[str, Any]:
    """What a model file is: format, type, versions, checksum.

    Examples
    --------
    >>> from surewood import BinnedForestClassifier, persistence
    >>> model = BinnedForestClassifier(2).fit([[0.0], [1.0]], ["no", "yes"])
    >>> persistence.read_card(persistence.save(model, "small.surewood"))["model"]
    'BinnedForestClassifier'
    """
    with _opened(Path(path)) as (file, prefix):
        _, header = _read_header(path, file, prefix)
    about = {name: header.get(name) for name in ("model", "surewood", "scikit-learn")}
    return {"format": prefix.format, **about, "sha256": prefix.sha256.hex()}


def read_facts(path: str | Path) -> dict[str, Any]:
    """What was stored with the model by `save(..., facts=...)`; empty where nothing was.

    Examples
    --------
    >>> from surewood import PolySVC, persistence
    >>> model, facts = PolySVC().fit([[0.0], [1.0]], ["no", "yes"]), {"owner": "me"}
    >>> persistence.read_facts(persistence.save(model, "small.surewood", facts=facts))
    {'owner': 'me'}
    """
    with _opened(Path(path)) as (file, prefix):
        _, header = _read_header(path, file, prefix)
    facts = header.get("facts")
    return facts if isinstance(facts, dict) else {}


#: What reading and rebuilding a file from a stranger can raise.
_NO_MODEL = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, OSError, RuntimeError,
    TypeError, ValueError, zlib.error,
)  # fmt: skip


class _Prefix(NamedTuple):
    magic: bytes
    format: int
    compressed: int
    header_at: int
    header_stored: int
    header_length: int
    sha256: bytes
    hmac: bytes

    @property
    def packed(self) -> bytes:
        return _PREFIX.pack(*self)


class _Place(NamedTuple):
    """Where an array is in the file, and what it is."""

    start: int
    stored: int
    n_bytes: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    order: str

    def shaped(self, raw: NDArray[np.uint8]) -> NDArray[Any]:
        """The array of these bytes, if they are values of its dtype."""
        if self.dtype.kind == "b" and raw.size and raw.max() > 1:
            raise ValueError("an array of truth values has others")
        if self.dtype.kind == "U" and raw.size and raw.view(np.uint32).max() > 0x10FFFF:
            raise ValueError("an array of text has no characters")
        flat = raw.view(self.dtype)
        return flat.reshape(self.shape) if self.order == "C" else flat.reshape(self.shape[::-1]).T


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, _Prefix]]:
    """A model file and its prefix, the lengths in it compared with that of the file."""
    if not path.is_file():
        raise ModelFileError(f"there is no model file {path}.")
    try:
        file = path.open("rb")
    except PermissionError as error:
        raise ModelFileError(f"{path} may not be read: no permission.") from error
    with file:
        start = file.read(_PREFIX.size)
        if len(start) < _PREFIX.size or not start.startswith(_MAGIC):
            raise ModelFileError(f"{path} is not a surewood model, or is cut short.")
        prefix = _Prefix(*_PREFIX.unpack(start))
        if prefix.format != FORMAT:
            raise ModelFileError(
                f"{path} has format {prefix.format}; surewood {surewood.__version__} reads format {FORMAT}."
            )
        if prefix.header_at + prefix.header_stored != os.fstat(file.fileno()).st_size:
            raise ModelFileError(f"{path} is not a surewood model, or is cut short.")
        if prefix.header_length > _LONGEST_HEADER:
            raise ModelFileError(
                f"{path} has a header of {prefix.header_length:,} bytes; no model does that."
            )
        yield file, prefix


def _read_header(path: str | Path, file: BinaryIO, prefix: _Prefix) -> tuple[bytes, dict[str, Any]]:
    """The header, as it is stored and as it reads."""
    try:
        file.seek(prefix.header_at)
        stored = file.read(min(prefix.header_stored, _LONGEST_HEADER))
        text = _unpacked(stored, prefix.header_length) if prefix.compressed else stored
        if text.count(b"[") + text.count(b"{") > _MOST_NESTED:
            raise ModelFileError(f"{path} has more than {_MOST_NESTED:,} lists and objects; no model does.")
        header = json.loads(text) if len(text) == prefix.header_length else None
    except ModelFileError:
        raise
    except _NO_MODEL as error:
        raise ModelFileError(f"{path} was altered or damaged after it was saved.") from error
    if not isinstance(header, dict):
        raise ModelFileError(f"{path} was altered or damaged after it was saved.")
    return stored, header


def _array_places(header: dict[str, Any], prefix: _Prefix) -> list[_Place]:
    """Where every array is, all of them together filling the file from the prefix to the header."""
    places, start = [], _START
    if len(header["arrays"]) > _MOST_ARRAYS:
        raise ValueError(f"it has more than {_MOST_ARRAYS:,} arrays")
    for dtype, shape, order, stored in header["arrays"]:
        # The product of sides without these limits would take minutes.
        whole = all(type(side) is int and 0 <= side < 1 << 64 for side in (*shape, stored))
        if not whole or len(shape) > 32 or order not in ("C", "F"):
            raise ValueError("an array has no shape")
        n_values, plain = math.prod(shape), plain_dtype(dtype)
        place = _Place(start, stored, n_values * plain.itemsize, plain, tuple(shape), order)
        if max(shape, default=0) > max(n_values, 1 << 16):
            raise ValueError("an array has no shape")
        if stored > place.n_bytes or (stored < place.n_bytes and not prefix.compressed):
            raise ValueError(f"an array declares {place.n_bytes:,} bytes, not the {stored:,} that it has")
        places.append(place)
        start += stored if prefix.compressed else stored + -stored % _ALIGNMENT
    if start != prefix.header_at:
        raise ValueError(f"its arrays end at byte {start:,}, not {prefix.header_at:,}")
    total, packed = sum(place.n_bytes for place in places), prefix.header_at
    if total > max(_ALWAYS_FINE, _MAX_RATIO * packed):
        raise ValueError(
            f"it has {packed:,} bytes and would unpack to {total:,}, more than {_MAX_RATIO} times its size; "
            "no model does that"
        )
    return places


def _read_array(file: BinaryIO, place: _Place, prefix: _Prefix, digest: Any) -> NDArray[Any]:
    """The array that begins where the file is read."""
    if place.stored == place.n_bytes:
        raw = np.empty(place.n_bytes, dtype=np.uint8)
        file.readinto(raw.data)  # type: ignore[attr-defined]
        digest.update(raw)
        digest.update(file.read(0 if prefix.compressed else -place.stored % _ALIGNMENT))
    else:
        stored = file.read(place.stored)
        digest.update(stored)
        raw = np.frombuffer(bytearray(_unpacked(stored, place.n_bytes)), dtype=np.uint8)
    return place.shaped(raw)


def _in_words(error: Exception) -> str:
    """What an error says, short and without control characters: it may repeat what the file holds."""
    return escaped(first_line(error))


def _unpacked(stored: bytes, length: int) -> bytes:
    """What was deflated, if it has this length."""
    raw = zlib.decompressobj().decompress(stored, length) if length else b""
    if len(raw) != length:
        raise ValueError("what it unpacks to is cut short")
    return raw


def _secret(key: bytes | str) -> bytes:
    secret = key.encode() if isinstance(key, str) else bytes(key)
    if not secret:
        raise ValueError("key must not be empty.")
    return secret


def _signature(secret: bytes, prefix: bytes) -> bytes:
    """HMAC-SHA256 of a prefix, and through its checksum of the whole file."""
    return hmac.new(secret, prefix[:_SIGNED], hashlib.sha256).digest()


def _check_signature(path: str | Path, prefix: _Prefix, key: bytes | str | None) -> None:
    """Refuse a file that was not signed with this key, if one is given."""
    if key is None:
        return
    if prefix.hmac == bytes(32):
        raise ModelFileError(
            f"{path} is not signed, but a key was given; load it without key to trust it as it is."
        )
    if not hmac.compare_digest(prefix.hmac, _signature(_secret(key), prefix.packed)):
        raise ModelFileError(f"{path} was not signed with this key, or was altered since.")
