"""The pages of the three families in a real browser.

Names of columns and classes are hostile (conftest). Pictures of the pages are left in ``artifacts/``.
"""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from surewood import (
    DeepCascadeSVMClassifier,
    MarginDeepForestClassifier,
    RandomCompositeForestClassifier,
    report,
)
from tests.report.chromium import Browser, find_chromium
from tests.report.conftest import SCRIPT, hostile_table

ARTIFACTS = Path(__file__).parents[2] / "artifacts"
FAMILIES = {
    "composite": RandomCompositeForestClassifier(
        6, selection="exact", max_depth=2, C=1.0, gamma_scale=1e-3, random_state=0
    ),
    "cascade": DeepCascadeSVMClassifier(
        2, n_leaves=2, degrees=(1, 2), fractions=(0.3,), C=1.0, gamma_scale=1e-3, random_state=0
    ),
    "margin": MarginDeepForestClassifier(4, max_layers=2, forests=["random", "extra"], random_state=0),
}
#: Something that only the family's own charts draw.
DRAWN = {"composite": ".tree span", "cascade": "#inside .rows .track i", "margin": "#inside .area .dot"}
#: What no page may show: text that lies over other text of the same chart, or out of the window.
OVERLAPS = """
(() => {
  const found = [];
  for (const box of document.querySelectorAll('.axes, .rows .scale')) {
    const shown = [...box.querySelectorAll('.x span, .y')].filter(e => e.offsetWidth);
    const labels = shown.map(e => e.getBoundingClientRect());
    labels.forEach((a, i) => labels.slice(i + 1).forEach(b => {
      const across = a.left < b.right && b.left < a.right, down = a.top < b.bottom && b.top < a.bottom;
      if (across && down) found.push(shown[i].textContent);
    }));
  }
  return found;
})()
"""


@pytest.fixture(scope="module")
def browser():
    program = find_chromium()
    if program is None:
        pytest.skip("needs Chromium; on Debian: apt-get install chromium")
    with Browser(program) as running:
        yield running


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Paths of the pages by family, made when first asked for."""
    folder, made = tmp_path_factory.mktemp("pages"), {}

    def path(family):
        if family not in made:
            X, y = hostile_table(240)
            model = FAMILIES[family].fit(X[::2], y[::2])
            summary = report.build_summary(
                model,
                X[::2],
                y[::2],
                holdout=(X[1::2], y[1::2]),
                dataset={"name": SCRIPT, "source": SCRIPT, "notes": [SCRIPT]},
            )
            made[family] = report.write_page(summary, folder / f"{family}.html")
        return made[family]

    return path


@pytest.fixture(scope="module")
def opened(browser, pages):
    """Open pages by family: opening takes seconds, so tests share them and leave them as they were."""
    made = {}

    def page(family):
        if family not in made:
            made[family] = browser.open(pages(family))
        made[family].call("Page.bringToFront")  # a page behind another one draws nothing
        return made[family]

    return page


@pytest.fixture(params=list(FAMILIES))
def family(request):
    return request.param


@pytest.fixture
def page(opened, family):
    return opened(family)


def test_opens_quietly_and_draws_every_chart(page, pages, family):
    assert page.problems == []
    assert page.dialogs == []
    own = pages(family).resolve().as_uri()
    assert [url for url in page.requests if url != own] == []
    unfold(page)
    n_charts = page.evaluate("document.querySelectorAll('.chart .plot:not([hidden])').length")
    assert n_charts >= 7
    drawn = "[...document.querySelectorAll('.chart .plot:not([hidden])')].filter(p => p.clientHeight > 30)"
    assert page.evaluate(f"{drawn}.length") == n_charts
    assert page.evaluate(f"document.querySelectorAll('{DRAWN[family]}').length") >= 2
    assert page.evaluate(OVERLAPS) == []
    page.screenshot(ARTIFACTS / f"page-{family}-light.png")


def unfold(page):
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")


def test_names_stay_text(page):
    assert page.evaluate("document.scripts.length") == 1
    assert page.evaluate("document.images.length") == 0
    assert page.evaluate("document.body.textContent").count(SCRIPT) >= 3
    matrix = page.evaluate("[...document.querySelectorAll('.matrix th')].map(t => t.title)")
    assert SCRIPT in matrix
    assert "<b>&amp;ß</b>" in matrix


def test_everything_can_be_read_and_reached_without_a_mouse(page):
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.evaluate("[...document.querySelectorAll('[role=img]')].every(e => e.ariaLabel.length > 3)")
    unnamed = (
        "[...document.querySelectorAll('button, select, input')].filter(e => !(e.innerText || e.ariaLabel))"
    )
    assert page.evaluate(f"{unnamed}.filter(e => !e.closest('th')).length") == 0
    assert page.evaluate("[...document.querySelectorAll('.scroll')].every(e => e.tabIndex === 0)")


def test_a_link_opens_the_folded_part(browser, pages):
    page = browser.open(pages("composite"))
    assert page.evaluate("document.getElementById('inside').open") is False
    page.evaluate("document.querySelector('nav a[href=\"#inside\"]').click()")
    page.wait("document.getElementById('inside').open")
    page.close()


def test_a_mark_tells_what_it_is(opened):
    page = opened("margin")
    dot = "document.querySelector('#quality ~ .grid .area .dot[data-tip]')"
    page.evaluate(
        f"{dot}.dispatchEvent(new PointerEvent('pointermove', {{bubbles: true, clientX: 50, clientY: 50}}))"
    )
    assert page.evaluate("document.querySelector('.hint').textContent") == page.evaluate(f"{dot}.dataset.tip")
    page.evaluate("document.body.dispatchEvent(new PointerEvent('pointermove', {bubbles: true}))")
    assert page.evaluate("document.querySelector('.hint').hidden")


def test_dark_by_the_system_and_by_the_button(page, family):
    ground = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('.area .line')).stroke"
    light, light_ink = page.evaluate(ground), page.evaluate(ink)
    page.set_dark(True)
    page.wait(f"{ink} !== '{light_ink}'")
    dark = page.evaluate(ground)
    assert dark != light
    page.screenshot(ARTIFACTS / f"page-{family}-dark.png")
    page.evaluate("document.getElementById('theme').click()")
    assert page.evaluate(ground) == light
    page.wait(f"{ink} === '{light_ink}'")
    page.set_dark(False)
    assert page.problems == []


def test_readable_on_a_phone(browser, pages, family):
    page = browser.open(pages(family), width=390, height=844)
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    widest = page.evaluate("Math.max(...[...document.querySelectorAll('.plot')].map(p => p.scrollWidth))")
    assert widest <= 390
    ranges = "[...document.querySelectorAll('[data-name=columns] td.cell-wide')].map(c => c.offsetWidth)"
    assert min(page.evaluate(ranges)) >= 240  # else a range stands word under word
    links = "[...document.querySelectorAll('nav a')].map(a => a.getBoundingClientRect().right)"
    assert max(page.evaluate(links)) <= 390
    assert page.evaluate(OVERLAPS) == []
    assert page.problems == []
    page.screenshot(ARTIFACTS / f"page-{family}-phone.png")
    page.close()


def test_follows_a_window_that_is_resized(browser, pages):
    page = browser.open(pages("margin"), width=1200)
    wide = page.evaluate("document.querySelector('.area svg').clientWidth")
    page.resize(700, 900)
    page.wait(f"document.querySelector('.area svg').clientWidth !== {wide}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    assert page.evaluate(OVERLAPS) == []
    page.close()


def n_pages(paper):
    return len(re.findall(rb"/Type\s*/Page\b", paper))


def test_prints_on_a_few_pages_and_in_light_colors(browser, pages, family):
    page = browser.open(pages(family), dark=True)
    unfold(page)  # even with the ledger of all leaves
    paper = page.print()
    assert paper.startswith(b"%PDF")
    assert n_pages(paper) <= 12
    assert page.problems == []
    page.call("Emulation.setEmulatedMedia", media="print")
    assert (
        page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--ink').trim()")
        == "#20241d"
    )
    page.close()


def many_classes(tmp_path, n_classes, n_columns):
    """The page of a quick model with many classes and columns, and long names of both."""
    random = np.random.default_rng(0)
    labels = np.array([f"category number {k} of a long list, variant {k % 7}" for k in range(n_classes)])
    codes = np.repeat(np.arange(n_classes), 20)
    y = labels[codes]
    X = random.normal(0, 1, (len(y), n_columns))
    X[:, :5] += codes[:, None] / 2
    frame = pd.DataFrame(
        X,
        columns=[f"average of the measurements of sensor {j} in the last quarter" for j in range(n_columns)],
    )
    model = GaussianNB().fit(frame[::2], y[::2])
    summary = report.build_summary(model, frame[::2], y[::2], holdout=(frame[1::2], y[1::2]))
    return report.write_page(summary, tmp_path / "many.html")


@pytest.mark.parametrize(("n_classes", "n_columns"), [(100, 30), (3, 1000), (40, 5), (2, 5)])
def test_many_classes_and_columns_open_without_a_long_task(browser, tmp_path, n_classes, n_columns):
    path = many_classes(tmp_path, n_classes, n_columns)
    assert path.stat().st_size < 1_500_000
    for width in (1200, 390):
        page = browser.open(path, width=width)
        longest = page.evaluate(
            "new Promise(done => { let most = 0; new PerformanceObserver(list => list.getEntries().forEach("
            "e => { most = Math.max(most, e.duration); })).observe({type: 'longtask', buffered: true});"
            "setTimeout(() => done(most), 300); })"
        )
        assert longest < 1000
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OVERLAPS) == []
        page.close()


LEDGER = "document.querySelector('[data-name=ledger]')"


def shown(page, column):
    """Texts of a column of the ledger, in the order on the page, hidden rows left out."""
    rows = f"[...{LEDGER}.querySelectorAll('tbody tr')].filter(r => !r.hidden)"
    return page.evaluate(f"{rows}.map(r => r.cells[{column}].innerText)")


def test_the_ledger_sorts_and_filters(opened):
    page = opened("composite")
    unfold(page)
    heads = page.evaluate(f"[...{LEDGER}.querySelectorAll('th')].map(h => h.innerText.trim())")
    rows_column, path_column = heads.index("rows"), heads.index("path")
    before = shown(page, rows_column)
    press = f"{LEDGER}.querySelectorAll('th button')[{rows_column}].click()"
    page.evaluate(press)
    numbers = [float(text.replace(",", "")) for text in shown(page, rows_column)]
    assert numbers == sorted(numbers, reverse=True)
    assert sorted(before) == sorted(shown(page, rows_column))
    page.evaluate(press)
    numbers = [float(text.replace(",", "")) for text in shown(page, rows_column)]
    assert numbers == sorted(numbers)
    page.evaluate(f"{LEDGER}.querySelectorAll('th button')[{path_column}].click()")
    assert page.evaluate(f"{LEDGER}.querySelectorAll('th')[{path_column}].ariaSort") == "ascending"
    paths = shown(page, path_column)
    assert len(set(paths)) == sum(a != b for a, b in zip(paths, [None, *paths]))  # equal ones stand together

    page.evaluate(
        f"(() => {{ const i = {LEDGER}.querySelector('input'); i.value = 'LOST >';"
        " i.dispatchEvent(new Event('input')); })()"
    )
    found = shown(page, path_column)
    assert 0 < len(found) < len(before)
    assert all("lost" in path for path in found)
    count = page.evaluate(f"{LEDGER}.querySelector('[data-count]').innerText")
    assert count == f"{len(found)} of {len(before)}"
    assert page.problems == []


def test_another_tree_can_be_chosen(opened):
    page = opened("composite")
    shown = "[...document.querySelectorAll('.chart:has(.tree) > .plot')].findIndex(p => !p.hidden)"
    assert page.evaluate(shown) == 0
    page.evaluate(
        "(() => { const s = document.querySelector('.chart:has(.tree) select'); s.value = '3';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    assert page.evaluate(shown) == 3
    assert page.problems == []


def test_an_injected_script_would_not_run(page):
    page.evaluate(
        "(() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
        " document.body.append(s); document.body.insertAdjacentHTML('beforeend',"
        " '<img src=x onerror=\"window.ran = 2\">'); })()"
    )
    assert page.evaluate("window.ran === undefined")
    assert any("Content Security Policy" in problem for problem in page.problems)
    page.evaluate("document.body.lastElementChild.remove()")
    page.problems.clear()
