"""One file for each claim of docs/research/performance.md; ``python -m benchmarks [topic ...]`` runs them."""
