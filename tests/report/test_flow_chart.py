"""A chain of classifiers as bars: no row is lost."""

from surewood.report.flow_chart import flow


def stage(arrive, points, accuracy, threshold):
    own = {"label": "degree <1>", "arrive": arrive, "points": points}
    return {**own, "accuracy": accuracy, "threshold": threshold}


def test_rows_that_arrive_leave_or_go_on():
    html = flow([stage(100, 60, 0.9, 0.5), stage(40, 40, 0.3, None)])
    assert "60 of 100 leave, 90.0 % correct" in html
    assert "40 rows go on" in html
    assert "|f| &gt; 0.5" in html
    widths = ("width:54.0%", "width:6.0%", "width:40.0%", "width:12.0%", "width:28.0%")
    assert all(width in html for width in widths)
    assert "<1>" not in html


def test_without_labels_nothing_is_called_wrong():
    html = flow([stage(10, 10, None, None)])
    assert "10 of 10 leave<" in html
    assert html.count("<i style") == 1
