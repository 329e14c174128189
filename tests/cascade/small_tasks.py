"""A small sample and its tasks, without an estimator around them."""

import numpy as np
from sklearn.datasets import make_moons

from surewood import DeepCascadeSVMClassifier
from surewood.cascade.plan import plan_fit, read_settings
from surewood.cascade.sample import make_sample
from surewood.cascade.training import plant
from surewood.tables import begin_fit


def small_problem(X=None, y=None, **changes):
    """Plan and sample of a small problem."""
    if X is None:
        X, y = make_moons(90, noise=0.3, random_state=1)
    settings = {"max_leaves": 3, "fractions": (0.3, 0.6), "degrees": (1, 2), "gamma_scale": 1e-3, "C": 1.0}
    model = DeepCascadeSVMClassifier(**{**settings, **changes})
    sample = make_sample(begin_fit(model, np.asarray(X), np.asarray(y)), None)
    return plan_fit(model, read_settings(model), sample, 0), sample


def small_tasks(X=None, y=None, **changes):
    """Sample, plan and planted tasks."""
    plan, sample = small_problem(X, y, **changes)
    return sample, plan, plant(plan, sample)
