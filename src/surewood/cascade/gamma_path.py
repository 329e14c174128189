r"""Every γ at which the best cascade changes, from one tree of SVMs.

Let :math:`E(\gamma)=\min_f\mathrm{score}_f(\gamma)` in counts. A leaf's term
:math:`m_k^-+\min(4\gamma m\,a_k,m_k^+)` is the smaller of two lines in γ, so the score of a cascade is the
smallest of finitely many lines (one for each set of leaves whose complexity penalty is active), and so is E:
concave, non-decreasing and piecewise linear, equal to m for :math:`\gamma\ge1/(4a_{\min})`.

*Finding E.* Suppose exact searches at :math:`\gamma_0<\gamma_1` returned minimizers with lines
:math:`\ell_0,\ell_1` through :math:`E(\gamma_0),E(\gamma_1)`. No line is below E anywhere. If the lines are
equal, E lies on them between (concavity: E is above its chord). Otherwise they meet at some γ' in
:math:`[\gamma_0,\gamma_1]`, because each is at least E at the other's end. Search at γ'. If
:math:`E(\gamma')=\ell_0(\gamma')`, then E is linear between the three points it touches and γ' is its only
kink. If not, the minimizer at γ' has a new line, strictly below both there, and the two halves are treated
alike. Lines are finitely many and every search finds a kink or a new line, so with s linear pieces at most 2s
+ 1 searches happen.

*The cascade of a piece.* Where E is linear, :math:`\mathrm{score}_f-E\ge0` is concave; if it vanishes at one
inner point it vanishes on the whole piece. So all inner points of a piece have the same minimizers, and the
same first one in the tie order: one search at an inner point names it. Neighbouring pieces with the same
cascade (one more of its leaves has an active penalty) are joined.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

from surewood._arrays import Floats
from surewood.base.time_limit import NO_LIMIT, TimeLimit
from surewood.cascade.chain import Path
from surewood.cascade.search import PrefixTree, SearchResult, minimise, tie


@dataclass(frozen=True)
class PathPiece:
    """An interval of γ and the minimizer inside it."""

    #: Ends of the interval; at an end the cascades of both sides tie.
    low: float
    high: float
    #: The exact minimizer, found at an inner point.
    result: SearchResult
    #: False when a limit cut some search of the path short: pieces may then be missing or wrong.
    proven: bool = True

    @property
    def path(self) -> Path:
        return self.result.path

    @property
    def inner(self) -> float:
        """A γ well inside: the geometric middle where both ends allow it."""
        return inner_point(self.low, self.high)


def inner_point(low: float, high: float) -> float:
    """Geometric mean; twice the lower end when the upper is infinite, half the upper when the lower is 0."""
    if math.isinf(high):
        return 2.0 * low if low > 0 else 1.0
    return 0.5 * high if low <= 0 else math.sqrt(low * high)


def gamma_path(
    tree: PrefixTree,
    complexity: Floats,
    *,
    gamma_min: float = 0.0,
    limit: TimeLimit = NO_LIMIT,
    max_svms: int | None = None,
) -> list[PathPiece]:
    """Pieces of the γ path from infinity down to `gamma_min`.

    Parameters
    ----------
    tree : PrefixTree
    complexity : ndarray, shape (n_choices,)
        Positive.
    gamma_min : float, default=0
        Where to stop; near 0 nothing is pruned but by training errors, so the last stretch is the longest.
    limit, max_svms : optional
        As in :func:`~surewood.cascade.search.minimise`, of all searches together. When they are reached, the
        rest of the path is made of the SVMs trained by then, and ``piece.proven`` is False.

    Returns
    -------
    list of PathPiece
        By decreasing γ, each beginning where the one before ends.
    """
    results: dict[float, SearchResult] = {}
    svms_before = tree.n_svms

    def at(gamma: float) -> SearchResult:
        if gamma not in results:
            left = None if max_svms is None else max(0, max_svms - (tree.n_svms - svms_before))
            result = minimise(tree, complexity, gamma, limit=limit, max_svms=left)
            assert result is not None  # one leaf is always possible
            results[gamma] = result
        return results[gamma]

    inert = 1.0 / (4.0 * float(complexity.min()))
    if gamma_min >= inert:
        return [PathPiece(gamma_min, math.inf, at(math.inf))]
    kinks = [gamma_min, *_kinks(at, gamma_min, inert), inert]
    pieces = [PathPiece(inert, math.inf, at(math.inf))]
    for low, high in reversed(list(itertools.pairwise(kinks))):
        result = at(inner_point(low, high))
        if result.path == pieces[-1].path:
            pieces[-1] = PathPiece(low, pieces[-1].high, pieces[-1].result)
        else:
            pieces.append(PathPiece(low, high, result))
    proven = all(result.proven for result in results.values())
    return [dataclasses.replace(piece, proven=proven) for piece in pieces]


def _kinks(at: Callable[[float], SearchResult], low: float, high: float) -> list[float]:
    """Ascending points inside (low, high) that include every change of slope of E, as explained above."""
    below, above = at(low), at(high)
    (b0, s0), (b1, s1) = below.line, above.line
    steepness = max(abs(s0), abs(s1), 1.0)
    if s0 - s1 <= 1e-12 * steepness:
        return []
    meet = (b1 - b0) / (s0 - s1)
    margin = 1e-12 * max(high, 1e-300)
    if meet <= low + margin or meet >= high - margin:
        return []
    middle = at(meet)
    on_lines = b0 + s0 * meet
    if middle.score >= on_lines - 4.0 * tie(on_lines):
        return [meet]
    # E need not bend at `meet` itself; an extra point only cuts a piece that is joined again.
    return [*_kinks(at, low, meet), meet, *_kinks(at, meet, high)]
