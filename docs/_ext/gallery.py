"""The gallery: every script in ``examples/gallery`` is run when the documentation is built.

A script begins with a docstring (title, blank line, a sentence or two) and leaves its figure open. Its page
has the
picture, what it printed and its code. A script is run again only when its text has changed.
"""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent
SCRIPTS = DOCS.parent / "examples" / "gallery"
FOLDER = DOCS / "gallery"

_RUN = """
import runpy, sys
import matplotlib
matplotlib.use("Agg")
runpy.run_path(sys.argv[1])
import matplotlib.pyplot as plt
assert plt.get_fignums(), "no figure"
plt.gcf().savefig(sys.argv[2], dpi=110, bbox_inches="tight", facecolor="white")
"""


@dataclass(frozen=True)
class Example:
    """A script of the gallery."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem.removeprefix("plot_")

    @property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def words(self) -> tuple[str, str]:
        """Title and text of the docstring."""
        title, _, text = (ast.get_docstring(ast.parse(self.source)) or "").partition("\n\n")
        return title, text

    @property
    def code(self) -> str:
        """The source without its docstring."""
        first = ast.parse(self.source).body[0]
        assert first.end_lineno is not None
        return "\n".join(self.source.splitlines()[first.end_lineno :]).strip() + "\n"


def examples() -> list[Example]:
    """All scripts, in the order of their names."""
    return [Example(path) for path in sorted(SCRIPTS.glob("plot_*.py"))]


def run(example: Example, picture: Path) -> str:
    """Run a script, save its figure, and return what it printed."""
    command = [sys.executable, "-c", _RUN, str(example.path), str(picture)]
    ran = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | {"MPLBACKEND": "Agg"}
    )
    if ran.returncode:
        raise RuntimeError(f"{example.path.name} failed:\n{ran.stderr}")
    return ran.stdout


def write(example: Example) -> None:
    """The page of one script, made again where the script has changed."""
    page, picture = FOLDER / f"{example.name}.md", FOLDER / f"{example.name}.png"
    mark = f"% {hashlib.sha256((example.source + _RUN).encode()).hexdigest()}\n"
    if page.exists() and picture.exists() and page.read_text(encoding="utf-8").startswith(mark):
        return
    printed = run(example, picture)
    title, text = example.words
    shown = f"```text\n{printed.rstrip()}\n```\n\n" if printed.strip() else ""
    page.write_text(
        f"{mark}\n# {title}\n\n{text}\n\n![{title}]({picture.name})\n\n{shown}```python\n{example.code}```\n",
        encoding="utf-8",
    )


def write_all(*_: Any) -> None:
    """All pages and their overview."""
    FOLDER.mkdir(exist_ok=True)
    found = examples()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, found))
    cards = "\n".join(
        f'<a class="gallery-card" href="{example.name}.html"><img src="../_images/{example.name}.png" alt="">'
        f"<span>{example.words[0]}</span></a>"
        for example in found
    )
    entries = "\n".join(example.name for example in found)
    text = (
        "# Gallery\n\nShort examples with a picture each. They are run when this documentation is built.\n\n"
        f'<div class="gallery">\n{cards}\n</div>\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n'
    )
    index = FOLDER / "index.md"
    if not index.exists() or index.read_text(encoding="utf-8") != text:
        index.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Run the scripts before Sphinx looks for sources."""
    app.connect("config-inited", write_all, priority=1)
    app.add_css_file("surewood.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
