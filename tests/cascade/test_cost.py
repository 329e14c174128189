import pytest
from sklearn.datasets import make_moons

from surewood import DeepCascadeClassifier, DeepCascadeSVMClassifier
from surewood.cascade import KernelFamily, LinearFamily, StumpFamily
from surewood.cascade.cost import generic_memory, make_gram, svm_memory
from tests.cascade.small_tasks import small_problem


def test_memory_is_counted_part_by_part():
    plan, sample = small_problem()
    parts, notes = svm_memory(plan.settings, sample)
    assert {"table", "design", "SVMs"} <= set(parts)
    assert notes == ()
    parts = generic_memory([StumpFamily()], sample)
    assert parts["members"] > parts["SVMs"] == 0
    assert generic_memory([KernelFamily()], sample)["SVMs"] > 0
    assert generic_memory([LinearFamily("hinge")], sample)["SVMs"] > 0


def test_a_fit_beyond_its_memory_is_refused():
    plan, sample = small_problem(max_memory=1000)
    with pytest.raises(ValueError, match=r"a fit needs about \d+ MiB, more than max_memory=.*use fewer rows"):
        make_gram(plan.settings, sample)
    X, y = make_moons(60, noise=0.2, random_state=0)
    for model in (DeepCascadeSVMClassifier(max_memory="1kB"), DeepCascadeClassifier(max_memory="1kB")):
        with pytest.raises(ValueError, match="more than max_memory"):
            model.fit(X, y)


def test_costs_are_estimated_before_a_fit():
    X, y = make_moons(60, noise=0.2, random_state=0)
    for model in (DeepCascadeSVMClassifier(max_leaves=2), DeepCascadeClassifier(max_leaves=2)):
        cost = model.estimate_cost(X, y)
        assert cost.memory_bytes > 0
        assert 0 < cost.seconds[0] <= cost.seconds[1]
        assert not hasattr(model, "model_")
