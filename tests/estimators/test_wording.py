"""Small pieces of text."""

from surewood.estimators.wording import condition_text, path_text, plural, probabilities_text


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
