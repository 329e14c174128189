"""`import surewood` is quick, and everything public is reachable from it."""

import subprocess
import sys

import pytest

import surewood

LIBRARIES = ("pandas", "sklearn", "scipy", "pyarrow", "matplotlib", "plotly", "typer", "numpy")


def loaded_after(code):
    """Which of the libraries a fresh interpreter has imported after `code`, and the seconds that it took."""
    script = (
        f"import sys, time; start = time.perf_counter(); {code}; "
        f"print(time.perf_counter() - start, *[name for name in {LIBRARIES!r} if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    seconds, *names = shown.stdout.split()
    return float(seconds), names


def test_import_is_quick_and_imports_no_library():
    times = []
    for _ in range(3):
        seconds, names = loaded_after("import surewood")
        assert names == []
        times.append(seconds)
    assert min(times) < 0.5


@pytest.mark.parametrize("name", ["bounds", "certify", "datasets", "inspect", "report", "tables", "workflow"])
def test_modules_are_reachable(name):
    shown = subprocess.run(
        [sys.executable, "-c", f"import surewood; print(surewood.{name}.__name__)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.strip() == f"surewood.{name}"


def test_every_public_name_exists():
    for name in surewood.__all__:
        assert getattr(surewood, name) is not None
    with pytest.raises(AttributeError, match="module 'surewood' has no attribute 'nothing'"):
        surewood.nothing  # noqa: B018


def test_the_module_of_the_command_can_be_imported():
    loaded_after("import surewood.cli.__main__")
