"""Sentences for a manager."""

from surewood.report.verdict import quality_sentence

SCORES = {
    "sample": "holdout", "n": 200, "n_wrong": 10, "error": 0.05, "majority_error": 0.3, "decided": 1.0,
    "auc": 0.8,
}  # fmt: skip


def test_counts_and_the_baseline_are_named():
    assert quality_sentence(SCORES) == (
        "Of 200 holdout rows it predicts 190 correctly (95.0 %); the majority-class baseline gets 70.0 %. "
        "It tells the classes apart moderately well (AUC 0.800)."
    )


def test_a_model_that_abstains_says_how_often():
    told = quality_sentence({**SCORES, "decided": 0.5, "n_wrong": 5, "error": 0.05, "auc": None})
    assert told.startswith("It decides 100 of 200 holdout rows, 95 of them correctly (95.0 %), and abstains")
