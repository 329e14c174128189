"""What notebooks show: the page's colors, names as text."""

import re
from importlib.resources import files

from sklearn.datasets import load_iris

from surewood import BinnedForestClassifier, workflow
from surewood.base import notebook
from surewood.base.notebook import bars, figure_text, framed
from surewood.workflow.explaining import Step

X, y = load_iris(return_X_y=True)


def test_the_colors_are_those_of_the_page():
    style = files("surewood.report").joinpath("static", "page.css").read_text(encoding="utf-8")
    for own, opening in ((notebook._LIGHT, ":root {"), (notebook._DARK, ':root[data-theme="dark"] {')):
        block = style[style.index(opening) :]
        page = dict(re.findall(r"(--[\w-]+): (#\w+)", block[: block.index("}")]))
        mine = dict(re.findall(r"(--[\w-]+):(#\w+)", own))
        assert len(mine) == 10
        assert mine.items() <= page.items()


def test_names_are_text():
    assert "<b>" not in bars([("<b>", 0.0, 1.0, "leaf", "<b>")])
    assert "<b>" not in framed("<b>", "")


def test_negative_bars_go_left():
    html = bars([("up", 0.0, 1.0, "leaf", ""), ("down", 0.0, -1.0, "warn", "")])
    assert "left:50.0%;width:50.0%" in html
    assert "left:0.0%;width:50.0%" in html


def test_a_fitted_model_has_its_figures_above_the_diagram():
    model = BinnedForestClassifier(5, random_state=0)
    assert "surewood" not in model._repr_html_().split("<style>")[0]
    html = model.fit(X, y)._repr_html_()
    assert html.startswith('<div class="surewood">')
    assert "<b>5</b><span>trees</span>" in html
    assert "sk-top-container" in html


def test_contributions_and_explanations_have_the_look():
    model = BinnedForestClassifier(5, random_state=0).fit(X, y)
    html = model.contributions(X[:5])._repr_html_()
    assert html.startswith('<div class="surewood">')
    assert "2 more rows" in html
    step = Step("<Votes>", ("line",))
    told = workflow.Explanation(7, "<yes>", {"<yes>": 0.8}, (step,), {}, ())
    assert "<yes>" not in told._repr_html_()
    assert "80.0 %" in told._repr_html_()


def test_figures_as_text():
    assert figure_text({"value": None, "style": "number", "digits": 2}) == "–"
    assert figure_text({"value": 1234, "style": "number", "digits": 2}) == "1,234"
