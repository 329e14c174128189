"""``surewood compare``: the table, the tests, the page."""

import json

from command import messy_frame, mistake, run, write

from surewood.cli.comparing import Entrant, holm, judge_against_best_peer


def test_compare_end_to_end(tmp_path):
    path = write(messy_frame(90), tmp_path / "t.csv")
    chosen = [word for name in ("rcf", "rf", "hgb", "xgboost", "lightgbm") for word in ("--only", name)]
    options = (
        "--target",
        "treu?",
        "--folds",
        "2",
        "--n-jobs",
        "1",
        "--out",
        tmp_path / "page.html",
        "--json",
    )
    shown = run("compare", path, *chosen, *options)
    assert shown.returncode == 0, shown.stderr
    result = json.loads(shown.stdout)
    assert [row["name"] for row in result["results"]] == ["rcf", "rf", "hgb", "xgboost", "lightgbm"]
    assert all(len(row["errors"]) == 2 and row["error"] < 0.5 for row in result["results"])
    assert result["best_peer"] in ("rf", "hgb", "xgboost", "lightgbm")
    ours = result["results"][0]
    assert 0 <= ours["p_value"] <= 1
    assert ours["verdict"]
    assert "Kunden-Nr." in "".join(result["notes"])
    assert "XGBoost" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert mistake("compare", path, "--target", "treu?", "--only", "svm").startswith(
        "--only svm: choose among"
    )


def test_a_clear_loss_is_called_worse():
    def entrant(name, ours, errors):
        return Entrant(name, name, ours, lambda n, c: None, errors=errors)

    worse = entrant("a", True, [0.30, 0.31, 0.29, 0.30, 0.32])
    equal = entrant("b", True, [0.10, 0.12, 0.09, 0.11, 0.10])
    peers = [entrant("p", False, [0.10, 0.11, 0.10, 0.10, 0.11]), entrant("q", False, [0.2] * 5)]
    splits = [(range(80), range(20))] * 5
    assert judge_against_best_peer([worse, equal, *peers], splits) is peers[0]
    assert (worse.verdict, equal.verdict) == ("worse", "no difference shown")
    assert peers[1].verdict == ""


def test_holm_is_monotone_and_at_most_one():
    assert holm([0.5, 0.9]) == [1.0, 1.0]
