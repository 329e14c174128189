"""Counts at leaves check themselves when they are stated."""

import pytest

from surewood.bounds import (
    CascadeEvidence,
    ForestEvidence,
    TreeEvidence,
    cascade_complexity,
    composite_complexity,
    leaf_log_growth,
    split_log_growth,
)
from tests.bounds.evidence_samples import tree_fields

TREE = tree_fields()
CASCADE = {"n_families": 2, "max_leaves": 1, "unweighted": True, "affine_features": True}
DEGREES = {"n_features": 12, "max_leaves": 4, "unweighted": True, "affine_features": True}


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


def test_cascade_of_degrees_has_both_complexities():
    cascade = CascadeEvidence.from_degrees(
        [380, 60], [20, 40], [2, 1], n_degrees=4, gamma_scale=0.1, **DEGREES
    )
    growth = leaf_log_growth([2, 1], 12, 500)
    assert cascade.complexity == pytest.approx(cascade_complexity(growth, 500, variant="smaller"))
    assert cascade.criterion_complexity == pytest.approx(cascade_complexity(growth, 500))
    assert cascade.n_samples == 500


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
            lambda: CascadeEvidence.from_degrees([5, 5], [0, 0], [1, 2], n_degrees=1, **DEGREES),
            "n_degrees must count every degree offered, got 1 with 2 used",
        ),
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
