"""The command ``surewood``: one file a subcommand, each registered on `app` by being imported here."""

from surewood.cli import datasets, reproduce
from surewood.cli.app import app, main

__all__ = ["app", "datasets", "main", "reproduce"]
