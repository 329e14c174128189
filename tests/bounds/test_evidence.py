"""Evidence checks itself when it is made."""

import numpy as np
import pytest

from surewood.bounds import (
    CascadeEvidence,
    CompressionEvidence,
    ForestEvidence,
    OffersEvidence,
    OutOfBag,
    TreeEvidence,
    VoteEvidence,
    cascade_complexity,
    composite_complexity,
    leaf_log_growth,
    question_log_growth,
)

TREE = {
    "correct": [50, 40],
    "errors": [5, 5],
    "depth": [1, 1],
    "degree": [1, 2],
    "n_classes": 3,
    "n_features": 4,
    "n_question_features": 4,
    "max_features": 2,
    "n_degrees": 3,
    "max_depth": 2,
}
VOTE = {"hard_vote": True, "independent_subsamples": True, "in_bag_only": True}


def test_tree_complexities_are_rigorous_for_the_guarantee_and_printed_for_the_criterion():
    tree = TreeEvidence(**TREE)
    ovo = leaf_log_growth([1, 2], 4, 100, 3, machine="ovo")
    union = question_log_growth(100, 2, 4, mode="union")
    half = composite_complexity([1, 1], ovo, union, 100, form="half_root")
    assert tree.guarantee_complexity() == pytest.approx(half)
    paper = composite_complexity(
        [1, 1], leaf_log_growth([1, 2], 4, 100, 3), question_log_growth(100, 2, 4), 100
    )
    assert tree.criterion_complexity() == pytest.approx(paper)
    assert tree.n_families == 12
    wider = TreeEvidence(**TREE, question_growth=union + 1)
    assert (wider.guarantee_complexity() > half).all()


def test_homogeneous_kernels_do_not_survive_standardising():
    holds = [c.holds for c in TreeEvidence(**TREE, homogeneous=True).conditions()]
    assert not all(holds)
    assert all(c.holds for c in TreeEvidence(**TREE).conditions())


def test_forest_conditions_need_every_tree():
    forest = ForestEvidence(trees=(TreeEvidence(**TREE), TreeEvidence(**TREE, whole_sample=False)))
    broken = [c.text for c in forest.conditions() if not c.holds]
    assert broken == ["counts refer to the whole sample"]


def test_cascade_of_degrees_has_both_complexities():
    cascade = CascadeEvidence.from_degrees(
        [380, 60], [20, 40], [2, 1], n_features=12, n_degrees=4, max_leaves=4, gamma_scale=0.1
    )
    growth = leaf_log_growth([2, 1], 12, 500)
    assert cascade.complexity == pytest.approx(cascade_complexity(growth, 500, variant="smaller"))
    assert cascade.criterion_complexity == pytest.approx(cascade_complexity(growth, 500))
    assert cascade.n_samples == 500


def test_vote_from_predictions():
    evidence = VoteEvidence.from_predictions([[0, 1], [1, 1]], np.zeros((2, 2)), [0, 1], **VOTE)
    assert evidence.out_of_bag.errors.tolist() == [0, 1]
    assert evidence.tandem.sizes.tolist() == [[2, 2], [2, 2]]
    assert VoteEvidence.from_predictions([[0]], [[0]], [0], tandem=False, **VOTE).tandem is None


def test_the_protocol_is_one_method():
    class Speaks:
        def __certificate_evidence__(self):
            return []

    assert isinstance(Speaks(), OffersEvidence)
    assert not isinstance(object(), OffersEvidence)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TreeEvidence(**(TREE | {"depth": [3, 3]})), "depth must be <= max_depth=2, got 3"),
        (lambda: TreeEvidence(**(TREE | {"degree": [1]})), "degree has 1"),
        (lambda: TreeEvidence(**(TREE | {"correct": [0.5, 1]})), "correct must be integers >= 0"),
        (lambda: ForestEvidence(trees=()), "number of trees must be an integer >= 1"),
        (
            lambda: ForestEvidence(trees=(TreeEvidence(**TREE), TreeEvidence(**(TREE | {"max_depth": 5})))),
            "trees must share",
        ),
        (
            lambda: CascadeEvidence(
                correct=[1, 1], errors=[0, 0], complexity=[0.1, 0.1], n_families=2, max_leaves=1
            ),
            "at most max_leaves=1 entries, got 2",
        ),
        (
            lambda: CascadeEvidence(
                correct=[1], errors=[0], complexity=[0.1], n_families=2, max_leaves=1, gamma_scale=0.5
            ),
            "gamma_scale and criterion_complexity must be given together",
        ),
        (
            lambda: VoteEvidence(out_of_bag=OutOfBag(np.array([3]), np.array([2])), **VOTE),
            "errors between 0 and sizes",
        ),
        (
            lambda: VoteEvidence(
                out_of_bag=OutOfBag(np.array([1]), np.array([2])), weights=[1.0, 1.0], **VOTE
            ),
            "weights must have 1 entries, got 2",
        ),
        (
            lambda: CompressionEvidence(
                n_samples=5, n_compressed=4, errors=2, reproduces=True, scaling_fixed=True
            ),
            "errors must be between 0 and n_samples - n_compressed = 1, got 2",
        ),
        (
            lambda: CompressionEvidence(
                n_samples=5, n_compressed=4, errors=1, tree=True, reproduces=True, scaling_fixed=True
            ),
            "log_codes must be > 0 for a tree",
        ),
    ],
)
def test_bad_evidence_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
