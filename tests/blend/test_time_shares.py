"""What members get of a time limit."""

import time

import numpy as np
import pytest

from surewood.blend.plan import MemberPlan
from surewood.blend.time_shares import FIRST_SHARE, LEAST_SHARE, LEAST_TREES, SPARE, allot
from surewood.boosting import BoostedTreesClassifier
from surewood.composite import RandomCompositeForestClassifier
from surewood.deepforest import MarginDeepForestClassifier
from surewood.estimators.cost import CostEstimate
from surewood.estimators.time_limit import TimeLimit
from surewood.forest import BinnedForestClassifier

NOTHING = (None, None, None)


@pytest.fixture
def needs(monkeypatch):
    """Members whose estimated time is what a test says."""

    def member(name, seconds):
        kind = {
            "random forest": BinnedForestClassifier(100),
            "extra-trees": BinnedForestClassifier(100, splitter="random"),
            "composite forest": RandomCompositeForestClassifier(),
            "margin forest": MarginDeepForestClassifier(),
            "boosted trees": BoostedTreesClassifier(100),
        }[name]
        cost = CostEstimate.of({"all": 1.0}, (seconds, seconds))
        monkeypatch.setattr(type(kind), "estimate_cost", lambda self, *args: cost)
        return MemberPlan(name, kind)

    return member


@pytest.fixture
def limit(monkeypatch):
    """A limit of 100 s of which nothing passes."""
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    return TimeLimit(100.0, 0.0)


def test_without_a_limit_members_stay_as_they_are(needs):
    member = needs("margin forest", 1e9)
    assert allot(member, [], NOTHING, TimeLimit(None), first=True).member is member


def test_the_first_member_has_the_trees_that_its_share_allows(needs, limit):
    waiting = ["composite forest"]
    found = allot(needs("random forest", 90.0), waiting, NOTHING, limit, first=True)
    trees = int(100 * FIRST_SHARE * SPARE * 100 / 90)
    assert found.member.estimator.n_estimators == trees
    assert found.note == f"{trees} of 100 trees in the time that was left"
    short = allot(needs("random forest", 1e6), waiting, NOTHING, limit, first=True)
    assert short.member.estimator.n_estimators == LEAST_TREES
    enough = allot(needs("random forest", 5.0), waiting, NOTHING, limit, first=True)
    assert (enough.member.estimator.n_estimators, enough.note) == (100, "")


def test_members_that_know_a_limit_share_what_is_left(needs, limit):
    waiting = ["extra-trees", "margin forest"]
    found = allot(needs("composite forest", 80.0), waiting, NOTHING, limit, first=False)
    assert found.member.estimator.time_limit == pytest.approx(SPARE * 50)
    assert found.note == "stopped after 45 s by the time limit; a full fit would take about 80 s"
    assert (found.note_after(44.0), found.note_after(10.0)) == (found.note, "")
    whole = allot(needs("composite forest", 40.0), waiting, NOTHING, limit, first=False)
    assert (whole.member.estimator.time_limit, whole.note) == (pytest.approx(SPARE * 100), "")


def test_boosting_has_the_rounds_of_its_part(needs, limit):
    found = allot(needs("boosted trees", 90.0), ["margin forest"], NOTHING, limit, first=False)
    assert found.member.estimator.n_estimators == int(100 * SPARE * 50 / 90)
    assert "of 100 rounds" in found.note
    boosted = found.member.estimator.fit(np.arange(40.0)[:, None], np.arange(40) % 2)  # nothing to learn
    assert max(boosted.n_rounds_) < boosted.n_estimators
    assert found.note_after(1e9) == ""
    whole = allot(needs("boosted trees", 40.0), ["margin forest"], NOTHING, limit, first=False)
    assert (whole.member.estimator.n_estimators, whole.note) == (100, "")
    assert allot(needs("boosted trees", 1e6), [], NOTHING, limit, first=False).member is None


def test_what_is_too_little_is_not_started(needs, limit):
    little = SPARE * 100 / LEAST_SHARE
    found = allot(needs("margin forest", 1.01 * little), [], NOTHING, limit, first=False)
    assert found.member is None
    assert found.note == f"not started: it needs about {1.01 * little:.3g} s, 100 s were left"
    assert allot(needs("margin forest", 0.99 * little), [], NOTHING, limit, first=False).member is not None
    plain = allot(needs("extra-trees", 95.0), [], NOTHING, limit, first=False)
    assert plain.member is None
    assert np.isclose(plain.seconds, 0.0)
