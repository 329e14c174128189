"""Public names that are imported when first used, so that importing a package is quick."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, home: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose public names live in the modules that `home` gives.

    A name whose home is the module of that name itself gives the module.

    Examples
    --------
    >>> get, names = lazy_names("json", {"JSONDecoder": "json.decoder", "decoder": "json.decoder"})
    >>> get("JSONDecoder").__name__, get("decoder").__name__, names()
    ('JSONDecoder', 'json.decoder', ['JSONDecoder', 'decoder'])
    """

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(home[name])
        return module if home[name] == f"{package}.{name}" else getattr(module, name)

    return get, lambda: sorted(home)
