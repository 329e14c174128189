"""Rules of one method come simplest first, and name what they chose."""

from surewood.experiments.rcf.rules import SELECTIONS, Rule, rules_of


def test_the_order_of_rules_is_the_order_of_preference():
    rules = rules_of(tuple(SELECTIONS), gammas=[1e-3, 1.0], degrees=[3, 1])
    by_method = {method: [rule.value for rule in rules if rule.method == method] for method in SELECTIONS}
    assert by_method == {
        "rcf": [1.0, 1e-3],
        "rcf_sequences": [1.0, 1e-3],
        "rf_svm": [1.0, 3.0],
        "rf_svm_random": [None],
    }


def test_what_was_chosen_has_its_name():
    assert Rule("rcf", 0.1).chosen() == {"gamma": 0.1}
    assert Rule("rf_svm", 3.0).chosen() == {"degree": 3}
    assert Rule("rf_svm_random", None).chosen() == {}
