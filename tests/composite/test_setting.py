"""One setting of composite trees."""

from surewood.composite.setting import Setting, plain_tree_params

SETTING = Setting(3, 2, (1, 2), (1.0, 10.0), 1e-3, sampling="subsample", n_draws=40)


def test_degree_zero_is_offered_first():
    assert SETTING.offered.tolist() == [1, 2]
    assert Setting(3, 2, (1, 2), (1.0, 1.0), 1e-3, constant_leaves=True).offered.tolist() == [0, 1, 2]


def test_the_engine_gets_what_the_setting_says():
    params = SETTING.tree_params(5)
    assert (params.criterion, params.max_depth, params.max_features) == ("entropy", 5, 2)
    assert (params.sampling, params.n_draws) == ("subsample", 40)
    plain = plain_tree_params(4)
    assert (plain.criterion, plain.max_depth, plain.sampling) == ("gini", None, "bootstrap")
