"""The archive behind a model file: its card, its checksum, its signature and the sizes it declares.

Everything here reads names, headers and bytes; nothing rebuilds an object.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import math
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from surewood.parallel.free_memory import available_memory as _available_memory
from surewood.parallel.progress import stage
from surewood.persistence.errors import ModelFileError

CARD = "surewood.json"
FACTS = "facts.json"
_BLOCK = 1 << 20
#: A file that unpacks to more than this many times its size and to more than `_ALWAYS_FINE` bytes is refused.
_MAX_RATIO = 200
_ALWAYS_FINE = 1 << 28
#: Bytes at the start of an array that hold its header: NumPy reads no longer one.
_LONGEST_HEADER = 1 << 14
#: Bytes of memory per byte of a description in JSON, at most.
_TEXT_IN_MEMORY = 24
#: What reading a member of a damaged archive can raise: flipped bits in a deflated stream, or in a header
#: (another compression method, a mark of encryption, a length).
DAMAGE = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, MemoryError)


def read_card(path: str | Path) -> dict[str, Any]:
    """The facts beside the model: format, type, versions, checksum.

    Examples
    --------
    >>> from surewood import BinnedForestClassifier, persistence
    >>> model = BinnedForestClassifier(2).fit([[0.0], [1.0]], ["no", "yes"])
    >>> persistence.read_card(persistence.save(model, "small.surewood"))["format"] >= 1
    True
    """
    path = Path(path)
    if not path.is_file():
        raise ModelFileError(f"there is no model file {path}.")
    try:
        with zipfile.ZipFile(path) as archive:
            card: dict[str, Any] = json.loads(_small_member(archive, CARD))
    except PermissionError as error:
        raise ModelFileError(f"{path} may not be read: no permission.") from error
    except (*DAMAGE, KeyError, ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} is not a surewood model, or is cut short.") from error
    complete = isinstance(card, dict) and {"format", "surewood", "sha256"} <= set(card)
    if not complete or not isinstance(card["format"], int):
        raise ModelFileError(f"{path} is not a surewood model: its {CARD} is incomplete.")
    return card


def read_facts(path: str | Path) -> dict[str, Any]:
    """What was stored with the model by `save(..., facts=...)`; empty where nothing was.

    Examples
    --------
    >>> from surewood import PolySVC, persistence
    >>> model, facts = PolySVC().fit([[0.0], [1.0]], ["no", "yes"]), {"owner": "me"}
    >>> persistence.read_facts(persistence.save(model, "small.surewood", facts=facts))
    {'owner': 'me'}
    """
    read_card(path)
    try:
        with zipfile.ZipFile(path) as archive:
            facts = json.loads(_small_member(archive, FACTS))
    except KeyError:
        return {}
    except (*DAMAGE, ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} was altered or damaged after it was saved.") from error
    return facts if isinstance(facts, dict) else {}


def _small_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """A member of text, refused where it claims to be larger than any such text is."""
    if archive.getinfo(name).file_size > _ALWAYS_FINE:
        raise ValueError(f"{name} is too large")
    return archive.read(name)


def digest(path: Path, verbose: int = 0, starts: dict[str, bytes] | None = None) -> str:
    """SHA-256 over names and contents of all members but the card.

    The first bytes of arrays are put into `starts`, so that :func:`check_headers` need not unpack them again.
    """
    total = hashlib.sha256()
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {one.filename: one.file_size for one in archive.infolist() if one.filename != CARD}
            with stage(verbose, "writing checksum", sum(sizes.values())) as advance:
                for name in sorted(sizes):
                    total.update(f"{len(name)}:{name}".encode())
                    own = hashlib.sha256()
                    with archive.open(name) as member:
                        while block := member.read(_BLOCK):
                            if starts is not None and name.endswith(".npy"):
                                starts.setdefault(name, block[:_LONGEST_HEADER])
                            own.update(block)
                            advance(len(block))
                    total.update(own.digest())
    except (*DAMAGE, ValueError) as error:
        raise ModelFileError(f"{path} was altered or damaged after it was saved.") from error
    return total.hexdigest()


def signature(key: bytes | str, card: dict[str, Any]) -> str:
    """HMAC-SHA256 of a card, and through its checksum of the whole file, under a key."""
    secret = key.encode() if isinstance(key, str) else bytes(key)
    if not secret:
        raise ValueError("key must not be empty.")
    signed = {name: value for name, value in card.items() if name != "signature"}
    return hmac.new(secret, json.dumps(signed, sort_keys=True).encode(), hashlib.sha256).hexdigest()


def check_signature(path: Path, card: dict[str, Any], key: bytes | str) -> None:
    """Refuse a file that was not signed with this key."""
    found = card.get("signature")
    if not isinstance(found, str):
        raise ModelFileError(
            f"{path} is not signed, but a key was given; load it without key to trust it as it is."
        )
    if not hmac.compare_digest(found, signature(key, card)):
        raise ModelFileError(f"{path} was not signed with this key, or was altered since.")


def check_sizes(path: Path, *, mapped: bool = False) -> None:
    """Refuse a file that would unpack to more than it plausibly holds, or to more than fits into memory.

    Compares what the archive declares with the size of the file and with the memory at hand; reads nothing.
    Arrays that are `mapped` from the file need no memory.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {entry.filename: 0 for entry in archive.infolist()}
            for entry in archive.infolist():
                sizes[entry.filename] += entry.file_size
    except (*DAMAGE, ValueError) as error:
        raise ModelFileError(f"{path} was altered or damaged after it was saved.") from error
    total, packed = sum(sizes.values()), max(path.stat().st_size, 1)
    if total > _ALWAYS_FINE and total > _MAX_RATIO * packed:
        raise ModelFileError(
            f"{path} has {packed:,} bytes and would unpack to {total:,}, more than {_MAX_RATIO} times its "
            "size; no model does that."
        )
    text = sum(size for name, size in sizes.items() if not name.endswith(".npy"))
    needed = _TEXT_IN_MEMORY * text + (0 if mapped else total - text)
    free = _available_memory()
    if free is not None and needed > free:
        raise ModelFileError(f"{path} would need {needed:,} bytes of memory; {free:,} are available.")


def check_headers(path: Path, starts: dict[str, bytes]) -> None:
    """Refuse a file in which an array declares another size than it has, or holds objects.

    `starts` are the first bytes of every array, see :func:`digest`.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if entry.filename.endswith(".npy"):
                    _check_header(path, starts.get(entry.filename, b""), entry)
    except ModelFileError:
        raise
    except (*DAMAGE, ValueError, TypeError, OverflowError, SyntaxError) as error:
        raise ModelFileError(f"the model of {path} cannot be rebuilt: {error}") from error


def _check_header(path: Path, start: bytes, entry: zipfile.ZipInfo) -> None:
    """Whether an array's header and the length of its member agree."""
    member = io.BytesIO(start)
    version = np.lib.format.read_magic(member)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(member)
    body = entry.file_size - member.tell()
    declared = math.prod(shape) * dtype.itemsize
    if dtype.hasobject or any(side < 0 for side in shape) or declared != body:
        raise ModelFileError(
            f"the model of {path} cannot be rebuilt: array {entry.filename} declares {declared:,} bytes, not "
            f"the {body:,} it has."
        )
