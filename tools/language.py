"""Text that users read is in the words of the field: phrases that must not occur, and where to look.

    python tools/language.py [path ...]      # exit code 1 and one line per hit

Looks at README, CHANGELOG, docs, notebooks, templates, docstrings of public names, messages of exceptions,
and all strings of the packages that talk to users. Code, identifiers in backticks and `ALLOWED` are left
alone.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: All strings of these packages are meant for users; of the others, docstrings and messages of exceptions.
TALKING = ("cli", "report", "workflow", "certify")

_THING = (
    "leaf|layer|class|tree|row|value|thread|fold|forest|node|split|column|worker|pair|SVM|fit|iteration|"
    "measurement|task|feature|model|data set|record|bundle|block|group|point"
)
_COUNTED = (
    r"one|two|three|four|\d[\d,.]*|s|ms|µs|seconds?|milliseconds|nanoseconds|bytes?|rows?|trees?|points?|"
    r"accuracy|columns?|lines?|entry|entries|curves?|numbers?|votes?|margins|size|minutes"
)
#: Pattern -> what to write instead.
PHRASES = {
    rf"\b(?:{_COUNTED}) an? (?:{_THING})\b": "per",
    r"\bmachines?\b(?! learning)": "SVM, classifier, computer",
    r"\bquestions?\b|\basks? about\b|\basked about\b": "split, decision rule",
    r"\bpromis(?:e|es|ed|ing)\b": "guarantee, guaranteed",
    r"\blargest class\b|\bnam(?:es|ing) (?:the|one) (?:largest )?class\b": "majority class",
    r"\btaken for which\b": "confusion matrix",
    r"\bcame true\b|\bprobabilities true\b": "observed; calibration",
    r"\bfelt\b|\brichness\b|\bearns? its price\b": "complexity penalty",
    r"\b(?:the|a|its|their|class|right|correct|plain|this|whose|vote|smallest|largest|low) shares?\b"
    r"|\bshares? (?:of|in)\b|\bactive share\b": "fraction, probability, weight",
    r"\b(?:kept apart|put aside|set[- ]aside|untouched|took no part|influenced nothing)\b": "held out",
    r"\bunless (?:told|given|asked|wanted)\b": "by default",
    r"\bso many\b(?! )|\bso many (?:rows|trees|seconds|bytes)\b": "this many",
    r"\b(?:is|are|was|and) said\b|\bsaid so\b|\bis told\b": "reported, noted",
    r"\bfavours\b|\bhonest difficulty\b|\bpast (?:one|memory)\b": "plain words",
    r"\ba first look\b|\bby the thousand\b": "plain words",
    r"\b(?:cannot|could) be had\b": "available",
}
_PATTERNS = [(re.compile(pattern, re.IGNORECASE), better) for pattern, better in PHRASES.items()]

#: Phrases that are right where they stand, with the reason.
ALLOWED = {
    "support vector machine": "the name of the method",
    "virtual machine": "a computer",
    "state machine": "a term of programming",
    "machine-readable": "an ordinary word",
    "gradient boosting machine": "the name of the method",
    "labels to question": "a verb",
}


@dataclass(frozen=True)
class Hit:
    """A phrase that must not occur."""

    path: Path
    line: int
    phrase: str
    better: str

    def __str__(self) -> str:
        place = f"{self.path.relative_to(ROOT)}:{self.line}"
        return f"{place}: {self.phrase!r} -> {self.better}"


def hits_in(text: str) -> Iterator[tuple[int, str, str]]:
    """(line offset, phrase, better) of a text; code in backticks and formulas do not count.

    Examples
    --------
    >>> list(hits_in("A table with one row a leaf"))
    [(0, 'row a leaf', 'per')]
    >>> list(hits_in("machine learning, `machine`, a state machine"))
    []
    """
    plain = re.sub(r"(`+).*?\1", lambda m: re.sub(r"[^\n]", "·", m[0]), text, flags=re.DOTALL)
    for words in ALLOWED:
        plain = re.sub(re.escape(words) + "s?", lambda m: "·" * len(m[0]), plain, flags=re.IGNORECASE)
    flat = plain.replace("\n", " ")
    for pattern, better in _PATTERNS:
        for match in pattern.finditer(flat):
            yield plain.count("\n", 0, match.start()), match[0], better


def markdown(path: Path) -> Iterator[Hit]:
    """Hits in a page, without its code blocks and comments."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"^```(?!text).*?^```", _blank, text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(
        r"<!--.*?-->|\{%.*?%\}|\{\{.*?\}\}|<script.*?</script>|<style.*?</style>",
        _blank,
        text,
        flags=re.DOTALL,
    )
    for line, phrase, better in hits_in(text):
        yield Hit(path, line + 1, phrase, better)


def notebook(path: Path) -> Iterator[Hit]:
    """Hits in the text of a notebook; the line is that of the cell's text."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            for line, phrase, better in hits_in("".join(cell["source"])):
                yield Hit(path, line + 1, phrase, better)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", "·", match[0])


def python(path: Path, *, everything: bool) -> Iterator[Hit]:
    """Hits in the docstrings of public names and in messages; in all strings where `everything` is set."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in _texts(tree, everything):
        text = node.value
        text = re.sub(r"^\s*>>>.*(?:\n(?!\s*\n).*)*", _blank, text, flags=re.MULTILINE)
        text = re.sub(r"^\s*[\w*]+(?:, [\w*]+)* : ", _blank, text, flags=re.MULTILINE)  # names of parameters
        for line, phrase, better in hits_in(text):
            yield Hit(path, node.lineno + line, phrase, better)


def _texts(tree: ast.Module, everything: bool) -> Iterator[ast.Constant]:
    if everything:
        yield from (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            first = node.body[0]
            text = first.value if isinstance(first, ast.Expr) else None
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                yield text
        if isinstance(node, ast.Raise) or _is_warning(node):
            yield from (n for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str))


def _is_warning(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("warnings.warn", "stage")


def all_hits(root: Path = ROOT) -> Iterator[Hit]:
    """Hits in everything that users read."""
    pages = [root / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
    pages += sorted(
        path
        for path in (root / "docs").rglob("*.md")
        if path.name != "theory.md" and not {"_build", "gallery", "tutorials"} & set(path.parts)
    )
    source = root / "src" / "surewood"
    pages += sorted(source.rglob("*.html"))
    for page in pages:
        yield from markdown(page)
    for path in sorted((root / "examples").glob("*.ipynb")):
        yield from notebook(path)
    for path in sorted(source.rglob("*.py")):
        yield from python(path, everything=path.relative_to(source).parts[0] in TALKING)


def main() -> None:
    """Print the hits; exit code 1 where there are any."""
    wanted = [Path(name).resolve() for name in sys.argv[1:]]
    hits = [hit for hit in all_hits() if not wanted or any(hit.path.is_relative_to(w) for w in wanted)]
    for hit in hits:
        print(hit)
    if hits:
        sys.exit(f"{len(hits)} phrases to rewrite; see tools/language.py")


if __name__ == "__main__":
    main()
