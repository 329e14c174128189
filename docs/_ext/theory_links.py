"""Sphinx extension: references to the theory, in pages and in docstrings, become links into docs/theory.md.

A reference without a target is a warning, and `make docs` treats warnings as errors.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from theory_references import references, targets

_logger = logging.getLogger(__name__)
_LEFT_ALONE = (
    nodes.literal,
    nodes.literal_block,
    nodes.math,
    nodes.math_block,
    nodes.reference,
    nodes.title,
    nodes.raw,
    nodes.comment,
    addnodes.pending_xref,
    addnodes.desc_signature,
)


def _link(text: str, target: str, docname: str) -> addnodes.pending_xref:
    link = addnodes.pending_xref(
        "",
        nodes.inline(text, text, classes=["xref", "std", "std-ref"]),
        refdomain="std",
        reftype="ref",
        reftarget=target,
        refexplicit=True,
        refwarn=True,
        refdoc=docname,
    )
    return link


class TheoryLinks(SphinxTransform):
    """Replace each reference in running text by a link to its target."""

    default_priority = 700

    def apply(self, **kwargs: Any) -> None:
        known = self.app.theory_targets  # type: ignore[attr-defined]
        for node in list(self.document.findall(nodes.Text)):
            if not self._may_hold_links(node):
                continue
            text = node.astext()
            parts: list[nodes.Node] = []
            at = 0
            for reference in references(text):
                if reference.target not in known:
                    _logger.warning(
                        "%s has no target in docs/theory.md", reference.text, location=node.parent
                    )
                    continue
                parts.append(nodes.Text(text[at : reference.start]))
                parts.append(_link(reference.text, reference.target, self.env.docname))
                at = reference.end
            if parts:
                parts.append(nodes.Text(text[at:]))
                node.parent.replace(node, [part for part in parts if part.astext()])

    def _may_hold_links(self, node: nodes.Text) -> bool:
        """Running text only; the bold labels in the theory are what links lead to."""
        above: nodes.Node | None = node.parent
        if self.env.docname == "theory" and isinstance(above, nodes.strong):
            return False
        while above is not None:
            if isinstance(above, _LEFT_ALONE):
                return False
            above = above.parent
        return True


def _read_targets(app: Sphinx) -> None:
    theory = Path(app.srcdir, "theory.md").read_text(encoding="utf-8")
    app.theory_targets = frozenset(targets(theory))  # type: ignore[attr-defined]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform."""
    app.connect("builder-inited", _read_targets)
    app.add_transform(TheoryLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
