"""``python -m surewood.cli`` is the command ``surewood``."""

from surewood.cli import main

if __name__ == "__main__":
    main()
