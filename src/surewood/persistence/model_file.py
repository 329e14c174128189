"""Save and load fitted models without pickle.

A model file is a zip archive written by skops (a description of the object and its arrays) with two more
members: ``facts.json``, whatever its maker wants to remember (the command line: data, certificate), and
``surewood.json``: format version, versions of the libraries, a SHA-256 of all other members, and, where the
file was saved with a key, an HMAC of all that. Loading checks, in this order: that it is such an archive,
its format version, its signature if a key is given, its checksum, the sizes it declares, and that every type
in it is in a list of types. The types themselves check the arrays they are made of.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import surewood
from surewood.persistence.archive import (
    CARD,
    DAMAGE,
    FACTS,
    check_headers,
    check_signature,
    check_sizes,
    digest,
    read_card,
    signature,
)
from surewood.persistence.compressing import deflate
from surewood.persistence.description import check_description, read_schema, untrusted
from surewood.persistence.errors import ModelFileError
from surewood.persistence.leftovers import partial
from surewood.persistence.renamed_types import with_new_names

#: Raised by one when an older surewood could misread a file of the newer one.
FORMAT = 2


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
        A fitted estimator of surewood or scikit-learn, a pipeline of them for instance.
    path : str or Path
        The file; an existing one is replaced only when the new one is complete.
    compress : bool, default=True
        Deflate the arrays: smaller files, slower to write. Only uncompressed files can be mapped, see
        :func:`load`.
    facts : dict, optional
        Plain values to store with the model, see :func:`read_facts`.
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
    # Imported here: a program that only names the errors of this module does not wait for these.
    import sklearn
    import skops.io
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    path = Path(path)
    with partial(path) as plain, partial(path, 2) as packed:
        skops.io.dump(model, plain)
        if facts is not None:
            with zipfile.ZipFile(plain, "a") as archive:
                archive.writestr(FACTS, json.dumps(facts, indent=2, allow_nan=False))
        card = {
            "format": FORMAT,
            "model": f"{type(model).__module__}.{type(model).__name__}",
            "surewood": surewood.__version__,
            "scikit-learn": sklearn.__version__,
            "sha256": digest(plain, verbose),
        }
        if key is not None:
            card["signature"] = signature(key, card)
        with zipfile.ZipFile(plain, "a") as archive:
            archive.writestr(CARD, json.dumps(card, indent=2))
        if compress:
            deflate(plain, packed, verbose)
        else:
            from surewood.persistence.mapped_arrays import align

            align(plain, packed)
        os.replace(packed, path)
    return path


def load(
    path: str | Path,
    *,
    trusted: Collection[str] = (),
    mmap_mode: str | None = None,
    key: bytes | str | None = None,
) -> Any:
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
    path = Path(path)
    if mmap_mode not in (None, "r", "c"):
        raise ValueError(f"mmap_mode must be None, 'r' or 'c', got {mmap_mode!r}.")
    card = read_card(path)
    if card["format"] > FORMAT:
        raise ModelFileError(
            f"{path} has format {card['format']} (surewood {card['surewood']}); this surewood "
            f"{surewood.__version__} reads up to {FORMAT}. Upgrade surewood."
        )
    if key is not None:
        check_signature(path, card, key)
    check_sizes(path, mapped=mmap_mode is not None)
    starts: dict[str, bytes] = {}
    if card["sha256"] != digest(path, starts=starts):
        raise ModelFileError(f"{path} was altered or damaged after it was saved; its checksum differs.")
    check_headers(path, starts)
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
    from skops.io.exceptions import UntrustedTypesFoundException

    allowed = frozenset(trusted)
    try:
        content = with_new_names(path) if of_older_format else None
        schema = read_schema(path if content is None else io.BytesIO(content))
        names = check_description(path, allowed, schema)
        read = skops.io.load(path, names) if content is None else skops.io.loads(content, names)
        return _tried_out(path, read)
    except ModelFileError:
        raise
    except UntrustedTypesFoundException as error:
        source = {"file": path} if content is None else {"data": content}
        unknown = sorted(set(skops.io.get_untrusted_types(**source)) - set(names))
        raise ModelFileError(untrusted(path, unknown)) from error
    except (
        *DAMAGE,
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ImportError,
        ArithmeticError,
        AssertionError,
    ) as error:
        raise ModelFileError(f"the model of {path} cannot be rebuilt: {error}") from error


def _tried_out(path: Path, model: Any) -> Any:
    """The model, if its parts belong together."""
    from surewood.persistence.trial import flaw_of

    flaw = flaw_of(model)
    if flaw is not None:
        raise ModelFileError(f"the model of {path} cannot be used: {flaw}.")
    return model
