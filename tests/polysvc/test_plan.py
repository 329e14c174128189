"""Every parameter of PolySVC is checked, and settled before training starts."""

import numpy as np
import pytest

from surewood import PolySVC
from surewood.polysvc.plan import make_plan

C_WORDS = "'auto', a number above 0 or a list of numbers above 0, one per degree"


@pytest.mark.parametrize(
    ("parameter", "value", "error", "accepted"),
    [
        ("C", 0.0, ValueError, C_WORDS),
        ("C", "1", ValueError, C_WORDS),
        ("C", None, TypeError, C_WORDS),
        ("kernel", "sigmoid", ValueError, "'poly', 'rbf' or 'linear'"),
        ("degree", -1, ValueError, "an integer from 0 to 100"),
        ("degree", 2.0, TypeError, "an integer from 0 to 100"),
        ("gamma", "big", ValueError, "'scale', 'auto' or a number above 0"),
        ("gamma", np.inf, ValueError, "'scale', 'auto' or a number above 0"),
        ("coef0", np.nan, ValueError, "a number"),
        ("tol", 0, ValueError, "a number above 0"),
        ("max_iter", -2, ValueError, "-1 or an integer of at least 1"),
        ("scale", 1, TypeError, "True or False"),
        ("decision_function_shape", "ova", ValueError, "'ovr' or 'ovo'"),
        ("calibrate", "platt", ValueError, "True, False, 'auto', 'temperature', 'offset' or 'isotonic'"),
        ("max_memory", -1, ValueError,
         "a number of bytes above 0, text such as '4GB' or '512MiB' or None"),
        ("cache_size", 0, ValueError, "a number of MB above 0"),
    ],
)  # fmt: skip
def test_the_error_names_parameter_value_and_what_is_accepted(parameter, value, error, accepted):
    model = PolySVC(**{parameter: value})
    with pytest.raises(error) as caught:
        model.fit([[0.0], [1.0]], [0, 1])
    assert str(caught.value) == f"{parameter} must be {accepted}, got {value!r}."
    assert not hasattr(model, "classes_")


def test_what_parameters_mean():
    plan = make_plan(PolySVC(kernel="rbf", degree=7, max_iter=-1, max_memory="1MB", cache_size=1))
    assert (plan.degree, plan.max_iter, plan.max_memory, plan.cache_bytes) == (1, 10**7, 10**6, 2**20)
    assert (plan.C, plan.calibration) == (1.0, "auto")
    assert make_plan(PolySVC(C="auto")).C is None
    assert make_plan(PolySVC(C=[3])).C == 3.0
    with pytest.raises(
        ValueError, match=r"C must be one number for the one degree of a PolySVC, got \[1, 2\]"
    ):
        make_plan(PolySVC(C=[1, 2]))


def test_gamma_by_the_data_or_by_the_width():
    design = np.array([[0.0, 2.0], [4.0, 2.0]])
    weight = np.array([1.0, 1.0])
    assert make_plan(PolySVC(gamma="auto")).kernel_spec(design, weight).gamma == 0.5
    assert make_plan(PolySVC(gamma="scale")).kernel_spec(design, weight).gamma == 1 / (2 * design.var())
    assert make_plan(PolySVC(gamma=3)).kernel_spec(design, None).gamma == 3.0
