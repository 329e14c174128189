"""The confusion matrix for few and for many classes."""

import numpy as np

from surewood.report.heat_map import confusion_map


def test_few_classes_have_counts_and_rates():
    html = confusion_map(["<no>", "yes"], ["<no>", "yes", "abstains"], np.array([[6, 2, 2], [0, 0, 0]]))
    assert "<no>" not in html
    assert html.count("<td") == 6
    assert "60 %" in html


def test_many_classes_draw_only_what_occurs():
    names = [f"class {k}" for k in range(100)]
    counts = np.eye(100, dtype=int) * 5
    counts[3, 7] = 1
    html = confusion_map(names, names, counts)
    assert html.count("<rect") == 101
    assert "true class 3, predicted class 7: 1 (17 %)" in html
