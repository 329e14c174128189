"""The page of a monitor."""

import numpy as np

from surewood.monitor import Monitor
from surewood.workflow.monitoring_page import write_monitor_page


def test_the_page_shows_both_paths_and_escapes_names(tmp_path):
    rng = np.random.default_rng(0)
    monitor = Monitor(0.1, holdout_scores=rng.random(100))
    monitor.add(errors=rng.random(50) < 0.1, scores=rng.random(50))
    write_monitor_page(monitor, "<b>model</b>", tmp_path / "m.html")
    text = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert "Evidence that rows look different" in text
    assert "Limits of the error so far" in text
    assert "No alarm so far." in text
    assert "<b>model</b>" not in text
