"""``python -m surewood.cli`` is the command ``surewood``."""

from surewood.cli import main

main()
