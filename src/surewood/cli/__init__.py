"""The command ``surewood``: one file a subcommand, each registered on `app` by being imported here.

The other files hold one idea each that several subcommands share.
"""

from surewood.cli import certify, compare, datasets, explain, fit, predict, reproduce
from surewood.cli.app import app, main

__all__ = ["app", "certify", "compare", "datasets", "explain", "fit", "main", "predict", "reproduce"]
