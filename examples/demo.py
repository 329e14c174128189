"""``make demo``: a CSV file of handwritten digits through ``surewood fit`` and ``surewood compare``.

python examples/demo.py               # digits.csv, the model and its page in the folder demo
python examples/demo.py another-folder
"""

import subprocess
import sys
from pathlib import Path

from sklearn.datasets import load_digits


def surewood(*words: str, folder: Path) -> None:
    """Show a command and run it."""
    print("\n$ surewood", *words, flush=True)
    subprocess.run([sys.executable, "-m", "surewood", *words], cwd=folder, check=True)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "demo")
    folder.mkdir(parents=True, exist_ok=True)
    digits = load_digits(as_frame=True).frame.rename(columns={"target": "digit"})
    digits.to_csv(folder / "digits.csv", index=False)
    surewood("fit", "digits.csv", "--target", "digit", "--out", ".", "--force", folder=folder)
    families = "surewood,rcf,mddf,rf,logreg"
    surewood("compare", "digits.csv", "--target", "digit", "--folds", "2", "--only", families, folder=folder)
    print(
        f"\nOpen {folder / 'report.html'} in a browser: the verdict, the guarantee and how the model decides."
    )


if __name__ == "__main__":
    main()
