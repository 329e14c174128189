"""Scores per fold, and the test of ours against the best of the others."""

from surewood.workflow.comparison_scores import Scores, holm, judge_against_best_baseline


def test_a_clear_loss_is_called_worse():
    def entrant(name, ours, errors):
        ones = tuple(1.0 for _ in errors)
        return Scores(name, name, ours, tuple(errors), ones, ones, ones)

    worse = entrant("a", True, [0.30, 0.31, 0.29, 0.30, 0.32])
    equal = entrant("b", True, [0.10, 0.12, 0.09, 0.11, 0.10])
    peers = [entrant("p", False, [0.10, 0.11, 0.10, 0.10, 0.11]), entrant("q", False, [0.2] * 5)]
    splits = [(range(80), range(20))] * 5
    judged, best = judge_against_best_baseline([worse, equal, *peers], splits)
    assert best == "p"
    assert [one.verdict for one in judged] == ["worse", "no difference shown", "", ""]


def test_holm_is_monotone_and_at_most_one():
    assert holm([0.5, 0.9]) == [1.0, 1.0]


def test_another_metric_picks_another_baseline_and_never_the_floor():
    def entrant(name, ours, errors, aucs, floor=False):
        ones = tuple(1.0 for _ in errors)
        return Scores(name, name, ours, tuple(errors), ones, ones, ones, tuple(aucs), floor)

    ours = entrant("a", True, [0.2, 0.21, 0.2], [0.90, 0.91, 0.90])
    peers = [
        entrant("p", False, [0.1, 0.11, 0.1], [0.7, 0.71, 0.7]),
        entrant("q", False, [0.2, 0.2, 0.2], [0.95, 0.95, 0.96]),
        entrant("majority", False, [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], floor=True),
    ]
    splits = [(range(80), range(20))] * 3
    assert judge_against_best_baseline([ours, *peers], splits)[1] == "p"
    judged, best = judge_against_best_baseline([ours, *peers], splits, "auc")
    assert best == "q"
    assert judged[0].difference > 0  # a smaller area is worse
