"""Toy models that speak for themselves: what each kind of evidence is worth, and what turns it away."""

import numpy as np
import pytest

from surewood.bounds import (
    Status,
    cascade_complexity,
    cascade_theorem,
    composite_theorem,
    compression_bound,
    leaf_log_growth,
    pac_bayes_bound,
    pac_bayes_tandem_bound,
)
from surewood.bounds.evidence import (
    CascadeEvidence,
    CompressionEvidence,
    EstimateEvidence,
    ForestEvidence,
    HeuristicEvidence,
    TreeEvidence,
    VoteEvidence,
)
from surewood.certify import Method, certify
from tests.bounds.evidence_samples import tree_fields


class Toy:
    """A model that offers whatever evidence it was given."""

    def __init__(self, *evidence):
        self.evidence = evidence

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def __certificate_evidence__(self):
        return self.evidence


def tree(**change):
    counts = {"correct": [6_000_000, 3_500_000], "errors": [300_000, 200_000], "gamma_scale": 0.5}
    two = {"n_classes": 2, "n_features": 2, "n_split_features": 2, "max_features": 1, "n_degrees": 2}
    return TreeEvidence(**(tree_fields(degree=[1, 0], **counts, **two) | change))


def votes(seed=0, members=12, m=4000, **change):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, m)
    predictions = np.where(rng.random((members, m)) < 0.95, y, 1 - y)
    in_bag = rng.random((members, m)) < 0.5
    fields = {"hard_vote": True, "independent_subsamples": True, "in_bag_only": True, "unweighted": True}
    return VoteEvidence.from_predictions(predictions, in_bag, y, **(fields | change))


def only(certificate, method):
    (entry,) = [entry for entry in certificate.entries if entry.method == method]
    return entry


def test_composite_tree():
    certificate = certify(Toy(tree()), delta=0.1)
    entry = only(certificate, Method.COMPOSITE_TREE)
    leaves = tree().correct, tree().errors, tree().guarantee_complexity()
    bound = composite_theorem(*leaves, n_classes=2, n_families=9).uniform(max_rho_inverse=4, delta=0.1)
    assert entry.value == pytest.approx(bound.value)
    assert entry.value < 0.2
    parts = entry.decomposition
    assert {"training error", "leaf terms", "L-term", "C", "confidence"} <= set(parts)
    score = only(certificate, "composite tree criterion")
    assert score.status is Status.CRITERION
    assert score.gamma_scale == 0.5
    assert score.note == "selection score, not a bound"
    assert score.decomposition["fraction of active leaves"] == 1.0


def test_forest_is_twice_the_mean_of_its_trees():
    first, second = tree(), tree(correct=[6_100_000, 3_500_000], errors=[200_000, 200_000])
    values = [only(certify(Toy(t)), Method.COMPOSITE_TREE).value for t in (first, second)]
    entry = only(certify(Toy(ForestEvidence(trees=(first, second), hard_vote=True))), Method.COMPOSITE_FOREST)
    assert entry.value == pytest.approx(2 * np.mean(values))
    certificate = certify(Toy(ForestEvidence(trees=(first,), hard_vote=False)))
    assert certificate.guarantees == ()
    assert "hard vote of the trees" in certificate.withheld[0].reason


def test_cascade():
    growth = leaf_log_growth([1, 1], 2, 10_000_000)
    evidence = CascadeEvidence(
        correct=[6_000_000, 3_500_000],
        errors=[300_000, 200_000],
        complexity=cascade_complexity(growth, 10_000_000, variant="smaller"),
        n_families=20,
        max_leaves=3,
        criterion_complexity=cascade_complexity(growth, 10_000_000),
        gamma_scale=0.1,
        unweighted=True,
        affine_features=True,
    )
    certificate = certify(Toy(evidence), delta=0.05, n_models_in_sample=5)
    leaves = evidence.correct, evidence.errors, evidence.complexity
    bound = cascade_theorem(*leaves, n_families=20).uniform(max_rho_inverse=3, delta=0.01)
    entry = only(certificate, Method.CASCADE)
    assert entry.value == pytest.approx(bound.value)
    assert entry.n_models == 5
    assert only(certificate, "cascade criterion").gamma_scale == 0.1


def test_votes_share_delta_and_pay_for_the_settings_compared():
    evidence = votes(n_models=3)
    certificate = certify(Toy(evidence), delta=0.06, n_models_in_sample=2)
    loss, n = evidence.out_of_bag.rates.mean(), evidence.out_of_bag.sizes.min()
    first, second = only(certificate, Method.PAC_BAYES), only(certificate, Method.TANDEM)
    assert first.delta == second.delta == pytest.approx(0.03)
    assert first.n_models == 6
    assert first.value == pytest.approx(pac_bayes_bound(loss, n, delta=0.03, n_models=6))
    tandem, n2 = evidence.tandem.loss(), evidence.tandem.sizes.min()
    assert second.value == pytest.approx(pac_bayes_tandem_bound(tandem, n2, delta=0.03, n_models=6))
    assert certificate.best.value == min(first.value, second.value)
    assert only(certificate, "average out-of-bag error of single trees").biased


def test_a_method_that_was_not_asked_for_takes_no_part_of_delta():
    certificate = certify(Toy(votes()), methods=["pac_bayes"])
    assert only(certificate, Method.PAC_BAYES).delta == 0.05
    assert [w.reason for w in certificate.withheld] == [
        "not among the methods asked for; methods=None gives all that apply"
    ]


@pytest.mark.parametrize(
    ("flag", "reason"),
    [
        ("hard_vote", "the model predicts by hard vote"),
        ("independent_subsamples", "subsamples were drawn without looking at the data"),
        ("in_bag_only", "members were determined by their in-bag points"),
        ("unweighted", "sample is unweighted"),
    ],
)
def test_a_broken_condition_turns_the_guarantee_into_an_estimate(flag, reason):
    certificate = certify(Toy(votes(**{flag: False})))
    assert certificate.guarantees == ()
    assert [w.method for w in certificate.withheld] == [Method.PAC_BAYES, Method.TANDEM]
    assert all(w.reason.startswith(f"conditions not met: {reason};") for w in certificate.withheld)
    assert [entry.status for entry in certificate.entries] == [Status.ESTIMATE]
    assert certificate.verdict == "no guarantee: hold out rows and certify the model on them"


def test_compression():
    evidence = CompressionEvidence(
        n_samples=1000,
        n_compressed=60,
        errors=3,
        n_models=54,
        reproduces=True,
        scaling_fixed=True,
        unweighted=True,
        majority_error=0.5,
    )
    certificate = certify(Toy(evidence))
    entry = only(certificate, Method.COMPRESSION)
    assert entry.value == pytest.approx(compression_bound(1000, 60, 3, n_models=54))
    assert certificate.majority_error == 0.5
    assert not certificate.is_trivial


def test_estimates_and_heuristics_keep_their_words():
    toy = Toy(
        EstimateEvidence(
            name="out-of-fold error", value=0.2, n=50, used_for_selection=True, sample="out-of-fold"
        ),
        HeuristicEvidence(name="margin ratio", value=0.7, n=50),
    )
    certificate = certify(toy, np.zeros((40, 1)), np.array([0, 1] * 20))
    assert only(certificate, "out-of-fold error").biased
    assert only(certificate, "margin ratio").status is Status.HEURISTIC
    assert certificate.is_trivial


def test_holdout_and_structure_share_delta():
    certificate = certify(Toy(votes()), np.zeros((40, 1)), np.zeros(40), delta=0.03)
    assert [entry.delta for entry in certificate.guarantees] == pytest.approx([0.01] * 3)


def test_models_compared_on_the_holdout_count_for_the_training_sample_too():
    points = np.zeros((40, 1)), np.zeros(40)
    certificate = certify(Toy(votes(n_models=2)), *points, n_models=3, n_models_in_sample=5)
    assert only(certificate, Method.HOLDOUT).n_models == 3
    assert only(certificate, Method.PAC_BAYES).n_models == 30


@pytest.mark.parametrize(
    ("evidence", "method"),
    [
        (tree(n_models=4), Method.COMPOSITE_TREE),
        (ForestEvidence(trees=(tree(n_models=2),), hard_vote=True, n_models=2), Method.COMPOSITE_FOREST),
    ],
)
def test_a_tuned_tree_pays_for_its_settings(evidence, method):
    tuned, plain = (
        only(certify(Toy(evidence), n_models_in_sample=3), method),
        only(certify(Toy(tree())), Method.COMPOSITE_TREE),
    )
    assert tuned.n_models == 12
    factor = 2 if method is Method.COMPOSITE_FOREST else 1
    assert tuned.value > factor * plain.value


@pytest.mark.parametrize("evidence", [tree(), votes(), ForestEvidence(trees=(tree(),), hard_vote=True)])
def test_scaling_outside_the_model_leaves_only_the_holdout(evidence):
    certificate = certify(Toy(evidence), np.zeros((40, 1)), np.zeros(40), fixed_features=False)
    assert [entry.method for entry in certificate.guarantees] == [Method.HOLDOUT]
    assert all("no scaler, encoder or choice of columns or rows" in w.reason for w in certificate.withheld)
    (entry, *_) = certify(Toy(evidence)).guarantees
    assert str(entry.conditions[0]).startswith(
        "assumes no scaler, encoder or choice of columns or rows was fitted"
    )


def test_empty_overlaps_withhold_the_tandem_bound_only():
    y = np.zeros(60, dtype=int)
    in_bag = np.arange(60) % 2 == np.array([[0], [1]])  # halves: the two members share no unused point
    fields = {"hard_vote": True, "independent_subsamples": True, "in_bag_only": True, "unweighted": True}
    certificate = certify(Toy(VoteEvidence.from_predictions(np.zeros((2, 60)), in_bag, y, **fields)))
    assert [entry.method for entry in certificate.guarantees] == [Method.PAC_BAYES]
    (withheld,) = certificate.withheld
    assert withheld.reason.startswith("conditions not met: every pair has common out-of-bag points;")
    everything = VoteEvidence.from_predictions(np.zeros((2, 60)), np.ones((2, 60)), y, **fields)
    assert certify(Toy(everything)).entries == ()


def test_unknown_evidence_is_named():
    with pytest.raises(TypeError, match="unknown evidence of type str"):
        certify(Toy("trust me"))


def test_papers_bound_is_vacuous_for_a_few_thousand_points_and_says_so():
    certificate = certify(Toy(tree(correct=[1200, 700], errors=[60, 40])))
    assert only(certificate, Method.COMPOSITE_TREE).value == 1.0
    assert certificate.is_trivial
