"""The command ``surewood``: one file per subcommand, each registered on `app` by being imported here.

Commands only word what :mod:`surewood.workflow` does: options, text, exit codes.
"""

from surewood.cli import (
    certify,
    compare,
    datasets,
    explain,
    fit,
    importances,
    monitor,
    predict,
    report,
    reproduce,
)
from surewood.cli.app import app, main

__all__ = [
    "app",
    "certify",
    "compare",
    "datasets",
    "explain",
    "fit",
    "importances",
    "main",
    "monitor",
    "predict",
    "report",
    "reproduce",
]
