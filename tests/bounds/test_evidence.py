"""What models say about themselves, and the conditions it carries."""

import numpy as np
import pytest

from surewood.bounds import composite_complexity, leaf_log_growth, split_log_growth
from surewood.bounds.evidence import (
    CascadeEvidence,
    CompressionEvidence,
    ForestEvidence,
    OffersEvidence,
    TreeEvidence,
    VoteEvidence,
)
from surewood.bounds.without_holdout import OutOfBag, Tandem
from tests.bounds.evidence_samples import tree_fields

TREE = tree_fields()

CASCADE = {"n_families": 2, "max_leaves": 1, "unweighted": True, "affine_features": True}


def test_tree_complexities_are_rigorous_for_the_guarantee_and_printed_for_the_criterion():
    tree = TreeEvidence(**TREE)
    ovo = leaf_log_growth([1, 2], 4, 100, 3, svm="ovo")
    union = split_log_growth(100, 2, 4, mode="union")
    half = composite_complexity([1, 1], ovo, union, 100, form="half_root")
    assert tree.guarantee_complexity() == pytest.approx(half)
    paper = composite_complexity([1, 1], leaf_log_growth([1, 2], 4, 100, 3), split_log_growth(100, 2, 4), 100)
    assert tree.criterion_complexity() == pytest.approx(paper)
    assert tree.n_families == 12
    wider = TreeEvidence(**TREE, split_growth=union + 1)
    assert (wider.guarantee_complexity() > half).all()


def test_homogeneous_kernels_do_not_survive_standardising():
    holds = [c.holds for c in TreeEvidence(**TREE, homogeneous=True).conditions()]
    assert not all(holds)
    assert all(c.holds for c in TreeEvidence(**TREE).conditions())


def test_forest_conditions_need_every_tree():
    forest = ForestEvidence(
        trees=(TreeEvidence(**TREE), TreeEvidence(**(TREE | {"whole_sample": False}))), hard_vote=True
    )
    broken = [c.text for c in forest.conditions() if not c.holds]
    assert broken == ["counts refer to the whole sample"]


def test_trees_of_one_forest_share_their_families():
    for change in ({"max_depth": 5}, {"n_features": 5}, {"n_split_features": 5}, {"n_classes": 2}):
        with pytest.raises(ValueError, match="trees must share"):
            ForestEvidence(trees=(TreeEvidence(**TREE), TreeEvidence(**(TREE | change))), hard_vote=True)


@pytest.mark.parametrize("name", ["one_hot", "whole_sample", "unweighted", "affine_features"])
def test_a_tree_must_state_its_conditions(name):
    with pytest.raises(TypeError, match=name):
        TreeEvidence(**{key: value for key, value in TREE.items() if key != name})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TreeEvidence(**(TREE | {"depth": [3, 3]})), "depth must be <= max_depth=2, got 3"),
        (lambda: TreeEvidence(**(TREE | {"degree": [1]})), "degree has 1"),
        (lambda: TreeEvidence(**(TREE | {"correct": [0.5, 1]})), "correct must be integers >= 0"),
        (
            lambda: TreeEvidence(**(TREE | {"n_degrees": 1})),
            "n_degrees must count every degree offered, got 1 with 2 used",
        ),
        (lambda: ForestEvidence(trees=(), hard_vote=True), "number of trees must be an integer >= 1"),
        (
            lambda: CascadeEvidence(correct=[1, 1], errors=[0, 0], complexity=[0.1, 0.1], **CASCADE),
            "at most max_leaves=1 entries, got 2",
        ),
        (
            lambda: CascadeEvidence(correct=[1], errors=[0], complexity=[0.1], gamma_scale=0.5, **CASCADE),
            "gamma_scale and criterion_complexity must be given together",
        ),
    ],
)
def test_bad_evidence_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


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
            lambda: CompressionEvidence(errors=2, **COMPRESSION),
            "errors must be between 0 and n_samples - n_compressed = 1, got 2",
        ),
    ],
)
def test_point_evidence_bad_evidence_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_protocol_is_one_method():
    class Speaks:
        def __certificate_evidence__(self):
            return []

    assert isinstance(Speaks(), OffersEvidence)
    assert not isinstance(object(), OffersEvidence)
