"""`import surewood` is quick, and everything public is reachable from it."""

import subprocess
import sys

import pytest

import surewood

LIBRARIES = ("pandas", "sklearn", "scipy", "pyarrow", "matplotlib", "plotly", "typer", "numpy")


def loaded_after(code):
    """Which of the libraries a fresh interpreter has imported after `code`."""
    script = f"import sys; {code}; print(*[name for name in {LIBRARIES!r} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return shown.stdout.split()


def test_import_imports_no_library():
    assert loaded_after("import surewood") == []


def test_modules_are_reachable():
    names = ["bounds", "tables", "inspect", "certify", "report", "datasets", "workflow"]  # lower layers first
    script = f"import surewood; print(*[getattr(surewood, name).__name__ for name in {names!r}])"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == [f"surewood.{name}" for name in names]


def test_every_public_name_exists():
    for name in surewood.__all__:
        assert getattr(surewood, name) is not None
    with pytest.raises(AttributeError, match="module 'surewood' has no attribute 'nothing'"):
        surewood.nothing  # noqa: B018


def test_help_and_completion_of_the_command_wait_for_no_large_library():
    assert set(loaded_after("import surewood.__main__")) <= {"typer", "numpy"}
