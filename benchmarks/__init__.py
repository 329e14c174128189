"""One file for each claim of docs/research/performance.md; ``python -m benchmarks [topic ...]`` runs them.

Every benchmark names its number of threads. Thread pools that nobody named (BLAS, scikit-learn's OpenMP) have
one thread: idle ones spin, which counts as processor time. It is set here, before NumPy is imported.
"""

import os

for _pool in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_pool, "1")
