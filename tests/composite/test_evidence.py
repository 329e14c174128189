"""What certificates may read, and that only the fit decides it."""

import numpy as np
import pandas as pd

from surewood import CompositeTreeClassifier, RandomCompositeForestClassifierCV
from surewood import RandomCompositeForestClassifier as Forest
from surewood.bounds.evidence import ForestEvidence, TreeEvidence, VoteEvidence


def test_evidence_of_trees_on_the_whole_sample(problem, paper):
    evidence = list(paper.__certificate_evidence__())
    assert isinstance(evidence[0], ForestEvidence)
    tree = evidence[0].trees[0]
    assert tree.n_samples == len(problem[1])
    assert all(c.holds for c in evidence[0].conditions())
    single = CompositeTreeClassifier(max_depth=2, C=1.0, random_state=0).fit(*problem)
    assert isinstance(next(iter(single.__certificate_evidence__())), TreeEvidence)


def test_evidence_of_bags_says_that_scaling_saw_all_rows(problem):
    forest = Forest(
        n_estimators=8, selection="exact", max_depth=1, C=1.0, random_state=0, study={"max_samples": 0.5}
    )
    votes = next(e for e in forest.fit(*problem).__certificate_evidence__() if isinstance(e, VoteEvidence))
    said = {c.text: c.holds for c in votes.conditions()}
    assert said["members were determined by their in-bag points"] is False
    assert said["the model predicts by hard vote"] is True
    assert votes.out_of_bag.sizes.min() >= 1


def test_parameters_set_after_the_fit_change_nothing(problem):
    X, y = problem
    for model in (
        Forest(8, selection="exact", C=1.0, max_depth=2, random_state=0),
        Forest(8, random_state=0),
        CompositeTreeClassifier(max_depth=2, C=1.0, random_state=0),
        RandomCompositeForestClassifierCV(n_estimators=(2, 4), max_depth=(1, 2), random_state=0),
    ):
        model.fit(X, y)
        before = [repr(vars(e)) for e in model.__certificate_evidence__()]
        probabilities, ledger = model.predict_proba(X), model.ledger()
        model.set_params(
            max_depth=7, degrees=(1, 2, 3, 4, 5), gamma_scale=0.5, selection="random_degree", calibrate=False,
            max_features=1, class_weight="balanced", study={"leaf_scores": "ovo_votes"},
        )  # fmt: skip
        assert [repr(vars(e)) for e in model.__certificate_evidence__()] == before
        assert np.array_equal(model.predict_proba(X), probabilities)
        pd.testing.assert_frame_equal(model.ledger(), ledger)


def test_a_tuned_model_says_that_its_estimate_was_used_for_selection(problem):
    tuned = Forest(8, selection="exact", max_depth=1, random_state=0).fit(*problem)
    fixed = Forest(8, selection="exact", max_depth=1, C=1.0, random_state=0).fit(*problem)
    assert [list(m.__certificate_evidence__())[-1].used_for_selection for m in (tuned, fixed)] == [
        True,
        False,
    ]


def test_votes_count_the_settings_compared(fitted):
    votes = next(e for e in fitted.__certificate_evidence__() if isinstance(e, VoteEvidence))
    assert votes.n_models == fitted.model_.searched.n_settings > 1


def test_more_than_thresholds_cost_more(table_with_everything):
    frame, y = table_with_everything
    tree = CompositeTreeClassifier(max_depth=2, C=1.0, random_state=0).fit(frame, y)
    assert tree.model_.split_growth > np.log(2 * len(y) * frame.shape[1])
    numbers = CompositeTreeClassifier(max_depth=2, C=1.0, random_state=0).fit(frame[["noise", "same"]], y)
    assert numbers.model_.split_growth is None
