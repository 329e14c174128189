"""Save and load fitted models without pickle: nothing in a model file can run code.

A model file is a zip archive written by skops (a description of the object and its arrays) with two more
members: ``facts.json``, whatever its maker wants to remember (the command line: data, certificate), and
``surewood.json``: format version, versions of the libraries, and a SHA-256 of all other members.
Loading checks, in this order: that it is such an archive, its format version, its checksum, and that every
type in it is known.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import os
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import surewood
from surewood.parallel.progress import stage
from surewood.persistence.compressing import deflate
from surewood.persistence.renamed_types import with_new_names

#: Raised by one when an older surewood could misread a file of the newer one.
FORMAT = 2
_CARD = "surewood.json"
_FACTS = "facts.json"
_BLOCK = 1 << 20
#: Types of scikit-learn that skops leaves to the reader's judgement and that only hold arrays.
_ARRAY_HOLDERS = frozenset({"sklearn.tree._tree.Tree"})
#: What reading a member of a damaged archive can raise: flipped bits in a deflated stream, or in a header
#: (another compression method, a mark of encryption, a length).
_DAMAGE = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError)


class ModelFileError(ValueError):
    """A file that is not a model, is damaged, is too new, or holds a type that is not trusted."""


def save(
    model: Any,
    path: str | Path,
    *,
    compress: bool = True,
    facts: dict[str, Any] | None = None,
    verbose: int = 0,
) -> Path:
    """Write a fitted model, all or nothing.

    Parameters
    ----------
    model : estimator
        A fitted estimator of surewood or scikit-learn, a pipeline of them for instance.
    path : str or Path
        The file; an existing one is replaced only when the new one is complete.
    compress : bool, default=True
        Deflate the arrays: smaller files, slower to write. Only uncompressed files can be mapped, see
        :func:`load`.
    facts : dict, optional
        Plain values to remember with the model, see :func:`read_facts`.
    verbose : int, default=0
        From 1 on a progress display.

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
    # Here, so that a program that only names the errors of this module does not wait for these.
    import sklearn
    import skops.io
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    path = Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    packed = partial.with_suffix(".packed")
    try:
        skops.io.dump(model, partial)
        if facts is not None:
            with zipfile.ZipFile(partial, "a") as archive:
                archive.writestr(_FACTS, json.dumps(facts, indent=2, allow_nan=False))
        card = {
            "format": FORMAT,
            "model": f"{type(model).__module__}.{type(model).__name__}",
            "surewood": surewood.__version__,
            "scikit-learn": sklearn.__version__,
            "sha256": _digest(partial, verbose),
        }
        with zipfile.ZipFile(partial, "a") as archive:
            archive.writestr(_CARD, json.dumps(card, indent=2))
        if compress:
            deflate(partial, packed, verbose)
        else:
            from surewood.persistence.mapped_arrays import align

            align(partial, packed)
        os.replace(packed, path)
    finally:
        partial.unlink(missing_ok=True)
        packed.unlink(missing_ok=True)
    return path


def load(path: str | Path, *, trusted: Collection[str] = (), mmap_mode: str | None = None) -> Any:
    """Read a model written by :func:`save`.

    Parameters
    ----------
    path : str or Path
    trusted : collection of str
        Full names of further types that the file may hold, such as those of another library.
    mmap_mode : {None, "r", "c"}, default=None
        Map large arrays from the file instead of reading them: a large model opens quickly, takes memory only
        as it is used, and is shared by all processes that map it. "r" is read-only, with "c" changes stay in
        memory. The file must have been saved with ``compress=False`` and stay where it is.
    """
    path = Path(path)
    if mmap_mode not in (None, "r", "c"):
        raise ValueError(f"mmap_mode must be None, 'r' or 'c', got {mmap_mode!r}.")
    card = read_card(path)
    if card["format"] > FORMAT:
        raise ModelFileError(
            f"{path} has format {card['format']} (surewood {card['surewood']}); this surewood "
            f"{surewood.__version__} reads up to {FORMAT}. Upgrade surewood."
        )
    if card["sha256"] != _digest(path):
        raise ModelFileError(f"{path} was altered or damaged after it was saved; its checksum differs.")
    if card["format"] < FORMAT:
        if mmap_mode is not None:
            raise ModelFileError(
                f"{path} has the older format {card['format']} and cannot be mapped; load it with "
                "mmap_mode=None and save it again."
            )
        return _rebuilt(path, trusted, of_older_format=True)
    if mmap_mode is None:
        return _rebuilt(path, trusted)
    with zipfile.ZipFile(path) as archive:
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
            raise ModelFileError(
                f"{path} is compressed and cannot be mapped; save the model with compress=False, or load it "
                "with mmap_mode=None."
            )
    from surewood.persistence.mapped_arrays import mapped_from

    with mapped_from(path, mmap_mode):
        return _rebuilt(path, trusted)


def _rebuilt(path: Path, trusted: Collection[str], of_older_format: bool = False) -> Any:
    """The object of a checked file, if all its types are known."""
    import skops.io

    try:
        content = with_new_names(path) if of_older_format else None
        source = {"file": path} if content is None else {"data": content}
        foreign = [name for name in skops.io.get_untrusted_types(**source) if name not in trusted]
        unknown = [name for name in foreign if not _is_ours(name)]
        if not unknown and content is not None:
            return skops.io.loads(content, trusted=[*foreign, *trusted])
        if not unknown:
            return skops.io.load(path, trusted=[*foreign, *trusted])
    except (*_DAMAGE, LookupError, TypeError, ValueError, AttributeError, ImportError) as error:
        raise ModelFileError(f"the model of {path} cannot be rebuilt: {error}") from error
    raise ModelFileError(
        f"{path} holds types that are not trusted: {', '.join(sorted(unknown))}. If you know them, "
        "name them in `trusted`."
    )


def read_card(path: str | Path) -> dict[str, Any]:
    """The facts beside the model: format, type, versions, checksum."""
    path = Path(path)
    if not path.is_file():
        raise ModelFileError(f"there is no model file {path}.")
    try:
        with zipfile.ZipFile(path) as archive:
            card = json.loads(archive.read(_CARD))
    except PermissionError as error:
        raise ModelFileError(f"{path} may not be read: no permission.") from error
    except (*_DAMAGE, KeyError, ValueError) as error:
        raise ModelFileError(f"{path} is not a surewood model, or is cut short.") from error
    complete = isinstance(card, dict) and {"format", "surewood", "sha256"} <= set(card)
    if not complete or not isinstance(card["format"], int):
        raise ModelFileError(f"{path} is not a surewood model: its {_CARD} is incomplete.")
    found: dict[str, Any] = card
    return found


def read_facts(path: str | Path) -> dict[str, Any]:
    """What was remembered with the model; empty where nothing was."""
    read_card(path)
    try:
        with zipfile.ZipFile(path) as archive:
            facts = json.loads(archive.read(_FACTS))
    except KeyError:
        return {}
    except (*_DAMAGE, ValueError) as error:
        raise ModelFileError(f"{path} was altered or damaged after it was saved.") from error
    return facts if isinstance(facts, dict) else {}


def _digest(path: Path, verbose: int = 0) -> str:
    """SHA-256 over names and contents of all members but the card."""
    total = hashlib.sha256()
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {one.filename: one.file_size for one in archive.infolist() if one.filename != _CARD}
            with stage(verbose, "its checksum", sum(sizes.values())) as advance:
                for name in sorted(sizes):
                    total.update(f"{len(name)}:{name}".encode())
                    own = hashlib.sha256()
                    with archive.open(name) as member:
                        while block := member.read(_BLOCK):
                            own.update(block)
                            advance(len(block))
                    total.update(own.digest())
    except (*_DAMAGE, ValueError) as error:
        raise ModelFileError(f"{path} was altered or damaged after it was saved.") from error
    return total.hexdigest()


def _is_ours(name: str) -> bool:
    """Whether a full name is a class of this package or a plain holder of arrays: no code runs to make it."""
    if name in _ARRAY_HOLDERS:
        return True
    module, _, attribute = name.rpartition(".")
    homes = set(surewood._HOME.values())  # modules of the public list
    if module != "surewood" and not module.startswith("surewood.") and module not in homes:
        return False
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return False
    return inspect.isclass(found) and (found.__module__.startswith("surewood") or found.__module__ in homes)
