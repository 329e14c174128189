"""Every kind of guarantee has a proof, a simulation with a broken twin and an attack (README.md)."""

import ast
import re
from functools import cache
from inspect import signature
from itertools import product
from pathlib import Path

import pytest

import surewood
from surewood.certify import Method
from surewood.certify.claims import KINDS
from surewood.certify.prediction_sets import _BY, _GUARANTEES
from surewood.certify.thresholds import _WORDS
from tests.guarantees.test_guarantees import FITS, SIMULATIONS

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

# Where guarantees are issued, and the kinds of this table that come from there.
DOORS = {
    "certify/issuing.py": "claim",
    "certify/from_evidence.py": "method",
    "certify/deciding.py": "threshold",
    "certify/prediction_sets.py": "sets",
    "certify/comparing.py": "two models",
    "cascade/reject.py": "reject option",
}


def table():
    """Rows of the README's table, by their kind."""
    lines = (HERE / "README.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {kind: rest for kind, *rest in rows[1:]}


ROWS = table()


def kinds():
    """Every kind of claim that the code can make."""
    yield from (f"method {method.name}" for method in Method)
    yield from (f"claim {quantity}" for quantity in KINDS)
    yield from (f"threshold {name}" for name in _WORDS)
    yield from (f"sets {word}{f' by {by}' if by else ''}" for word, by in product(_GUARANTEES, _BY))
    public = [getattr(surewood, name) for name in surewood.__all__]
    for one in public:
        if isinstance(one, type) and "certifiable" in signature(one).parameters:
            yield f"certifiable {one.__name__}"


def test_every_kind_of_claim_is_in_the_table():
    assert sorted(set(kinds()) - set(ROWS)) == []


def test_every_place_that_issues_a_guarantee_is_known():
    source = ROOT / "src" / "surewood"
    found = set()
    for path in source.rglob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        if any(isinstance(call.func, ast.Name) and call.func.id == "issue_guarantee" for call in calls):
            found.add(path.relative_to(source).as_posix())
    assert found == set(DOORS)
    for kind in DOORS.values():
        assert any(row.startswith(kind) for row in ROWS), kind


@cache
def counted(simulation):
    """Names under which a simulation counts, of bounds and of broken twins."""
    (simulate,) = [one for one in (*SIMULATIONS, *FITS) if one.__name__ == simulation]
    trials = simulate(2)
    return set(trials.bounds), set(trials.broken)


@pytest.mark.parametrize("kind", ROWS)
def test_proof_simulation_twin_and_attack(kind):
    proof, simulation, name, attacks = ROWS[kind]
    assert f"({proof})=" in (ROOT / "docs" / "theory.md").read_text(), "no such anchor"
    bounds, broken = counted(simulation)
    assert name in bounds
    assert name in broken
    for attack in attacks.split(", "):
        text = (ROOT / "tests" / "promises" / f"{attack}.py").read_text()
        assert re.search(r"^ *def test_", text, re.MULTILINE), f"{attack} attacks nothing"


def test_every_simulation_counts_for_some_kind():
    named = {simulation for _, simulation, _, _ in ROWS.values()}
    supporting = {  # the same kinds in other circumstances, or the bound without its public door
        *("simulate_tables", "simulate_real_cascade", "simulate_real_composite", "simulate_discrete_rows"),
        *("simulate_thresholds", "simulate_sets", "simulate_monitor", "simulate_zero_weights"),
        "simulate_betting",
    }
    assert {one.__name__ for one in (*SIMULATIONS, *FITS)} == named | supporting
