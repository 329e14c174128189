"""Small pieces of text."""

from surewood.base.wording import (
    because_lines,
    cell_text,
    condition_text,
    path_text,
    plural,
    points_text,
    probabilities_text,
)


def test_at_most_four_classes_are_shown():
    assert probabilities_text({k: k / 15 for k in range(1, 6)}) == (
        "5: 33.3 %, 4: 26.7 %, 3: 20.0 %, 2: 13.3 %, 1 more"
    )


def test_conditions_of_all_kinds():
    steps = [
        {"feature": "age", "operator": ">", "value": 30.0},
        {"feature": "city", "operator": "in", "value": list("abcde")},
        {"feature": "day", "operator": "is missing", "value": None},
    ]
    assert path_text(steps) == "age > 30, city in {a, b, c, d, ...}, day is missing"
    assert condition_text(steps[0]) == "age > 30"
    assert plural(2, "leaf", "leaves") == "2 leaves"


def test_values_are_short_and_missing_ones_say_so():
    assert cell_text("x" * 50) == "x" * 39 + "…"
    assert cell_text(3) == "3"
    assert cell_text(None) == "missing"


def test_contributions_have_a_sign_and_an_error_where_it_shows():
    assert points_text(-0.123) == "-12.3 points"
    assert points_text(0.123, 0.00001) == "+12.3 points"
    assert points_text(0.123, 0.0123) == "+12.3 ± 1.2 points"


def test_nothing_that_matters_is_one_line_and_the_sum():
    because = {"label": 1, "probability": 0.5, "expected": 0.5, "columns": [], "others": 0.0, "n_others": 4}
    assert because_lines(because) == [
        "4 columns  +0.0 points",
        "probability of 1: 50.0 %; average prediction 50.0 %",
    ]
