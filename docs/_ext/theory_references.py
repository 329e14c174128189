"""References to docs/theory.md: what they look like, where they occur, which target each one needs.

A decision is written ``[D-17]`` (with or without brackets), a section ``§2.9``, a range ``§2.7-§2.9``, an
equation ``(2.9)`` or ``(1.5a)``. Their targets in docs/theory.md are ``(d-17)=``, ``(sec-2-9)=`` and
``(eq-1-5a)=``. The Sphinx extension `theory_links` turns references into links, and
``tests/test_theory_references.py`` fails on one without a target; both use this module.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: Folders of the repository in which references are looked for.
FOLDERS = ("src", "core", "tests", "docs", "benchmarks")

_PYTHON = {".py", ".pyi"}
_CPLUSPLUS = {".cpp", ".hpp", ".h", ".inl"}
_PROSE = {".md", ".rst"}
_OTHER = {".html", ".js", ".css", ".toml", ".txt", ".json", ".svg"}  # sections and decisions only
_SKIPPED_FOLDERS = {"_build", "__pycache__", "generated", "node_modules"}

_TARGET = re.compile(r"^\(((?:eq|d|sec)-[0-9a-z-]+)\)=$", re.MULTILINE)
_DECISION = re.compile(r"(?<![\w-])\[?D-(\d+)\b\]?")
_SECTION = re.compile(r"§\s?(\d+(?:\.\d+)?)(?:\s?[-–]\s?(\d+(?:\.\d+)?)(?!\.?\d))?")
_EQUATION = re.compile(r"(?<![\w.)\]}])\((\d{1,2}\.\d{1,2}[a-z]?)\)")
#: A parenthesised number after one of these is a value, such as "18.10 (12.86)" or "± 0.4 (3.5)".
_AFTER_A_VALUE = re.compile(r"(?:\d\.\d+|[%±–])\s*\Z")
_LARGEST_CHAPTER, _LARGEST_EQUATION = 12, 20
_NAMED_BEFORE = re.compile(r"theory\.md\s*\Z")
_FOREIGN = re.compile(
    r"\b(?:guarantees|flagship)\.md\s*(?=§|\()|\bshared/design\b|(?<![\w/.-])(?!docs/|\.{1,2}/)[\w.-]+/(?:[\w.-]+/)*theory\.md"
)
_CPLUSPLUS_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_CODE_IN_PROSE = re.compile(r"^(```|~~~).*?^\1[ \t]*$|\$\$.*?\$\$|`[^`\n]+`", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Reference:
    """One reference in a text: the characters `start` to `end`, and the target it needs."""

    start: int
    end: int
    text: str
    target: str


def targets(theory: str) -> list[str]:
    """Names of all targets in the text of docs/theory.md, in order.

    >>> targets("(eq-2-9)=\\n$$x$$\\n(d-17)=\\n**[D-17]**")
    ['eq-2-9', 'd-17']
    """
    return _TARGET.findall(theory)


def _named(kind: str, number: str) -> str:
    return f"{kind}-{number.replace('.', '-')}"


def _is_equation(text: str, match: re.Match[str]) -> bool:
    """A parenthesised decimal is an equation after the file's name, or where it can be a number in it."""
    before = text[: match.start()]
    if _NAMED_BEFORE.search(before):
        return True
    chapter, number = match[1].split(".")
    number = number.rstrip("abcdefghijklmnopqrstuvwxyz")
    if number.startswith("0") or int(chapter) > _LARGEST_CHAPTER or int(number) > _LARGEST_EQUATION:
        return False
    return not (_AFTER_A_VALUE.search(before) or (chapter == "0" and number != "1"))


def references(text: str, *, equations: bool = True) -> list[Reference]:
    """All references in `text`, in order.

    >>> [r.target for r in references("theory.md (2.9), §2.7-§2.9 and [D-10]")]
    ['eq-2-9', 'sec-2-7', 'sec-2-9', 'd-10']
    >>> references("the error fell to 18.10 (12.86)")
    []
    """
    found = [Reference(m.start(), m.end(), m[0], _named("d", m[1])) for m in _DECISION.finditer(text)]
    for m in _SECTION.finditer(text):
        end = m.end(1) if m[2] else m.end()
        found.append(Reference(m.start(), end, text[m.start() : end], _named("sec", m[1])))
        if m[2]:
            found.append(Reference(m.start(2), m.end(2), m[2], _named("sec", m[2])))
    if equations:
        found += [
            Reference(m.start(), m.end(), m[0], _named("eq", m[1]))
            for m in _EQUATION.finditer(text)
            if _is_equation(text, m)
        ]
    return sorted(found, key=lambda reference: reference.start)


def foreign_documents(text: str) -> list[str]:
    """Names of theory documents other than docs/theory.md.

    >>> foreign_documents("docs/theory.md (2.9)"), len(foreign_documents("notes/" + "theory.md (2.9)"))
    ([], 1)
    """
    return [m[0] for m in _FOREIGN.finditer(text)]


def _python_pieces(source: str) -> Iterator[tuple[int, str]]:
    """Comments and strings of Python code, with their first lines."""
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in kinds:
            yield token.start[0], token.string


def pieces(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Texts of a file that can hold references: first line, text, and whether equations are looked for."""
    source = path.read_text(encoding="utf-8")
    if path.suffix in _PYTHON:
        for line, text in _python_pieces(source):
            yield line, text, True
    elif path.suffix in _CPLUSPLUS:
        for m in _CPLUSPLUS_COMMENT.finditer(source):
            yield source.count("\n", 0, m.start()) + 1, m[0], True
    elif path.suffix in _PROSE:
        yield 1, _CODE_IN_PROSE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), source), True
    else:
        yield 1, source, False


def files(root: Path) -> Iterator[Path]:
    """Files of the repository at `root` that can refer to the theory."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            known = path.suffix in _PYTHON | _CPLUSPLUS | _PROSE | _OTHER
            if known and path.is_file() and not _SKIPPED_FOLDERS & set(path.relative_to(root).parts):
                yield path


def dangling(path: Path, known: set[str]) -> list[str]:
    """One line for each reference of a file that leads nowhere, or to another theory document."""
    problems = []
    for first, text, equations in pieces(path):
        for reference in references(text, equations=equations):
            if reference.target not in known:
                line = first + text.count("\n", 0, reference.start)
                problems.append(
                    f"{path}:{line}: {reference.text} has no target ({reference.target})= in docs/theory.md"
                )
        problems += [f"{path}: refers to {name}, not to docs/theory.md" for name in foreign_documents(text)]
    return problems
