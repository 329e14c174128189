"""The command ``surewood``: its subcommands are registered on `app` by being imported here.

Commands only word what :mod:`surewood.workflow` does: options, text, exit codes.
"""

# In the order in which `surewood --help` lists their commands.
from surewood.cli import fit, predict, explaining, compare, certifying, datasets  # isort: skip # noqa: F401
from surewood.cli.app import app, main

__all__ = ["app", "main"]
