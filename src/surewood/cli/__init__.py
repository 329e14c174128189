"""The command ``surewood``: one file a subcommand, each registered on `app` by being imported here.

Subcommands: fit, predict, datasets. The other files each hold one idea that several of them share.
"""

from surewood.cli import datasets, fit, predict
from surewood.cli.app import app, main

__all__ = ["app", "datasets", "fit", "main", "predict"]
