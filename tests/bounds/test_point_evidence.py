"""Statements about unused points check themselves when they are made."""

import numpy as np
import pytest

from surewood.bounds import CompressionEvidence, OutOfBag, Tandem, VoteEvidence

VOTE = {"hard_vote": True, "independent_subsamples": True, "in_bag_only": True, "unweighted": True}
COMPRESSION = {
    "n_samples": 5,
    "n_compressed": 4,
    "reproduces": True,
    "scaling_fixed": True,
    "unweighted": True,
}


def test_vote_from_predictions():
    in_bag = [[0, 0, 1], [0, 0, 2]]
    evidence = VoteEvidence.from_predictions([[0, 1, 0], [1, 1, 0]], in_bag, [0, 1, 1], **VOTE)
    assert evidence.out_of_bag.errors.tolist() == [0, 1]
    assert evidence.tandem.sizes.tolist() == [[2, 2], [2, 2]]
    assert evidence.shares.tolist() == [0.5, 0.5]
    assert all(c.holds for c in evidence.tandem_conditions())
    assert VoteEvidence.from_predictions([[0, 1]], [[0, 1]], [0, 1], tandem=False, **VOTE).tandem is None


def broken(conditions):
    return [condition.text for condition in conditions if not condition.holds]


def test_pairs_without_common_points_break_the_second_order_only():
    evidence = VoteEvidence.from_predictions([[0, 1], [0, 1]], [[1, 0], [0, 1]], [0, 1], **VOTE)
    assert broken(evidence.conditions()) == []
    assert broken(evidence.tandem_conditions()) == ["every pair has common out-of-bag points"]


def test_a_member_that_used_every_point_breaks_both():
    evidence = VoteEvidence.from_predictions([[0, 1], [0, 1]], [[1, 1], [0, 1]], [0, 1], **VOTE)
    assert broken(evidence.conditions()) == ["every member has out-of-bag points"]


@pytest.mark.parametrize(
    ("in_bag", "message"),
    [
        (np.zeros((2, 2)), "in_bag must mark the points each member used; member 0 has none"),
        ([[1, 0], [0, 0]], "member 1 has none"),
        ([[1, 0], [-1, 1]], "in_bag must be a mask or counts of draws >= 0"),
        ([[1, 0], [np.nan, 1]], "in_bag must be a mask or counts of draws >= 0"),
        ([["yes", "no"], ["no", "yes"]], "in_bag must be a mask or counts of draws >= 0"),
        ([[1, 0]], "in_bag must have the shape of predictions"),
    ],
)
def test_wrong_masks_are_refused(in_bag, message):
    with pytest.raises(ValueError, match=message):
        VoteEvidence.from_predictions([[0, 1], [0, 1]], in_bag, [0, 1], **VOTE)


def out_of_bag(errors, sizes):
    return OutOfBag(np.array(errors), np.array(sizes))


def pairs(errors, sizes):
    return Tandem(np.array(errors), np.array(sizes))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: VoteEvidence(out_of_bag=out_of_bag([3], [2]), **VOTE), "errors between 0 and sizes"),
        (lambda: VoteEvidence(out_of_bag=out_of_bag([-1], [2]), **VOTE), "out_of_bag must be integers >= 0"),
        (
            lambda: VoteEvidence(out_of_bag=out_of_bag([1], [2]), tandem=pairs([[3]], [[2]]), **VOTE),
            "tandem must have errors between 0 and sizes",
        ),
        (
            lambda: VoteEvidence(out_of_bag=out_of_bag([1], [2]), tandem=pairs([1], [2]), **VOTE),
            r"tandem must have shape \(1, 1\)",
        ),
        (
            lambda: VoteEvidence(out_of_bag=out_of_bag([1], [2]), weights=[1.0, 1.0], **VOTE),
            "weights must have 1 entries, got 2",
        ),
        (
            lambda: CompressionEvidence(errors=2, **COMPRESSION),
            "errors must be between 0 and n_samples - n_compressed = 1, got 2",
        ),
        (lambda: CompressionEvidence(errors=1, tree=True, **COMPRESSION), "log_codes must be > 0 for a tree"),
    ],
)
def test_bad_evidence_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
