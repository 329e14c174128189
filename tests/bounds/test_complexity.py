"""Growth, VC dimension and Rademacher complexity against enumeration and definition."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surewood import bounds
from tests.bounds.rademacher_reference import exact_rademacher


def test_worked_numbers():
    assert bounds.vc_dimension(16, 2) == 153
    assert bounds.log_growth(153, 600) == pytest.approx(362.073235, abs=1e-6)
    assert bounds.log_growth(153, 600, mode="sum") == pytest.approx(337.785039, abs=1e-6)
    assert bounds.log_growth(600, 600) == pytest.approx(415.888308, abs=1e-6)
    growth = [bounds.split_log_growth(600, 4, 16, mode=mode) for mode in ("paper", "union", "cond")]
    assert growth == pytest.approx([18.021549, 9.862666, 8.476371], abs=1e-6)


def test_dimensions_are_exact_integers_of_any_size():
    assert bounds.vc_dimension(180, 9) == math.comb(189, 9)
    many = bounds.vc_dimension(784, np.array([1, 9, 1]))
    assert many.dtype == object
    assert many.tolist() == [785, math.comb(793, 9), 785]
    assert bounds.vc_dimension(18, np.array([0, 3])).dtype == np.int64
    assert bounds.vc_dimension(3, 2, homogeneous=True) == math.comb(4, 2) + 1
    assert bounds.vc_dimension(1, 0) == 1


def test_growth_of_huge_dimension_is_capped():
    assert bounds.log_growth(math.comb(793, 9), 100) == pytest.approx(100 * math.log(2))
    assert bounds.log_growth(bounds.vc_dimension(784, np.array([1, 9])), 1000).shape == (2,)


@given(st.integers(0, 80), st.integers(1, 60))
def test_sauer_sum_is_the_logarithm_of_the_exact_integer(d, m):
    exact = math.log(sum(math.comb(m, i) for i in range(min(d, m) + 1)))
    assert bounds.log_growth(d, m, mode="sum") == pytest.approx(exact, abs=1e-10)


@given(st.integers(1, 400))
def test_capped_growth_rises_with_dimension_dominates_the_sum_and_stays_below_all_labelings(m):
    d = np.arange(0, 2 * m + 2)
    capped, exact = bounds.log_growth(d, m), bounds.log_growth(d, m, mode="sum")
    assert (np.diff(capped) >= -1e-12).all()
    assert (np.diff(exact) >= -1e-12).all()
    assert (capped >= exact - 1e-9).all()
    assert (capped <= m * math.log(2) + 1e-12).all()


def test_raw_growth_shows_the_defect_only_when_forced():
    with pytest.raises(ValueError, match="raw growth needs vc <= m, got vc=11 > m=10"):
        bounds.log_growth(11, 10, mode="raw")
    assert bounds.log_growth(40, 10, mode="raw", force=True) < 0
    assert bounds.log_growth(5, 10, mode="raw") == pytest.approx(5 * math.log(math.e * 2))


@given(st.integers(1, 10**6), st.integers(1, 300), st.data())
def test_question_growths_are_ordered(m, total, data):
    r = data.draw(st.integers(1, total))
    cond, union, paper = (bounds.split_log_growth(m, r, total, mode=k) for k in ("cond", "union", "paper"))
    assert cond <= union + 1e-12
    assert union <= paper + 1e-12


@pytest.mark.parametrize("m", [1, 2, 5, 9])
def test_distinct_numbers_have_twice_as_many_labelings_as_points(m):
    x = np.sort(np.random.default_rng(m).normal(size=m))
    cuts = np.concatenate(([-np.inf], x))
    labelings = {tuple(x <= t) for t in cuts} | {tuple(x > t) for t in cuts}
    assert len(labelings) == 2 * m


def test_strips_shatter_the_corners_of_a_square():
    corners = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(3000):
        w, b, c = rng.normal(size=2), rng.normal(), abs(rng.normal())
        strip = np.abs(corners @ w + b) <= c
        seen |= {tuple(strip), tuple(~strip)}
    assert len(seen) == 16
    directions = rng.normal(size=(3000, 2)) @ corners.T + rng.normal(size=(3000, 1))
    assert len({tuple(row) for row in directions > 0}) == 14  # half-planes miss the two diagonals


def test_leaf_growth_of_constant_and_one_vs_one_leaves():
    paper = bounds.leaf_log_growth([0, 1, 2], 16, 600, 3)
    ovo = bounds.leaf_log_growth([0, 1, 2], 16, 600, 3, svm="ovo")
    assert paper[0] == ovo[0] == pytest.approx(math.log(2))
    assert ovo[1] == pytest.approx(math.log(3) + 3 * bounds.log_growth(17, 600))
    assert ovo[2] == pytest.approx(600 * math.log(2))
    assert bounds.leaf_log_growth(2, 16, 600, 2, svm="ovo") == bounds.leaf_log_growth(2, 16, 600, 2)
    assert bounds.leaf_log_growth(2, 16, 600, growth="sum") == pytest.approx(337.785039, abs=1e-6)


def random_class(rng, values, n_functions, m):
    return rng.choice(values, size=(n_functions, m))


def all_products(first, second):
    return np.array([a * b for a, b in product(first, second)])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 4), st.integers(1, 4))
def test_products_of_classes_by_enumeration(seed, m, n_first, n_second):
    rng = np.random.default_rng(seed)
    binary = random_class(rng, [0.0, 1.0], n_first, m)
    cases = {
        "two_valued": (binary, random_class(rng, [-1.0, 1.0], n_second, m)),
        "unit": (rng.random((n_first, m)), rng.random((n_second, m))),
        "signed": (rng.uniform(-1, 1, (n_first, m)), rng.uniform(-1, 1, (n_second, m))),
        "binary_unit": (binary, rng.random((n_second, m))),
        "binary_signed": (binary, rng.uniform(-1, 1, (n_second, m))),
    }
    for values, (first, second) in cases.items():
        joint = exact_rademacher(all_products(first, second))
        bound = bounds.product_rademacher(
            max(0.0, exact_rademacher(first)), max(0.0, exact_rademacher(second)), values=values
        )
        assert joint <= bound + 1e-12, values
    both_binary = random_class(rng, [0.0, 1.0], n_second, m)
    joint = exact_rademacher(all_products(binary, both_binary))
    assert (
        joint
        <= bounds.product_rademacher(*(max(0.0, exact_rademacher(c)) for c in (binary, both_binary))) + 1e-12
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 12))
def test_massart_in_both_forms_and_by_counting(seed, m, n_functions):
    rng = np.random.default_rng(seed)
    binary = random_class(rng, [0.0, 1.0], n_functions, m)
    signed = 2 * binary - 1
    growth = math.log(len(np.unique(binary, axis=0)))
    assert exact_rademacher(binary) == pytest.approx(exact_rademacher(signed) / 2, abs=1e-12)
    assert exact_rademacher(signed) <= bounds.massart(growth, m, values="signed") + 1e-12
    assert exact_rademacher(binary) <= bounds.massart(growth, m, values="binary") + 1e-12


def test_paths():
    assert bounds.path_rademacher([], 0.25) == 0.25
    assert bounds.path_rademacher([0.25, 0.25], 0.5, leaf_values="signed") == 2.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.log_growth(-1, 10), "vc must be integers >= 0, got -1"),
        (lambda: bounds.log_growth(1.5, 10), "vc must be integers >= 0"),
        (lambda: bounds.log_growth(3, 0), "m must be an integer >= 1, got 0"),
        (lambda: bounds.log_growth(3, 10, mode="exact"), "mode must be one of capped, raw, sum, got 'exact'"),
        (lambda: bounds.vc_dimension(0, 2), "n_features must be an integer >= 1, got 0"),
        (lambda: bounds.vc_dimension(3, -1), "degree must be an integer >= 0, got -1"),
        (lambda: bounds.split_log_growth(10, 5, 4), "max_features must be <= n_features=4, got 5"),
        (lambda: bounds.split_log_growth(10, 0, 4), "max_features must be an integer >= 1, got 0"),
        (lambda: bounds.leaf_log_growth(1, 4, 10, 1), "n_classes must be an integer >= 2, got 1"),
        (lambda: bounds.massart(-1.0, 10), "log_growth must be >= 0, got -1"),
        (lambda: bounds.massart(float("nan"), 10), "log_growth must be finite"),
        (lambda: bounds.massart(1.0, True), "m must be an integer >= 1, got True"),
        (lambda: bounds.product_rademacher(0.1, 0.1, values="any"), "values must be one of"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("n", [1, 5, 40])
def test_the_constant_classifier_has_dimension_one_with_and_without_constant_term(n):
    assert bounds.vc_dimension(n, 0, homogeneous=True) == bounds.vc_dimension(n, 0) == 1
    assert bounds.vc_dimension(n, [0, 1], homogeneous=True).tolist() == [1, n + 1]


def thresholds(m, orientations):
    x = np.arange(m)
    below = np.array([x <= t for t in range(-1, m)], dtype=float)
    return below if orientations == 1 else np.vstack([below, 1 - below])


def intervals(m):
    x = np.arange(m)
    return np.array([(x >= a) & (x < b) for a in range(m + 1) for b in range(a, m + 1)], dtype=float)


@pytest.mark.parametrize("m", range(1, 13))
@pytest.mark.parametrize("orientations", [1, 2])
def test_thresholds_equal_enumeration(m, orientations):
    table = thresholds(m, orientations)
    binary = bounds.threshold_rademacher(m, orientations=orientations, values="binary")
    assert binary == pytest.approx(exact_rademacher(table), abs=1e-12)
    if orientations == 2:
        assert bounds.threshold_rademacher(m) == pytest.approx(exact_rademacher(2 * table - 1), abs=1e-12)


@pytest.mark.parametrize("m", range(1, 13))
def test_intervals_equal_enumeration(m):
    assert bounds.interval_rademacher(m) == pytest.approx(exact_rademacher(intervals(m)), abs=1e-12)
    assert bounds.interval_rademacher(m, values="signed") == pytest.approx(2 * bounds.interval_rademacher(m))


@pytest.mark.parametrize("m", [50, 301])
def test_closed_forms_agree_with_monte_carlo_at_larger_sizes(m):
    def split(signs):
        prefix = np.concatenate(([0], np.cumsum(signs)))
        return np.abs(2 * prefix - prefix[-1]).max()

    def rise(signs):
        prefix = np.concatenate(([0], np.cumsum(signs)))
        return (prefix - np.minimum.accumulate(prefix)).max()

    for supremum, value in ((split, bounds.threshold_rademacher(m)), (rise, bounds.interval_rademacher(m))):
        simulated = bounds.monte_carlo_rademacher(supremum=supremum, m=m, n_draws=4000, seed=m)
        assert abs(simulated.estimate - value) < 4 * simulated.standard_error


def test_large_samples_take_no_enumeration():
    assert bounds.threshold_rademacher(10**5) == pytest.approx(
        10**-2.5 * bounds.threshold_rademacher(100) / 0.1, rel=0.2
    )
    assert bounds.interval_rademacher(10**5) < bounds.interval_rademacher(10**4)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 6))
def test_monte_carlo_covers_the_exact_value(seed, m, n_functions):
    table = np.random.default_rng(seed).normal(size=(n_functions, m))
    simulated = bounds.monte_carlo_rademacher(table, n_draws=2000, seed=seed)
    assert abs(simulated.estimate - exact_rademacher(table)) <= 6 * simulated.standard_error + 1e-12


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 3))
def test_the_kernel_bound_holds_for_members_of_the_ball(seed, m, n):
    rng = np.random.default_rng(seed)
    X, directions = rng.normal(size=(m, n)), rng.normal(size=(60, n))
    euclidean = directions / np.linalg.norm(directions, axis=1, keepdims=True) * 2.0
    limit = bounds.kernel_rademacher(np.diag(X @ X.T), norm=2.0)
    assert exact_rademacher(euclidean @ X.T) <= limit + 1e-12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.monte_carlo_rademacher(), "exactly one of values and supremum"),
        (lambda: bounds.monte_carlo_rademacher([[1.0]], n_draws=1), "n_draws must be an integer >= 2, got 1"),
        (lambda: bounds.monte_carlo_rademacher(supremum=len), "m must be an integer >= 1, got None"),
        (lambda: bounds.threshold_rademacher(5, orientations=3), "orientations must be 1 or 2, got 3"),
        (lambda: bounds.threshold_rademacher(0), "m must be an integer >= 1, got 0"),
        (lambda: bounds.kernel_rademacher([-1.0]), "kernel_diagonal must be >= 0, got -1"),
    ],
)
def test_rademacher_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_single_function_has_no_complexity_and_never_a_negative_one():
    rng = np.random.default_rng(0)
    for m in range(1, 12):
        assert 0.0 <= exact_rademacher(rng.normal(size=(1, m))) <= 1e-15
