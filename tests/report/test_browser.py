"""The pages of the three families in a real browser.

Names of columns and classes are hostile (conftest). Pictures of the pages are left in ``artifacts/``.
"""

import json
import re
from pathlib import Path

import pytest

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
DRAWN = {"composite": ".iciclelayer .slice", "cascade": ".sankey-node", "margin": ".scatterlayer .trace"}


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
    assert [url for url in page.requests if url != own and not re.match(r"(data|blob):", url)] == []
    n_charts = page.evaluate("document.querySelectorAll('[data-chart]').length")
    assert n_charts >= 7
    drawn = (
        "[...document.querySelectorAll('.plot')].filter(p => p.querySelector('.main-svg')?.clientHeight > 50)"
    )
    assert page.evaluate(f"{drawn}.length") == n_charts
    assert page.evaluate(f"document.querySelectorAll('{DRAWN[family]}').length") >= 2
    page.screenshot(ARTIFACTS / f"page-{family}-light.png")


def test_names_stay_text(page):
    # two scripts of the page, and the data of the charts; nothing else became an element
    kinds = page.evaluate("[...document.scripts].map(s => s.type)")
    assert kinds.count("") == 2
    assert set(kinds) == {"", "application/json"}
    assert page.evaluate("document.images.length") == 0
    assert page.evaluate("document.body.innerText").count(SCRIPT) >= 3
    ticks = page.evaluate("[...document.querySelectorAll('.plot text')].map(t => t.textContent)")
    assert SCRIPT in ticks
    assert "<b>&amp;ß</b>" in ticks
    assert page.evaluate("document.querySelectorAll('.plot text tspan[style*=bold]').length") == 0


def test_dark_by_the_system_and_by_the_button(page, family):
    ground = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('.plot text')).fill"
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
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    widest = page.evaluate("Math.max(...[...document.querySelectorAll('.plot')].map(p => p.scrollWidth))")
    assert widest <= 390
    ranges = "[...document.querySelectorAll('[data-name=columns] td.cell-wide')].map(c => c.offsetWidth)"
    assert min(page.evaluate(ranges)) >= 240  # else a range stands word under word
    assert page.problems == []
    page.screenshot(ARTIFACTS / f"page-{family}-phone.png")
    page.close()


def test_prints(page):
    paper = page.print()
    assert paper.startswith(b"%PDF")
    assert page.problems == []


LEDGER = "document.querySelector('[data-name=ledger]')"


def shown(page, column):
    """Texts of a column of the ledger, in the order on the page, hidden rows left out."""
    rows = f"[...{LEDGER}.querySelectorAll('tbody tr')].filter(r => !r.hidden)"
    return page.evaluate(f"{rows}.map(r => r.cells[{column}].innerText)")


def test_the_ledger_sorts_and_filters(opened):
    page = opened("composite")
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
    assert count == f"{len(found)} of {len(before)} rows"
    assert page.problems == []


def test_another_tree_can_be_chosen(opened):
    page = opened("composite")
    icicle = "String(document.querySelector('[data-chart]:has(select) .plot').data[0].labels)"
    first = page.evaluate(icicle)
    page.evaluate(
        "(() => { const s = document.querySelector('[data-chart] select'); s.value = '3';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    page.wait(f"{icicle} !== {json.dumps(first)}")
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
