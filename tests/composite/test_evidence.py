"""What certificates may read, and that only the fit decides it."""

import pytest

from surewood import CompositeTreeClassifier
from surewood import RandomCompositeForestClassifier as Forest
from surewood.bounds import ForestEvidence, TreeEvidence, VoteEvidence
from tests.composite.composite_samples import sample


@pytest.fixture(scope="module")
def problem():
    return sample(150, seed=2)


@pytest.fixture(scope="module")
def fitted(problem):
    return Forest(n_estimators=24, degrees=(1, 2), random_state=0).fit(*problem)


@pytest.fixture(scope="module")
def paper(problem):
    return Forest.paper(n_estimators=15, max_depth=3, C=1.0, random_state=0).fit(*problem)


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
