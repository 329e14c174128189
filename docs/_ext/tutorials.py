"""The tutorials: every notebook in ``examples`` is run when the documentation is built.

Notebooks are kept with the outputs of their last run: ``python docs/_ext/tutorials.py`` runs all of them and
stores what they gave. Their cells run in one fresh interpreter, in an empty folder; a page shows
each cell with what it printed, its last value and its figures. A notebook is run again only when its text
has changed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent
NOTEBOOKS = DOCS.parent / "examples"
FOLDER = DOCS / "tutorials"

#: Runs the cells that come as JSON on standard input; the last line of its output is what they gave, as JSON.
_RUN = """
import ast, base64, contextlib, io, json, sys
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

def show(value):
    if value is None or value.__class__.__module__.startswith("matplotlib"):
        return {}
    html = getattr(value, "_repr_html_", None)
    return {"html": html()} if html else {"text": repr(value)}

def figures():
    for number in plt.get_fignums():
        held = io.BytesIO()
        plt.figure(number).savefig(held, dpi=70, bbox_inches="tight", facecolor="white")
        plt.close(number)
        yield base64.b64encode(held.getvalue()).decode()

plt.show = lambda *_, **__: None
names, gave = {"__name__": "__main__"}, []
for number, source in enumerate(json.load(sys.stdin), 1):
    tree = ast.parse(source, f"cell {number}")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    gave.append({"printed": printed.getvalue(), **show(value), "figures": list(figures())})
print(json.dumps(gave))
"""

_INDEX = """# Tutorials

Notebooks on generated data, from a table to a decision. Each runs in seconds; the files are in `examples/`.

{lines}

```{{toctree}}
:hidden:

{entries}
```
"""


@dataclass(frozen=True)
class Notebook:
    """A notebook of the tutorials."""

    path: Path

    @property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def cells(self) -> list[dict[str, Any]]:
        """The cells as the file has them."""
        cells: list[dict[str, Any]] = json.loads(self.source)["cells"]
        return cells

    @property
    def title(self) -> str:
        """The first heading."""
        return "".join(self.cells[0]["source"]).splitlines()[0].removeprefix("# ")

    @property
    def introduction(self) -> str:
        """The text below the first heading."""
        return "".join(self.cells[0]["source"]).partition("\n\n")[2]


def notebooks() -> list[Notebook]:
    """All notebooks, in the order of their names."""
    return [Notebook(path) for path in sorted(NOTEBOOKS.glob("*.ipynb"))]


def run(notebook: Notebook) -> list[dict[str, Any]]:
    """Run a notebook and return what each code cell gave: printed, html or text, figures as PNG in base64."""
    code = ["".join(cell["source"]) for cell in notebook.cells if cell["cell_type"] == "code"]
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            [sys.executable, "-c", _RUN],
            input=json.dumps(code),
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"MPLBACKEND": "Agg"},
        )
    if ran.returncode:
        raise RuntimeError(f"{notebook.path.name} failed:\n{ran.stderr}")
    outputs: list[dict[str, Any]] = json.loads(ran.stdout)
    return outputs


def page_of(notebook: Notebook, outputs: list[dict[str, Any]], pictures: Path) -> str:
    """A notebook and its outputs as a page; its figures are written into `pictures`."""
    given = iter(outputs)
    parts = []
    for cell in notebook.cells:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            continue
        parts.append(f"```python\n{text}\n```")
        output = next(given)
        plain = (output["printed"] + output.get("text", "")).rstrip()
        if plain:
            parts.append(f"```text\n{plain}\n```")
        if "html" in output:
            parts.append(f'<div class="cell-output">\n{_as_block(output["html"])}\n</div>')
        for figure in output["figures"]:
            picture = pictures / f"{notebook.path.stem}-{len(parts)}.png"
            picture.write_bytes(base64.b64decode(figure))
            parts.append(f"![Figure of the cell above]({picture.name})")
    place = f"examples/{notebook.path.name}"
    parts.append(f"The notebook is `{place}` in the repository.")
    return "\n\n".join(parts) + "\n"


def _as_block(html: str) -> str:
    """A blank line would end the block of HTML in Markdown; the theme styles tables itself."""
    html = re.sub(r"<style.*?</style>", "", html, flags=re.DOTALL)
    return "\n".join(line.strip() for line in html.splitlines() if line.strip())


def write(notebook: Notebook) -> None:
    """The page of one notebook, made again where the notebook has changed."""
    page = FOLDER / f"{notebook.path.stem}.md"
    rules = Path(__file__).read_text(encoding="utf-8")
    mark = f"% {hashlib.sha256((notebook.source + rules).encode()).hexdigest()}\n"
    if page.exists() and page.read_text(encoding="utf-8").startswith(mark):
        return
    page.write_text(f"{mark}\n{page_of(notebook, run(notebook), FOLDER)}", encoding="utf-8")


def write_all(*_: Any) -> None:
    """All pages and their overview."""
    FOLDER.mkdir(exist_ok=True)
    found = notebooks()
    for notebook in found:
        write(notebook)
    lines = [f"* [{one.title}]({one.path.stem}.md): {' '.join(one.introduction.split())}" for one in found]
    text = _INDEX.format(lines="\n".join(lines), entries="\n".join(one.path.stem for one in found))
    index = FOLDER / "index.md"
    if not index.exists() or index.read_text(encoding="utf-8") != text:
        index.write_text(text, encoding="utf-8")


def store(notebook: Notebook, outputs: list[dict[str, Any]]) -> None:
    """Put the outputs of a run into the file, in the notebook format."""
    content = json.loads(notebook.source)
    code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    for count, (cell, output) in enumerate(zip(code, outputs, strict=True), start=1):
        kept: list[dict[str, Any]] = []
        if output["printed"]:
            kept.append({"output_type": "stream", "name": "stdout", "text": output["printed"]})
        kinds = {"html": "text/html", "text": "text/plain"}
        data = {kind: output[name] for name, kind in kinds.items() if name in output}
        if data:
            result = {"output_type": "execute_result", "data": data, "metadata": {}}
            kept.append({**result, "execution_count": count})
        for figure in output["figures"]:
            data = {"image/png": figure}
            kept.append({"output_type": "display_data", "data": data, "metadata": {}})
        cell["execution_count"], cell["outputs"] = count, kept
    notebook.path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Run the notebooks before Sphinx looks for sources."""
    app.connect("config-inited", write_all, priority=1)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    for one in notebooks():
        store(one, run(one))
