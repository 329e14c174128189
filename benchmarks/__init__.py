"""One file for each claim of docs/performance.md; ``python -m benchmarks [topic ...]`` runs them."""
