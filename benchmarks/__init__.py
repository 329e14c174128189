"""Benchmarks: one file for each claim of docs/performance.md. Run with ``python -m benchmarks [topic ...]``."""
