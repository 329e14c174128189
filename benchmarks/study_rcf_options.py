"""Options that theory.md names for composite forests, on small sets where the published error is missed.

    python -m benchmarks.study_rcf_options [SET ...]

The protocol of ``python -m papers rcf --profile standard`` with one switch changed: C of every degree by
cross-validation [D-12], and degree 0 offered to every leaf [D-13]. Prints mean test errors of RCF, fitted to
the training part and refitted to training and validation part. Needs SUREWOOD_DATA.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from papers.protocol import Context, Profile, read_profile
from papers.rcf import COMPOSITE, RcfPaper

OPTIONS = {
    "as published": {},
    "C by cross-validation": {"choose_C": "cv"},
    "constant leaves": {"constant_leaves": True},
}


def errors(dataset: str, profile: Profile) -> Iterator[tuple[float, float]]:
    """Errors of RCF and of its refit, repeat by repeat."""
    paper, context = RcfPaper(), Context(n_jobs=1)
    for unit in paper.units(profile, [dataset]):
        if unit.methods == COMPOSITE:
            found = {r["method"]: r["metrics"]["error"] for r in paper.run(unit, profile, context)}
            yield found["rcf"], found["rcf_refit"]


def main(sets: list[str]) -> None:
    standard = read_profile("rcf", "standard")
    print(f"{'set':<16}{'option':<24}{'RCF':>14}{'refitted':>16}")
    for dataset in sets:
        for name, change in OPTIONS.items():
            profile = replace(standard, protocol={**standard.protocol, **change})
            found = 100 * np.array(list(errors(dataset, profile)))
            mean, spread = found.mean(axis=0), found.std(axis=0, ddof=1)
            cells = "".join(f"{m:>8.2f} ± {s:4.2f}" for m, s in zip(mean, spread))
            print(f"{dataset:<16}{name:<24}{cells}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["sonar", "vowel", "german_numeric"])
