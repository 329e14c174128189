"""A profile of toy sizes, for the tests of the mdDF paper."""

from surewood.experiments.protocol import Profile, read_profile

METHODS = [
    "mdDF", "mdDF literal", "mdDF-SF", "mdDF-ST", "mdDF-NP", "gcForest", "surewood default",
    "RF", "XGBoost", "MLP",
]  # fmt: skip


def tiny(**changes) -> Profile:
    """The protocol of the paper with two trees a forest."""
    quick = read_profile("mddf", "quick")
    sizes = {
        **quick.sizes,
        "trees": 2,
        "default_trees": 2,
        "tuning_trees": 2,
        "rf_trees": 5,
        "xgboost_rounds": 2,
        "mlp_epochs": 2,
        "figure_points": 60,
        "test_rows": 60,
        "train_rows": 0,
        "max_layers": 2,
        "gcforest_max_layers": 2,
        "mlp": [[4], [3]],
        **changes,
    }
    return Profile("tiny", quick.protocol, sizes)
