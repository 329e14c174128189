"""`make language`: the phrases are found, and nothing that users read has one."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "tools" / "language.py"

spec = importlib.util.spec_from_file_location("language", SCRIPT)
language = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = language
spec.loader.exec_module(language)


def phrases(text):
    return [phrase for _, phrase, _ in language.hits_in(text)]


@pytest.mark.parametrize(
    "text",
    [
        "a frame with one row a leaf",
        "seconds a fit",
        "one machine for each degree",
        "the question at a node",
        "what may be promised",
        "error of naming the largest class",
        "which classes are taken for which",
        "said and came true",
        "leaves that felt their complexity",
        "the share of rows",
        "rows put\naside before",
        "the mean, unless given",
        "dropped and said",
    ],
)
def test_a_phrase_is_found(text):
    assert phrases(text)


@pytest.mark.parametrize(
    "text",
    [
        "one row per leaf",
        "machine learning, support vector machines",
        "`machine` and ``one row a leaf`` in code",
        "forests share bins",
        "each value of a class",
    ],
)
def test_right_words_are_left_alone(text):
    assert phrases(text) == []


def test_docstrings_messages_and_templates_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(language, "ROOT", tmp_path)
    source = tmp_path / "module.py"
    source.write_text(
        '"""Module."""\n\n\ndef public():\n    """One row a leaf.\n\n    >>> "one row a tree"\n    """\n'
        '    x = "one row a fold"\n    raise ValueError(f"one row a layer {x}")\n\n\n'
        'def _private():\n    """One row a class."""\n'
    )
    found = [(hit.line, hit.phrase) for hit in language.python(source, everything=False)]
    assert [line for line, _ in found] == [5, 10]
    assert len(list(language.python(source, everything=True))) == 4
    notebook = tmp_path / "notebook.ipynb"
    notebook.write_text(
        '{"cells": [{"cell_type": "markdown", "source": ["Text\\n", "one row a leaf"]},'
        ' {"cell_type": "code", "source": ["machine = 1"]}]}'
    )
    assert [(hit.line, hit.phrase) for hit in language.notebook(notebook)] == [(2, "row a leaf")]
    page = tmp_path / "page.md"
    page.write_text("Text\n\n```python\nmachine = 1\n```\n\none row a leaf\n")
    assert [hit.line for hit in language.markdown(page)] == [7]


def test_nothing_that_users_read_has_one():
    assert [str(hit) for hit in language.all_hits(ROOT)] == []
