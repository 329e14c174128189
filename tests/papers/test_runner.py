"""The runner: what is finished is never repeated, lost or changed; what cannot go on says why."""

import io
import json
import re

import pytest
from rich.console import Console

from papers import runner
from papers.protocol import PaperError, Profile
from papers.runner import RESULTS, Display, run_paper
from tests.papers.toys import PROFILE, ToyPaper


def numbers(records):
    kept = ("dataset", "repeat", "method", "metrics", "chosen", "seeds")
    return [{name: record[name] for name in kept} for record in records]


def test_every_unit_runs_once_and_its_records_carry_their_origin(tmp_path):
    paper = ToyPaper()
    outcome = run_paper(paper, PROFILE, tmp_path)
    assert outcome.n_new == len(outcome.records) == 12 == len(paper.ran)
    record = outcome.records[0]
    assert record["profile"] == "toy"
    assert record["versions"]["surewood"]
    assert record["finished"]
    assert record["peak_memory_bytes"] > 1e6


def test_a_unit_s_numbers_depend_neither_on_order_nor_on_sittings(tmp_path):
    whole = run_paper(ToyPaper(), PROFILE, tmp_path / "whole").records
    run_paper(ToyPaper(), PROFILE, tmp_path / "parts", sets=["gamma"])
    paper = ToyPaper(interrupt_at=("beta", 0, "rich"))
    with pytest.raises(KeyboardInterrupt):
        run_paper(paper, PROFILE, tmp_path / "parts", resume=True)
    last = ToyPaper()
    parts = run_paper(last, PROFILE, tmp_path / "parts", resume=True).records
    assert last.ran == [("beta", 0, "rich"), ("beta", 1, "plain"), ("beta", 1, "rich")]
    key = lambda record: (record["dataset"], record["repeat"], record["method"])  # noqa: E731
    assert sorted(numbers(parts), key=key) == sorted(numbers(whole), key=key)


def test_the_first_repeats_alone_may_run_and_the_others_later(tmp_path):
    first = run_paper(ToyPaper(), PROFILE, tmp_path, repeats=1)
    assert {record["repeat"] for record in first.records} == {0}
    assert len(run_paper(ToyPaper(), PROFILE, tmp_path, resume=True).records) == 12


def test_records_are_not_overwritten_unless_asked(tmp_path):
    run_paper(ToyPaper(), PROFILE, tmp_path)
    with pytest.raises(PaperError, match=r"holds 12 records already; add --resume"):
        run_paper(ToyPaper(), PROFILE, tmp_path)


def test_records_of_another_commit_are_announced_before_the_run_goes_on(tmp_path, monkeypatch):
    said = []
    display = Display(None)
    monkeypatch.setattr(display, "announce", said.append)
    for commit, sets in (("abc", ["beta"]), ("abc", None), ("abd", None)):
        monkeypatch.setattr(runner, "versions", lambda commit=commit: {"surewood": "1", "commit": commit})
        run_paper(ToyPaper(), PROFILE, tmp_path, sets=sets, resume=True, display=display)
    assert [line for line in said if "refuses" in line] == [
        f"{tmp_path / RESULTS} has records of commit abc, and this code is abd: the table of the "
        "documentation refuses such a mixture."
    ]


def test_a_file_of_other_settings_is_refused_with_the_difference_named(tmp_path):
    run_paper(ToyPaper(), PROFILE, tmp_path)
    other = Profile("toy", {"kernel": "none"}, {"repeats": 3})
    with pytest.raises(PaperError, match=r"other settings: sizes.repeats is 2 there and 3 here;"):
        run_paper(ToyPaper(), other, tmp_path, resume=True)


def test_a_missing_data_set_is_one_note_and_the_others_run(tmp_path):
    outcome = run_paper(ToyPaper(missing=["beta"]), PROFILE, tmp_path)
    assert list(outcome.missing) == ["beta"]
    assert len(outcome.records) == 8
    lines = [json.loads(line) for line in (tmp_path / RESULTS).read_text().splitlines()]
    assert [line["dataset"] for line in lines if line["kind"] == "missing"] == ["beta"]
    # Found later, it is run.
    assert run_paper(ToyPaper(), PROFILE, tmp_path, resume=True).n_new == 4


def test_an_unknown_set_is_named_with_the_known_ones(tmp_path):
    with pytest.raises(PaperError, match="toy has no data set 'delta'; its sets are alpha, beta, gamma"):
        run_paper(ToyPaper(), PROFILE, tmp_path, sets=["delta"])


def test_two_runs_do_not_write_one_file(tmp_path):
    class Nested(ToyPaper):
        def run(self, unit, profile, context):
            run_paper(ToyPaper(), PROFILE, tmp_path, resume=True)
            yield from super().run(unit, profile, context)

    with pytest.raises(PaperError, match="another run is writing"):
        run_paper(Nested(), PROFILE, tmp_path)


def test_a_method_that_yields_nothing_is_an_error(tmp_path):
    class Lazy(ToyPaper):
        def run(self, unit, profile, context):
            yield next(iter(super().run(unit, profile, context)))

    with pytest.raises(PaperError, match="alpha yielded nothing for rich"):
        run_paper(Lazy(), PROFILE, tmp_path)


def shown(tmp_path, paper, terminal=False, **options):
    text = io.StringIO()
    console = Console(file=text, width=200, force_terminal=terminal)
    run_paper(paper, PROFILE, tmp_path, display=Display(console), **options)
    return text.getvalue()


def test_a_line_per_unit_with_the_time_left(tmp_path):
    lines = shown(tmp_path, ToyPaper(), sets=["alpha"]).splitlines()
    assert len(lines) == 2
    assert re.fullmatch(
        r"\[1/2\] toy alpha 1 \(plain, \.\.\.\): 0\.\d s, about \S+ left, done at \S+", lines[0]
    )


def test_a_resumed_run_tells_what_was_done_before(tmp_path):
    shown(tmp_path, ToyPaper(), sets=["alpha"])
    lines = shown(tmp_path, ToyPaper(missing=["beta"]), resume=True).splitlines()
    assert lines[0] == "toy: 2 of 6 units were done before"
    assert lines[1] == "beta is missing: data set 'beta' was not found; look elsewhere."
    assert lines[2].startswith("[3/6] toy gamma 1")


def test_on_a_terminal_there_is_a_bar(tmp_path):
    text = shown(tmp_path, ToyPaper(), terminal=True)
    assert "gamma 2" in text
    assert "6/6" in text
