"""Forms of a certificate: text, HTML, table, JSON."""

import json
import math
import re

import pytest

from surewood.bounds import Condition, issue_guarantee
from surewood.bounds.statements import CALLER
from surewood.certify import Certificate, Entry, Method, Withheld
from surewood.certify.deciding import Coverage
from surewood.certify.wording import parts_text

HOLDS = (Condition("unused <rows>", True, "checked"), Condition("independent <rows>", True, CALLER))


def guarantee(value=0.1, delta=0.05, method=Method.HOLDOUT, **changes):
    variant = "exact" if method is Method.HOLDOUT else "kl"
    return issue_guarantee(
        method,
        value=value,
        sample="holdout",
        variant=variant,
        delta=delta,
        conditions=HOLDS,
        **({"n": 100, "decomposition": {"errors": 4}} | changes),
    )


OTHERS = (
    Entry(method="score", status="CRITERION", value=0.4, sample="training", n=9, gamma_scale=0.01),
    Entry(method="out-of-bag <b>", status="ESTIMATE", value=0.2, sample="out-of-bag", n=9, biased=True),
    Entry(method="margin ratio", status="HEURISTIC", value=math.inf, sample="training", n=9),
)


@pytest.fixture
def certificate():
    return Certificate(
        entries=(guarantee(), *OTHERS),
        withheld=(Withheld(Method.TANDEM, "conditions not met: hard <vote>"),),
        model="<script>alert(1)</script>",
        delta=0.05,
        majority_error=0.5,
    )


def test_text_keeps_guarantees_apart(certificate):
    text = repr(certificate)
    sections = re.split(r"\n\n", text)
    assert [section.split()[0] for section in sections[1:]] == [
        "GUARANTEE",
        "CRITERION",
        "ESTIMATE",
        "HEURISTIC",
        "Not",
    ]
    for section in sections[2:-1]:
        assert "guarantee" not in section.lower()
    assert "Guaranteed: error at most 10 % on new rows, with probability at least 95 %." in sections[0]
    assert "selection score, not a bound" in sections[2]
    assert "biased" in sections[3]


def test_html_is_escaped_and_balanced(certificate):
    html = certificate._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "unused &lt;rows&gt;" in html
    assert "Assumes independent &lt;rows&gt; (your responsibility)." in html
    assert "hard &lt;vote&gt;" in html
    assert "out-of-bag &lt;b&gt;" in html
    for tag in ("div", "table", "tbody", "thead", "tr", "td", "ul", "li", "caption"):
        assert len(re.findall(rf"<{tag}[ >]", html)) == html.count(f"</{tag}>")


def test_json_is_strict_and_complete(certificate):
    loaded = json.loads(certificate.to_json(), parse_constant=lambda _: pytest.fail("not strict JSON"))
    assert [entry["status"] for entry in loaded["entries"]] == [
        "GUARANTEE",
        "CRITERION",
        "ESTIMATE",
        "HEURISTIC",
    ]
    assert loaded["entries"][0]["decomposition"] == {"errors": 4.0}
    assert loaded["entries"][0]["conditions"] == [
        {"text": "unused <rows>", "holds": True, "source": "checked"},
        {"text": "independent <rows>", "holds": True, "source": "your responsibility"},
    ]
    assert loaded["assumptions"] == ["independent <rows>"]
    assert loaded["entries"][3]["value"] == "inf"
    reason = "conditions not met: hard <vote>"
    assert loaded["withheld"] == [{"method": "PAC-Bayes, tandem", "reason": reason, "code": ""}]


def test_frame_has_a_row_per_entry(certificate):
    frame = certificate.to_frame()
    assert frame["method"].tolist() == [
        "holdout (Clopper-Pearson)",
        "score",
        "out-of-bag <b>",
        "margin ratio",
    ]
    assert frame["delta"].tolist()[0] == 0.05
    empty = Certificate(entries=(), withheld=(), model="M", delta=0.05).to_frame()
    assert list(empty.columns) == list(frame.columns)


@pytest.mark.parametrize(
    ("value", "majority", "trivial"),
    [(0.1, 0.5, False), (0.5, 0.5, True), (0.6, 0.5, True), (1.0, None, True)],
)
def test_verdict(value, majority, trivial):
    certificate = Certificate((guarantee(value),), (), "M", 0.05, majority)
    assert certificate.is_trivial is trivial
    assert certificate.verdict.startswith("guaranteed: ") is not trivial


def test_guarantees_must_share_delta():
    both = (guarantee(delta=0.05), guarantee(delta=0.05, method=Method.TANDEM))
    with pytest.raises(ValueError, match=r"deltas sum to 0.1, more than delta=0.05"):
        Certificate(both, (), "M", 0.05)
    halves = (guarantee(0.2, delta=0.025), guarantee(0.1, delta=0.025, method=Method.TANDEM))
    assert Certificate(halves, (), "M", 0.05).best.method == Method.TANDEM


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.123449, "12.35"), (0.1, "10"), (0.07, "7"), (0.99999, "100"), (1.00001e-6, "0.000101")],
)
def test_a_printed_guarantee_is_never_below_its_value(value, shown):
    text = repr(Certificate(entries=(guarantee(value),), withheld=(), model="M", delta=0.05))
    assert f"Guaranteed: error at most {shown} % on new rows, with" in text
    assert f"  error at most {shown} % on new rows, by holdout" in text
    assert float(shown) >= 100 * value - 1e-9


@pytest.mark.parametrize(
    ("delta", "shown"), [(0.05, "95 %"), (0.001, "99.9 %"), (1e-6, "99.9999 %"), (1 / 3, "66.66 %")]
)
def test_a_printed_probability_is_never_above_its_value(delta, shown):
    verdict = Certificate(entries=(guarantee(delta=delta),), withheld=(), model="M", delta=delta).verdict
    assert verdict.endswith(f"with probability at least {shown}")


def test_an_error_that_equals_the_baseline_asks_for_no_number_of_rows():
    entry = guarantee(0.6, n=60, decomposition={"error rate": 28 / 60})
    verdict = Certificate((entry,), (), "M", 0.05, 28 / 60 + 1e-16).verdict
    assert verdict.endswith("the observed error is not below it")


def test_limits_among_the_parts_are_rounded_to_the_safe_side():
    parts = {"recall of 1, at least": 0.81386, "upper limit": 0.12341, "observed": 0.81386}
    entry = {"decomposition": parts, "groups": [], "side": "at least"}
    assert parts_text(entry) == "recall of 1, at least 0.8138, upper limit 0.1235, observed 0.8139"
    assert str(Coverage(0.5, 0.3456, 0.6543, 0.05)) == "50.0 % (34.5 % to 65.5 %)"
