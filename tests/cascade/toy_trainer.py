"""Machines that are random functions of the subset they are trained on: any shape of tree may come out."""

import zlib

import numpy as np

from surewood.cascade.prefix_tree import Outcome


class ToyTrainer:
    """Distances with many ties, some constants, and an accuracy that grows with the choice."""

    def __init__(self, n, n_choices, seed, weight=None, accuracy=0.7):
        self.weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
        self.n_choices, self.seed, self.accuracy = n_choices, seed, accuracy
        self.n_calls = 0

    def train(self, rows, choices):
        self.n_calls += len(rows) * len(choices)
        return [[self._outcome(own, choice) for choice in choices] for own in rows]

    def _outcome(self, rows, choice):
        rng = np.random.default_rng([self.seed, choice, zlib.crc32(np.asarray(rows, np.int32).tobytes())])
        correct = rng.random(len(rows)) < self.accuracy + 0.05 * choice
        if len(rows) < 2 or rng.random() < 0.1:
            return Outcome(None, np.ones(len(rows), dtype=bool))
        levels = rng.integers(1, max(2, len(rows) + 2))
        return Outcome(rng.integers(0, levels, len(rows)).astype(np.float64), correct)
