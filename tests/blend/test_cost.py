"""The cost of a mixture before it is fitted."""

from sklearn.datasets import load_iris

from surewood import SurewoodClassifier

X, Y = load_iris(return_X_y=True)


def test_times_add_up_and_memory_is_that_of_the_largest_member():
    one = SurewoodClassifier(5, members=["random forest"]).estimate_cost(X, Y)
    both = SurewoodClassifier(5, members=["random forest", "composite forest"]).estimate_cost(X, Y)
    assert both.seconds[1] > one.seconds[1]
    assert both.memory_bytes >= one.memory_bytes


def test_a_time_limit_bounds_the_estimate():
    assert SurewoodClassifier(time_limit=0.5).estimate_cost(X, Y).seconds[1] <= 0.75
