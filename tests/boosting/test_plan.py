"""From parameters to a plan."""

from surewood import BoostedTreesClassifier
from surewood.boosting.plan import LEAST_MODELS, N_FOLDS, ROWS_OF_ALL, make_plan


def test_large_tables_have_fewer_models():
    models = [make_plan(BoostedTreesClassifier(), n, 9).n_models for n in (10, 10_000, 20_000, 10**6)]
    assert models == [N_FOLDS, ROWS_OF_ALL // 10_000, ROWS_OF_ALL // 20_000, LEAST_MODELS]


def test_the_least_leaf_is_the_larger_of_both():
    assert make_plan(BoostedTreesClassifier(min_weight_fraction_leaf=0.1), 1000, 9).min_samples_leaf == 100
    assert make_plan(BoostedTreesClassifier(min_samples_leaf=7), 1000, 9).min_samples_leaf == 7
