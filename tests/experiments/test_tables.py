"""The documentation says what the committed results say."""

from pathlib import Path

import pytest

from surewood.experiments import tables
from surewood.experiments.errors import ExperimentError

ROOT = Path(__file__).parents[2]


def test_pages_and_results_agree():
    stale = [path.name for path, _ in tables.stale_pages(ROOT)]
    assert not stale, f"{', '.join(stale)}: run `make papers`"


def test_every_committed_result_is_on_the_page():
    page = (ROOT / "docs" / "research" / "reproduction.md").read_text(encoding="utf-8")
    for results in (ROOT / "papers").glob("*/results.csv"):
        assert f"<!-- {results.parent.name}:bars -->" in page


def test_a_changed_number_is_noticed(tmp_path):
    for name in tables.PAGES:
        page = tmp_path / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    start = text.index("| breast_cancer |")
    digit = text.index("0.0", start)
    page.write_text(text[:digit] + "0.9" + text[digit + 3 :], encoding="utf-8")
    assert [path for path, _ in tables.stale_pages(tmp_path)] == [page]


def test_an_unknown_part_is_named_with_the_known_ones():
    with pytest.raises(ExperimentError, match="cascades has no part 'error'; it has bars, run, deviations"):
        tables.part("cascades", "error")
