"""The reference is complete, the README's and the tutorial's code runs, and links lead somewhere."""

import importlib
import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from itertools import chain, pairwise
from pathlib import Path

import pytest

import surewood

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    path
    for path in (ROOT / "docs").rglob("*.md")
    if not {"_build", "api", "gallery", "tutorials"} & set(path.relative_to(ROOT).parts)
)
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *PAGES]
#: Packages without public names of their own, and why.
NOT_LISTED = {
    "cli": "the command line; docs/command-line.md",
    "base": "shared parts of the families",
    "composite": "its classifiers are public in surewood",
    "mixture": "its classifier is public in surewood",
    "trees": "the tree engine; docs/internals/architecture.md",
    "families": "public as names of surewood.cascade",
    "svm": "the SVM engine; docs/internals/svm-engine.md",
}


def _load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


reference = _load(ROOT / "docs" / "_ext" / "reference_pages.py")


def test_every_public_package_is_in_the_reference():
    found = {info.name for info in pkgutil.iter_modules(surewood.__path__)}
    packages = {name for name in found if not name.startswith("_")}
    listed = {name.partition(".")[2] for page in reference.PAGES for name in page.modules} - {""}
    assert packages - listed == set(NOT_LISTED)


def test_the_pages_are_on_the_start_page_of_the_reference():
    index = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8")
    assert [page.name for page in reference.PAGES if f"   {page.name}\n" not in index] == []


def test_every_public_name_is_on_a_page():
    found = [name for objects, constants in reference.contents().values() for name in (*objects, *constants)]
    values = {id(_value(name)) for name in found}
    missing = [
        f"{module}.{name}"
        for page in reference.PAGES
        for module in page.modules
        for name, value in reference.public_names(module).items()
        if id(value) not in values
    ]
    assert missing == []
    expected = {"BinnedForestClassifier", "PolySVC", "save", "load", "cluster"}
    assert {f"surewood.{name}" for name in expected} <= set(found)
    assert len(found) > 150


def _value(full_name):
    module, _, name = full_name.rpartition(".")
    return getattr(importlib.import_module(module), name)


def _public_objects():
    return {name: _value(name) for objects, _ in reference.contents().values() for name in objects}


def test_every_public_name_has_a_docstring():
    missing = [name for name, value in _public_objects().items() if not inspect.getdoc(value)]
    assert missing == []


def test_every_public_name_has_an_example():
    missing = [name for name, value in _public_objects().items() if ">>> " not in inspect.getdoc(value)]
    assert missing == []


def test_pages_of_names_that_are_gone_are_removed(tmp_path):
    (tmp_path / "generated").mkdir()
    for name in ("surewood.save", "surewood.gone"):
        (tmp_path / "generated" / f"{name}.rst").write_text("text")
    reference.write_pages(tmp_path)
    assert [path.stem for path in (tmp_path / "generated").glob("*.rst")] == ["surewood.save"]
    assert len(list(tmp_path.glob("*.rst"))) == len(reference.PAGES)


def test_no_page_of_the_reference_is_empty():
    assert [name for name, (objects, constants) in reference.contents().items() if not objects] == []


def test_every_public_method_has_a_docstring():
    missing = []
    for full_name, value in _public_objects().items():
        if not inspect.isclass(value):
            continue
        for name, member in inspect.getmembers(value):
            own = inspect.unwrap(member.fget if isinstance(member, property) else member)
            if name.startswith("_") or not inspect.isroutine(own):
                continue
            if str(getattr(own, "__module__", "")).startswith("surewood") and not inspect.getdoc(member):
                missing.append(f"{full_name}.{name}")
    assert missing == []


def blocks(path):
    """(language, text) of the fenced blocks of a page."""
    return re.findall(r"^```(\w*)\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "page",
    ["README.md", "docs/getting-started.md", "docs/explanations.md", "docs/service.md", "docs/pipelines.md"],
)
def test_python_blocks_run_and_print_what_is_shown(page, tmp_path):
    """All Python blocks of a page, one after another; a text block after one that prints is its output."""
    found = blocks(ROOT / page)
    code = "\n".join(text for language, text in found if language == "python")
    shown = [
        text
        for (before, source), (language, text) in pairwise(found)
        if before == "python" and language == "text" and "print(" in source
    ]
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert shown
    assert ran.stdout == "".join(shown)


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def _anchor(heading):
    text = re.sub(r"[`*]", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


@pytest.mark.parametrize("page", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file) if file else page
        if not target.exists():
            broken.append(link)
        elif anchor and target.suffix == ".md":
            content = target.read_text(encoding="utf-8")
            anchors = {_anchor(heading) for heading in re.findall(r"^#+ (.*)$", content, re.MULTILINE)}
            if anchor not in anchors | set(re.findall(r"^\((.+)\)=$", content, re.MULTILINE)):
                broken.append(link)
    assert broken == []


def test_every_page_is_in_a_table_of_contents():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    trees = "\n".join(re.findall(r"^```\{toctree\}\n(.*?)^```", index, re.MULTILINE | re.DOTALL))
    entries = [line for line in trees.splitlines() if line and not line.startswith(":")]
    assert sorted(set(entries)) == sorted(entries)
    listed = set(entries)
    names = {str(path.relative_to(ROOT / "docs").with_suffix("")) for path in PAGES} - {"index"}
    listed -= {"gallery/index", "tutorials/index"}  # written when the documentation is built
    alone = {name for name in names if name not in listed and f"{Path(name).parent}/*" not in listed}
    assert alone == set()


def test_every_dependency_has_its_reason_on_one_page():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"].values()
    groups = [entry for group in project["dependency-groups"].values() for entry in group]
    named = [*project["build-system"]["requires"], *project["project"]["dependencies"], *chain(*extras)]
    named += [entry for entry in groups if isinstance(entry, str)]
    packages = {re.match(r"[\w-]+", requirement)[0] for requirement in named} - {"surewood"}
    page = (ROOT / "docs" / "internals" / "dependencies.md").read_text(encoding="utf-8")
    listed = {
        word for row in re.findall(r"^\|.*$", page, re.MULTILINE) for word in re.findall(r"[\w-]+", row)
    }
    assert packages - listed == set()


gallery = _load(ROOT / "docs" / "_ext" / "gallery.py")


def test_the_gallery_has_a_title_and_a_text_for_each_script():
    found = gallery.examples()
    assert len(found) >= 15
    for example in found:
        title, text = example.words
        assert title, example.path.name
        assert text, example.path.name
        assert not example.code.startswith('"""')


def test_a_script_of_the_gallery_leaves_a_picture(tmp_path):
    (example,) = (one for one in gallery.examples() if one.name == "02_guarantee_and_rows")
    gallery.run(example, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5000


def test_a_script_that_fails_is_named(tmp_path):
    broken = tmp_path / "plot_broken.py"
    broken.write_text('"""Title\n\nText.\n"""\n\n1 / 0\n')
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        gallery.run(gallery.Example(broken), tmp_path / "picture.png")


tutorials = _load(ROOT / "docs" / "_ext" / "tutorials.py")
#: What a notebook must print: the sentences that it is about.
PRINTS = {
    "churn": ["monthly charge  number", "Guaranteed: precision of 'yes' at least 80 %", "True"],
    "medical": ["Guaranteed: recall of 'readmitted' at least 80 %", "could be guaranteed", "surgery"],
    "sensors": ["labels per row", "guaranteed: error at most", "week 8: error alarm True"],
}


@pytest.mark.slow  # make docs runs the notebooks, too
@pytest.mark.parametrize("name", PRINTS)
def test_a_notebook_runs_and_prints_what_it_is_about(name, tmp_path):
    notebook = tutorials.Notebook(ROOT / "examples" / f"{name}.ipynb")
    outputs = tutorials.run(notebook)
    printed = "".join(output["printed"] for output in outputs)
    assert [text for text in PRINTS[name] if text not in printed] == []
    page = tutorials.page_of(notebook, outputs, tmp_path)
    assert page.startswith(f"# {notebook.title}\n")
    assert len(list(tmp_path.glob("*.png"))) == page.count("![Figure") >= 1
    assert str(Path.home()) not in page
    code = [cell for cell in notebook.cells if cell["cell_type"] == "code"]
    kept = [out["text"] for cell in code for out in cell["outputs"] if out["output_type"] == "stream"]
    assert "".join(kept) == printed


def test_notebooks_are_kept_with_the_outputs_of_a_whole_run():
    assert {notebook.path.stem for notebook in tutorials.notebooks()} == set(PRINTS)
    for notebook in tutorials.notebooks():
        code = [cell for cell in notebook.cells if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
        assert all(out["output_type"] != "error" for cell in code for out in cell["outputs"])
        assert len(notebook.source) < 300_000
        assert len({cell["id"] for cell in notebook.cells}) == len(notebook.cells)
        assert notebook.introduction


def test_a_notebook_that_fails_is_named(tmp_path):
    broken = tmp_path / "broken.ipynb"
    broken.write_text('{"cells": [{"cell_type": "code", "source": ["1 / 0"]}]}')
    with pytest.raises(RuntimeError, match=r"broken.ipynb failed:(.|\n)*ZeroDivisionError"):
        tutorials.run(tutorials.Notebook(broken))
