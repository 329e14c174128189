"""``python -m surewood`` is the command ``surewood``."""

from surewood.cli import main

if __name__ == "__main__":
    main()
