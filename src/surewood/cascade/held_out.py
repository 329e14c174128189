"""Held-out scores of a fitted structure: what calibration, estimates and the reject option are based on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surewood._arrays import Codes, Counts, Floats
from surewood.cascade.penalty import Folds
from surewood.cascade.prefix_tree import Path, Rows
from surewood.cascade.sample import Sample
from surewood.cascade.tasks import Task, class_columns
from surewood.cascade.trainer import distance_of
from surewood.parallel.progress import stage, substeps


@dataclass(frozen=True)
class OutOfFold:
    """Scores of training rows by cascades of the fitted structure that were trained without them."""

    #: Shape (n, n_classes).
    scores: Floats
    #: Shape (n, n_cascades).
    leaf: Counts
    distance: Floats
    #: Shape (n,).
    codes: Codes
    weight: Floats

    @property
    def error(self) -> float:
        """Weighted error rate."""
        return float(self.weight @ (self.scores.argmax(axis=1) != self.codes)) / float(self.weight.sum())


def out_of_fold(
    sample: Sample, tasks: Sequence[Task], paths: Sequence[Path], folds: Folds, verbose: int = 0
) -> OutOfFold:
    """Scores of each row by cascades with the same degrees and fractions, trained on the other folds."""
    n, n_tasks = len(sample.codes), len(tasks)
    parts = [np.full(n if task.trainer.n_classes == 2 else (n, sample.n_classes), np.nan) for task in tasks]
    leaf, distance = np.zeros((n, n_tasks), dtype=np.int64), np.zeros((n, n_tasks))
    n_svms = len(folds) * sum(path.n_leaves for path in paths)
    with stage(verbose, "held-out scores of the cascades", n_svms) as advance:
        for t, (task, path) in enumerate(zip(tasks, paths)):
            for train, held_out in folds:
                with substeps(advance, path.n_leaves, path.n_leaves) as one, task.trainer.reporting(one):
                    built = task.build(path, train)
                found = built.evaluate(sample.design[held_out], n_jobs=task.trainer.n_jobs)
                parts[t][held_out], leaf[held_out, t] = found.scores, found.leaf
                distance[held_out, t] = distance_of(found.scores)
    return OutOfFold(class_columns(parts, sample.n_classes), leaf, distance, sample.codes, sample.weight)


def held_out_part(sample: Sample, tasks: Sequence[Task], paths: Sequence[Path], rows: Rows) -> OutOfFold:
    """Scores of held-out rows by the cascades that were trained on the other ones."""
    found = [task.build(path).evaluate(sample.design[rows]) for task, path in zip(tasks, paths)]
    return OutOfFold(
        class_columns([part.scores for part in found], sample.n_classes),
        np.column_stack([part.leaf for part in found]),
        np.column_stack([distance_of(part.scores) for part in found]),
        sample.codes[rows],
        sample.weight[rows],
    )
