"""The reference is complete, the README's and the tutorial's code runs, and links lead somewhere."""

import importlib
import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import surewood

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    path
    for path in (ROOT / "docs").rglob("*.md")
    if not {"_build", "api", "gallery"} & set(path.relative_to(ROOT).parts)
)
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *PAGES]
#: Packages without public names of their own, and why.
NOT_LISTED = {
    "cli": "the command line; docs/command-line.md",
    "estimators": "shared parts of the families",
    "experiments": "the papers' protocols; docs/research/reproduction.md",
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
    assert len(found) > 200


def _value(full_name):
    module, _, name = full_name.rpartition(".")
    return getattr(importlib.import_module(module), name)


def _public_objects():
    return {name: _value(name) for objects, _ in reference.contents().values() for name in objects}


def test_every_public_name_has_a_docstring():
    missing = [name for name, value in _public_objects().items() if not inspect.getdoc(value)]
    assert missing == []


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


@pytest.mark.parametrize("page", ["README.md", "docs/getting-started.md"])
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
    listed.discard("gallery/index")  # written when the documentation is built
    alone = {name for name in names if name not in listed and f"{Path(name).parent}/*" not in listed}
    assert alone == set()


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
