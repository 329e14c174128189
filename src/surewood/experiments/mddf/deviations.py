"""What differs from the mdDF paper: the decisions in force (theory.md §8) and the sizes of the profile."""

from __future__ import annotations

from surewood.experiments.protocol import Profile


def deviations(profile: Profile) -> list[dict[str, str]]:
    """One entry a decision, then the profile's sizes."""
    decided = [
        (
            "class vectors [D-26]",
            "prose: averages of the models that trained on a point; algorithm: out-of-fold",
            "out-of-fold: the other reading leaks labels",
        ),
        (
            "depth [D-27]",
            "{2t+2, 4t+4, 8t+8, 16t+16}, not said how it is chosen",
            "one schedule a (t+1) for all forests, a chosen by held-out accuracy",
        ),
        (
            "weights [D-28]",
            "not said how forests use them",
            "bootstrap counts times weights of mean 1",
        ),
        (
            "step size [D-29]",
            "unbounded greedy step, analysed in the simplex",
            "mdDF: simplex mixing with exact line search; the unbounded step beside it as 'mdDF literal'",
        ),
        (
            "layers [D-30]",
            "not said",
            f"held-out accuracy, patience {profile.get('patience')}, at most {profile.get('max_layers')}; "
            "the best is kept",
        ),
        (
            "tuning [D-31]",
            "not described",
            "held-out accuracy of mdDF over (θ, μ, a), once a seed; literal, SF, ST and NP take its choice",
        ),
        (
            "XGBoost",
            "'400k trees'",
            "400k = 2000 boosting rounds in full: with more than two classes a tree a class and round",
        ),
        ("MLP", "Adadelta", "Adam: scikit-learn has no Adadelta; validation part 20 %, retrained on all"),
        (
            "inputs of the baselines",
            "not said",
            "standardised numbers, one-hot categories, imputed; mdDF and gcForest take the table as it is",
        ),
        ("seeds", "one number a cell, no spread", "mean and standard deviation over seeds, exact tests"),
        ("yeast", "fixed split of unknown origin", "1038/446, a new random split a seed"),
        ("surewood default", "–", "not in the paper: MarginDeepForestClassifier as shipped"),
    ]
    entries = [{"subject": subject, "paper": paper, "here": here} for subject, paper, here in decided]
    if profile.name != "full":
        entries.append(
            {
                "subject": f"sizes of profile {profile.name}",
                "paper": "100 trees a forest and fold, 72 settings, RF 2000 trees, XGBoost 2000 rounds",
                "here": "smaller where the table 'Sizes' says so",
            }
        )
    return entries
