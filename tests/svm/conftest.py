"""Every solution that a test of this folder gets back is checked against the optimality conditions."""

import numpy as np
import pytest

from surewood.svm import dual as dual_module
from surewood.svm.dual import SvmBatch
from tests.svm.reference import check_kkt, group_rows

LARGEST = 120  # points of a problem that is checked: the check is in NumPy and quadratic


@pytest.fixture(autouse=True)
def kkt_of_everything_solved(monkeypatch):
    solve = dual_module._run_chunks

    def checked(gram, spec, points, starts, codes, weight, problems, shape, options, *rest):
        parts = list(solve(gram, spec, points, starts, codes, weight, problems, shape, options, *rest))
        _, degree, C = problems
        batch = SvmBatch.from_parts(
            parts, shape, degree=degree, C=C, kernel=spec, gram=gram, points=points, starts=starts
        )
        exponent = degree * np.log2(batch.scale.ravel()) if len(degree) else []
        for problem in range(len(degree)):
            # Beyond 2^300 the plain check has no numbers for the kernel.
            if len(group_rows(batch, problem)) <= LARGEST and exponent[problem] < 300:
                check_kkt(batch, problem, gram.X, codes, C[problem], weight, options["tol"])
        return parts

    monkeypatch.setattr(dual_module, "_run_chunks", checked)
