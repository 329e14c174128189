"""Solving batches: against the reference, edge cases, large leaves, the result."""

import itertools
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from surewood import _core
from surewood.base.parameters import MAX_DEGREE
from surewood.svm.dual import solve_many
from surewood.svm.gram import Gram, KernelSpec
from tests.instruction_sets import each_instruction_set
from tests.svm.reference import blobs, check_kkt, decisions, equal_arrays, group_rows, kernel_matrix

UNCAPPED = 10_000_000
ENOUGH = 50_000


def libsvm(K, labels, C, weights=None):
    return SVC(kernel="precomputed", C=C, tol=1e-3).fit(K, labels, sample_weight=weights)


def dual_value(machine, K):
    beta = machine.dual_coef_[0]
    support = machine.support_
    return np.abs(beta).sum() - 0.5 * beta @ K[np.ix_(support, support)] @ beta


def every_bias_is_unique(machine, C):
    """Whether each pair of a libsvm machine has a point that lies on its margin."""
    owner = np.repeat(np.arange(len(machine.n_support_)), machine.n_support_)
    for a, b in itertools.combinations(range(len(machine.n_support_)), 2):
        beta = np.append(machine.dual_coef_[b - 1, owner == a], machine.dual_coef_[a, owner == b])
        if not ((np.abs(beta) > 1e-9 * C) & (np.abs(beta) < C * (1 - 1e-9))).any():
            return False
    return True


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(4, 90),
    d=st.integers(1, 8),
    n_classes=st.integers(2, 4),
    degrees=st.lists(st.integers(1, 9), min_size=1, max_size=5, unique=True),
    log_C=st.floats(-3, 1),
    kind=st.sampled_from(["poly", "poly", "rbf"]),
    seed=st.integers(0, 10**6),
)
@example(n=85, d=1, n_classes=2, degrees=[1, 8], log_C=-1.0, kind="poly", seed=185)
@example(n=79, d=1, n_classes=2, degrees=[1, 2, 6], log_C=1.0, kind="poly", seed=2)
@example(n=75, d=1, n_classes=2, degrees=[8], log_C=1.0, kind="poly", seed=1)  # float32 shows
@example(n=20, d=1, n_classes=3, degrees=[1], log_C=0.0, kind="poly", seed=0)  # a bias that is not unique
def test_optimal_and_equal_to_libsvm(n, d, n_classes, degrees, log_C, kind, seed):
    X, labels = blobs(n, d, n_classes, seed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    spec, C = KernelSpec(kind, 1.0 / d, 1.0), 10.0**log_C
    degrees = degrees if kind == "poly" else [1]
    group = np.random.default_rng(seed).permutation(n)
    machines = solve_many(Gram(X), [group], labels, degrees, C, kernel=spec, max_iter=ENOUGH)
    for k, degree in enumerate(degrees):
        check_kkt(machines, k, X, labels, C)
        if not machines.converged.ravel()[k]:
            continue
        K = kernel_matrix(X, X, spec, degree)
        peer = libsvm(K, labels, C)
        if n_classes == 2:
            expected = dual_value(peer, K)
            # The dual is concave: at a KKT gap e it is within e |alpha - alpha*|_1 / 2 of its maximum.
            both = np.abs(machines.coef(k)).sum() + np.abs(peer.dual_coef_).sum()
            room = 1e-4 * expected + 1e-3 * both / 2
            # Of the kernel in double; what is reported is of the float32 kernel, see check_kkt.
            beta, support = machines.coef(k)[:, 0], machines.support(k)
            own, theirs = K[np.ix_(support, support)], K[np.ix_(peer.support_, peer.support_)]
            found = np.abs(beta).sum() - 0.5 * beta @ own @ beta
            # A kernel value is a rounded product, rounded at each of its multiplications: the optimum of the
            # float32 problem is at most this far from that of the problem in double.
            alpha = np.abs(peer.dual_coef_[0])
            terms = np.abs(beta) @ np.abs(own) @ np.abs(beta) + alpha @ np.abs(theirs) @ alpha
            rounding = 0.5 * (2 * degree + 2) * 2.0**-24 * terms
            assert abs(found - expected) <= room + rounding
        if not every_bias_is_unique(peer, C):
            continue
        values = decisions(machines, k, X, labels, X)[group]
        clear = (np.abs(values) > 1e-2 * max(1.0, np.abs(K).max() ** 0.5)).all(axis=1)
        assert (machines.predicted(k)[clear] == peer.predict(K)[group][clear]).all()


def test_what_rounding_leaves_of_a_variable_is_not_a_free_point():
    """All points at their bounds: the bias is the middle of the interval of optimal ones."""
    X, labels = blobs(20, 1, 3, 0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    group = np.random.default_rng(0).permutation(20)
    machines = solve_many(Gram(X), [group], labels, [1], 1.0, kernel=KernelSpec("poly", 1.0, 1.0))
    rows = np.flatnonzero(labels != 1)
    sign = np.where(labels[rows] == 0, 1.0, -1.0)
    K = kernel_matrix(X[rows], X[rows], KernelSpec("poly", 1.0, 1.0), 1)
    alpha = np.zeros(len(rows))
    peer = libsvm(K, labels[rows], 1.0)
    alpha[peer.support_] = np.abs(peer.dual_coef_[0]).round(9)
    assert set(alpha) == {0.0, 1.0}
    v = sign - K @ (alpha * sign)
    lowest = v[(alpha == 1) == (sign < 0)].max()
    highest = v[(alpha == 1) == (sign > 0)].min()
    assert lowest < highest
    assert machines.pair("bias", 0)[1] == pytest.approx((lowest + highest) / 2, abs=1e-3)


@pytest.mark.parametrize(("C", "features"), [(1.0, 6), (0.1, 2), (10.0, 12), (100.0, 24)])
def test_thousands_of_leaf_problems_agree_with_libsvm(C, features):
    """Objectives within 1e-4, predictions equal except at |decision| < 1e-3, over 3,960 problems.

    Both stop at the same KKT gap, which allows either a relative shortfall of about that gap: one problem
    in a thousand may use it.
    """
    rng = np.random.default_rng(features)
    X, labels = blobs(400, features, 2, 5)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    groups = []
    while len(groups) < 110:
        rows = rng.permutation(400)[: rng.integers(6, 40)]
        if len(np.unique(labels[rows])) == 2:
            groups.append(rows)
    spec, degrees = KernelSpec.default(features), np.arange(1, 10)
    machines = solve_many(Gram(X), groups, labels, degrees, C, kernel=spec, max_iter=UNCAPPED)
    assert machines.converged.all()
    apart, differences = [], 0
    for g, rows in enumerate(groups):
        for k, degree in enumerate(degrees):
            K = kernel_matrix(X[rows], X[rows], spec, degree)
            peer = libsvm(K, labels[rows], C)
            problem = machines.index(g, k)
            expected = dual_value(peer, K)
            apart.append(abs(machines.pair("objective", problem)[0] - expected) / expected)
            assert apart[-1] <= max(1e-4, machines.pair("gap", problem)[0])
            differs = machines.predicted(problem) != peer.predict(K)
            differences += differs.sum()
            assert (np.abs(peer.decision_function(K)[differs]) < 1e-3).all()
    assert np.quantile(apart, 0.999, method="lower") <= 1e-4
    assert differences <= 2


def test_warm_starts_reach_the_same_optimum_in_fewer_iterations():
    X, labels = blobs(200, 6, 2, 3)
    Cs = 10.0 ** np.arange(-3, 2)
    cold = solve_many(Gram(X), [np.arange(200)], labels, [1, 2], Cs, max_iter=UNCAPPED)
    warm = solve_many(Gram(X), [np.arange(200)], labels, [1, 2], Cs, max_iter=UNCAPPED, warm_start=True)
    np.testing.assert_allclose(warm.arrays["objective"], cold.arrays["objective"], rtol=1e-4)
    assert warm.iterations.sum() < cold.iterations.sum()
    for problem in range(10):
        check_kkt(warm, problem, X, labels, warm.C[problem])


def noisy_lines(n=90, d=6, seed=3):
    """Labels that a line explains badly: at large C plain pair steps need very many iterations."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[n - 8 :] = X[:8]  # equal rows: their kernel is singular at any degree
    return X, (X[:, 0] + 2.0 * rng.normal(size=n) > 0).astype(np.int32)


@pytest.mark.parametrize("C", [10.0, 1000.0])
def test_noisy_leaves_at_large_C_are_optimal_and_the_same_everywhere(C):
    X, labels = noisy_lines()
    spec, gram = KernelSpec("poly", 1.0 / 6, 1.0), Gram(X)

    def solve(**options):
        return solve_many(gram, [np.arange(90)], labels, [1, 2], C, kernel=spec, max_iter=ENOUGH, **options)

    machines = solve()
    assert machines.converged.all()
    for k, degree in enumerate((1, 2)):
        check_kkt(machines, k, X, labels, C)
        K = kernel_matrix(X, X, spec, degree)
        exact = SVC(kernel="precomputed", C=C, tol=1e-6).fit(K, labels)
        assert machines.pair("objective", k)[0] == pytest.approx(dual_value(exact, K), rel=1e-5)
    assert machines.iterations.max() < 30_000  # 15,674 at C = 1000; pair steps alone need 336,890
    assert equal_arrays(machines, solve(cache_size=1))
    for _ in each_instruction_set():
        assert equal_arrays(machines, solve())


@pytest.mark.parametrize("weighted", [False, True])
def test_a_start_that_grows_with_the_box_is_feasible_and_optimal(weighted):
    X, labels = noisy_lines()
    weights = np.random.default_rng(0).uniform(0.3, 3.0, size=len(X)) if weighted else None
    Cs, spec = [0.3, 7.0, 90.0, np.inf], KernelSpec("poly", 1.0 / 6, 1.0)
    options = {"kernel": spec, "weights": weights, "max_iter": ENOUGH}
    warm = solve_many(Gram(X), [np.arange(90)], labels, [1], Cs, warm_start=True, **options)
    cold = solve_many(Gram(X), [np.arange(90)], labels, [1], Cs, **options)
    assert not warm.converged[0, 0, 3]  # a hard margin does not exist
    for k, C in enumerate(Cs[:3]):
        check_kkt(warm, k, X, labels, C, weights)
        assert warm.pair("objective", k)[0] == pytest.approx(cold.pair("objective", k)[0], rel=1e-5)


def test_weights_are_boxes_and_weight_two_is_the_row_twice():
    X, labels = blobs(40, 3, 2, 9)
    weights = np.random.default_rng(0).integers(1, 4, size=40).astype(float)
    weighted = solve_many(Gram(X), [np.arange(40)], labels, [2], 0.5, weights=weights, tol=1e-8)
    check_kkt(weighted, 0, X, labels, 0.5, weights, tol=1e-8)
    rows = np.repeat(np.arange(40), weights.astype(int))
    repeated = solve_many(Gram(X[rows]), [np.arange(len(rows))], labels[rows], [2], 0.5, tol=1e-8)
    a, b = weighted.arrays["objective"], repeated.arrays["objective"]
    np.testing.assert_allclose(a, b, rtol=1e-6)
    grid = np.random.default_rng(1).normal(size=(50, 3))
    np.testing.assert_allclose(
        weighted.predictor().decisions(grid), repeated.predictor().decisions(grid), atol=1e-3
    )
    peer = libsvm(kernel_matrix(X, X, weighted.kernel, 2), labels, 0.5, weights)
    assert np.isclose(a[0], dual_value(peer, kernel_matrix(X, X, weighted.kernel, 2)), rtol=1e-4)


def test_decision_values_of_the_training_points_come_free():
    X, labels = blobs(60, 4, 2, 21)
    rows = np.random.default_rng(0).permutation(60)[:45]
    machines = solve_many(Gram(X), [rows], labels, [3], 1.0, decisions=True)
    expected = -decisions(machines, 0, X, labels, X[rows])[:, 0]
    np.testing.assert_allclose(machines.decision(0), expected, rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match="pass decisions=True"):
        solve_many(Gram(X), [rows], labels, [3], 1.0).decision(0)
    three = solve_many(Gram(X), [rows], (labels + np.arange(60) % 2).astype(int), [1], 1.0, decisions=True)
    with pytest.raises(ValueError, match="two-class SVMs only"):
        three.decision(0)


# --- bad input ---------------------------------------------------------------------------------------------


def test_scaling_does_not_change_the_machine():
    """Degree 40 of a kernel whose values pass 2^100, against libsvm on the kernel divided by a constant."""
    X, labels = blobs(30, 3, 2, 4)
    X /= np.linalg.norm(X, axis=1)[:, None]
    spec, degree, C = KernelSpec("poly", 6.0, 1.0), 40, 8.0**-40
    machines = solve_many(Gram(X), [np.arange(30)], labels, [degree], C, kernel=spec, max_iter=UNCAPPED)
    scale = machines.scale.ravel()[0]
    assert scale == 8
    K = ((spec.gamma * X @ X.T + 1) / scale) ** degree
    peer = libsvm(K, labels, C * scale**degree)
    np.testing.assert_array_equal(machines.predicted(0), peer.predict(K))
    assert np.isclose(machines.pair("objective", 0)[0] * scale**degree, dual_value(peer, K), rtol=1e-3)


def test_the_iteration_cap_is_flagged():
    X, labels = blobs(100, 4, 2, 8)
    machines = solve_many(Gram(X), [np.arange(100)], labels, [1, 2], 10.0, max_iter=5)
    assert not machines.converged.any()
    assert (machines.iterations == 5).all()
    assert (machines.arrays["status"] == 1).all()
    assert (machines.arrays["gap"] > 1e-3).all()
    assert np.isfinite(machines.arrays["objective"]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": 0.0}, "C must be positive"),
        ({"C": -1.0}, "C must be positive"),
        ({"C": np.nan}, "C must be positive"),
        ({"C": np.ones((2, 2, 1))}, r"C of shape \(2, 2, 1\) does not fit \(1 groups, 1 degrees"),
        ({"degrees": [-1]}, "degrees must lie between 0 and 100"),
        ({"degrees": [101]}, "degrees must lie between 0 and 100"),
        ({"degrees": [1.5]}, "degrees must be a list of integers"),
        ({"labels": [0, 1, 0]}, "labels must be 4 integer class codes"),
        ({"labels": [0.0, 1.0, 0.0, 1.0]}, "labels must be 4 integer class codes"),
        ({"labels": [0, -1, 0, 1]}, "found a negative"),
        ({"groups": [[]]}, "group 0 must be a non-empty list of row numbers"),
        ({"groups": [[0.5]]}, "group 0 must hold integer row numbers"),
        ({"groups": [[0, 4]]}, r"groups name rows outside 0\.\.3"),
        ({"weights": [1, 1, 1]}, r"weights must have shape \(4,\)"),
        ({"weights": [1, 0, 1, 1]}, "leave out rows of weight zero"),
        ({"tol": 0.0}, "tol must be positive"),
    ],
)
def test_errors_say_what_was_wrong(change, message):
    arguments = {"groups": [[0, 1, 2, 3]], "labels": [0, 1, 0, 1], "degrees": [1], "C": 1.0} | change
    with pytest.raises(ValueError, match=message):
        solve_many(Gram(np.arange(4.0)[:, None]), **arguments)


def test_an_empty_batch_is_empty():
    machines = solve_many(Gram(np.eye(2)), [], [0, 1], [1], 1.0)
    assert machines.shape == (0, 1, 1)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_is_told_of_every_machine(n_jobs):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(2, size=60)
    told = []
    solve_many(Gram(X), [np.arange(60)] * 30, y, [1, 2], [1.0, 2.0], n_jobs=n_jobs, advance=told.append)
    assert sum(told) == 120

    def fail(count):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        solve_many(Gram(X), [np.arange(60)] * 30, y, [1, 2], [1.0], n_jobs=n_jobs, advance=fail)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_is_told_within_a_large_group(n_jobs):
    rng = np.random.default_rng(0)
    X, y, told = rng.normal(size=(4000, 3)), rng.integers(2, size=4000), []  # noise: a degree takes its time
    Cs = [0.1, 0.3, 1.0, 3.0]
    solve_many(Gram(X), [np.arange(4000)], y, range(1, 10), Cs, n_jobs=n_jobs, advance=told.append)
    assert sum(told) == 36
    assert len(told) > 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_is_answered_soon():
    code = (
        "import numpy as np\nfrom surewood.svm.dual import solve_many\n"
        "from surewood.svm.gram import Gram\n"
        "rng = np.random.default_rng(0); X = rng.normal(size=(3000, 5)); y = rng.integers(2, size=3000)\n"
        "gram = Gram(X, max_memory=0)\nprint('go', flush=True)\n"
        "while True: solve_many(gram, [np.arange(3000)] * 20, y, [9], 1e6, max_iter=-1)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"go\n"
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=30)  # a second on an idle machine
    assert b"KeyboardInterrupt" in error


def test_one_class_is_a_constant():
    machines = solve_many(Gram(np.eye(3)), [np.arange(3), [1]], [4, 4, 4], [1, 2], 1.0)
    assert (machines.n_classes == 1).all()
    assert machines.n_correct.ravel().tolist() == [3, 3, 1, 1]
    assert machines.converged.all()
    assert machines.support(0).size == 0
    assert (machines.predictor().predict(np.ones((5, 3)), np.tile([0, 3], (5, 1))) == 4).all()


def test_one_point_a_class():
    X, labels = np.array([[0.0], [1.0], [2.0]]), np.arange(3)
    machines = solve_many(Gram(X), [np.arange(3)], labels, [1], 1.0)
    check_kkt(machines, 0, X, labels, 1.0)
    pair = solve_many(Gram(X), [[0, 2]], labels, [1], 100.0, kernel=KernelSpec("poly", 1.0, 0.0))
    np.testing.assert_allclose(pair.predictor().decisions([[0.0], [1.0], [2.0]])[:, 0], [1, 0, -1], atol=1e-3)


def test_equal_points_with_opposite_labels():
    X = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 1.0], [3.0, 1.0]])
    labels = np.array([0, 1, 0, 1])
    machines = solve_many(Gram(X), [np.arange(4)], labels, [1, 9], [0.1, 10.0])
    assert machines.converged.all()
    assert (machines.n_correct == 2).all()
    for problem in range(4):
        check_kkt(machines, problem, X, labels, machines.C[problem])
    hard = solve_many(Gram(X), [np.arange(4)], labels, [1], np.inf)
    assert not hard.converged.any()  # cannot be separated: the cap is met and said
    assert np.isfinite(hard.arrays["coef"]).all()
    assert np.isfinite(hard.arrays["bias"]).all()


def test_zero_kernel_and_degree_zero_follow_the_majority():
    labels = np.array([0, 0, 1, 1, 1])
    zero = solve_many(
        Gram(np.zeros((5, 2))), [np.arange(5)], labels, [1], 1.0, kernel=KernelSpec("poly", 1.0, 0.0)
    )
    constant = solve_many(Gram(np.eye(5)), [np.arange(5)], labels, [0], 1.0)
    for machines in (zero, constant):
        assert machines.converged.all()
        assert machines.predicted(0).tolist() == [1] * 5
        check_kkt(machines, 0, np.zeros((5, 2)) if machines is zero else np.eye(5), labels, 1.0)


def test_infinite_C_separates_what_can_be_separated():
    X = np.array([[-2.0], [-1.0], [1.0], [3.0]])
    machines = solve_many(
        Gram(X), [np.arange(4)], [0, 0, 1, 1], [1], np.inf, kernel=KernelSpec("poly", 1.0, 0.0)
    )
    assert machines.converged.all()
    np.testing.assert_allclose(machines.predictor().decisions(X)[:, 0], [2, 1, -1, -3], atol=2e-3)


@pytest.mark.parametrize("degree", [20, 50, 100])
@pytest.mark.parametrize("size", [1.0, 100.0])
def test_high_degrees_stay_finite(degree, size):
    X, labels = blobs(40, 4, 2, 2)
    machines = solve_many(Gram(X * size), [np.arange(40)], labels, [degree], 1.0)
    for name in ("coef", "bias", "objective", "gap"):
        assert np.isfinite(machines.arrays[name]).all()
    scaled = machines.scale.ravel()[0]
    assert np.log2(scaled) == np.floor(np.log2(scaled))
    values = machines.predictor().decisions(np.vstack([X * size, 1e6 * X, 1e200 * X]))
    assert np.isfinite(values).all()
    own = machines.predictor().predict(X * size)[:, 0]
    assert (own == machines.predicted(0)).mean() > 0.95


RUN = """
import resource
import numpy as np
from surewood.svm.dual import solve_many
from surewood.svm.gram import Gram, KernelSpec

rng = np.random.default_rng(0)
labels = np.arange(20_000, dtype=np.int32) % 2
X = rng.normal(size=(20_000, 3)) + 5.0 * labels[:, None]
gram = Gram(X, max_memory=1 << 20)
def solve(n, cache):
    return solve_many(gram, [np.arange(n)], labels, [2], 1.0, kernel=KernelSpec("poly", 0.3, 1.0),
                      cache_size=cache, max_iter=100_000)
solve(500, 1 << 20)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
machines = solve(20_000, 16 << 20)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert machines.converged.all()
print(after - before, int(machines.n_correct.ravel()[0]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has another unit elsewhere")
def test_a_leaf_of_20_000_points_stays_within_its_cache():
    """All kernel rows would take 1.6 GB; 16 MB are allowed, and as much again for everything else."""
    done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True)
    grown, right = map(int, done.stdout.split())
    assert grown <= 2 * 16 * 1024  # KiB
    assert right >= 19_900


rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
Y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=60), [-0.5, 0.5]).astype(np.int32)
GROUPS = [np.arange(0, 40), np.arange(20, 60), np.arange(60)]


@pytest.fixture(scope="module")
def batch():
    return solve_many(Gram(X), GROUPS, Y, [1, 2], [0.1, 1.0])


def test_problems_are_ordered_by_group_degree_and_C(batch):
    assert batch.shape == (3, 2, 2)
    assert [batch.index(g, d, c) for g in range(3) for d in range(2) for c in range(2)] == list(range(12))
    assert batch.degree.tolist() == [1, 1, 2, 2] * 3
    np.testing.assert_allclose(batch.C.reshape(3, 2, 2)[..., 1] / batch.C.reshape(3, 2, 2)[..., 0], 10.0)


def test_support_vectors_belong_to_the_group_and_have_coefficients(batch):
    for problem in range(12):
        support = batch.support(problem)
        assert set(support) <= set(group_rows(batch, problem))
        assert batch.coef(problem).shape == (len(support), len(batch.classes(problem)) - 1)
        assert len(support) == batch.n_support.ravel()[problem]


def test_the_largest_degree_of_parameters_is_that_of_the_core():
    assert MAX_DEGREE == _core.MAX_DEGREE
