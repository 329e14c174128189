"""A chain of classifiers as a Sankey diagram: no row is lost."""

from surewood.report.flow_chart import flow


def stage(arrive, points, accuracy, threshold):
    own = {"label": "degree 1", "arrive": arrive, "points": points}
    return {**own, "accuracy": accuracy, "threshold": threshold}


def test_rows_that_arrive_leave_or_go_on():
    found = flow({"name": "", "stages": [stage(100, 60, 0.9, 0.5), stage(40, 40, 0.3, None)]})
    (sankey,) = found["data"]
    link = sankey["link"]
    flows = dict(zip(zip(link["source"], link["target"]), link["value"]))
    assert flows == {(0, 2): 60, (0, 1): 40, (1, 3): 40}
    assert sankey["node"]["label"][2] == "60 leave, 90.0 % correct"
    assert sankey["node"]["color"][2:] == ["@leaf", "@warn"]
    assert found["name"] == "all classes"


def test_narrow_screens_get_short_labels():
    found = flow({"name": "setosa", "stages": [stage(10, 10, None, None)]})
    assert found["narrow"][0]["node"]["label"] == ["1", "10 leave"]
