"""The papers there are, their units, and the choice of data sets."""

from dataclasses import replace

import pytest

from surewood.experiments.errors import ExperimentError
from surewood.experiments.paper import HOMES, Context, chosen_sets, find_paper
from surewood.experiments.protocol import read_profile
from tests.experiments.toy_paper import PROFILE, ToyPaper


@pytest.mark.parametrize("name", HOMES)
def test_every_paper_has_its_profiles_and_small_units(name):
    paper = find_paper(name)
    for profile in ("quick", "standard", "full"):
        sizes = read_profile(name, profile)
        units = paper.units(sizes, paper.sets)
        assert {unit.dataset for unit in units} == set(paper.sets)
        keys = [(u.dataset, u.repeat, m) for u in units for m in u.methods]
        assert len(keys) == len(set(keys))


def test_an_unknown_paper_is_named_with_the_known_ones():
    with pytest.raises(ExperimentError, match="no paper called 'rfc'; there are rcf, cascades, mddf"):
        find_paper("rfc")


def test_sets_come_in_the_order_of_the_paper():
    assert chosen_sets(ToyPaper(), ["gamma", "alpha"], PROFILE) == ["alpha", "gamma"]
    assert chosen_sets(ToyPaper(), None, PROFILE) == ["alpha", "beta", "gamma"]
    with pytest.raises(ExperimentError, match="toy has no data set 'delta'; its sets are alpha, beta, gamma"):
        chosen_sets(ToyPaper(), ["alpha", "delta"], PROFILE)


def test_a_protocol_may_have_some_of_the_sets_only():
    official = replace(PROFILE, protocol={"data_sets": ["gamma", "beta"]}, division="official")
    assert chosen_sets(ToyPaper(), None, official) == ["beta", "gamma"]
    with pytest.raises(
        ExperimentError, match="no data set 'alpha' under the protocol 'official'; its sets are beta, gamma"
    ):
        chosen_sets(ToyPaper(), ["alpha"], official)


def test_a_context_is_silent_by_default():
    context = Context()
    assert context.n_jobs == 1
    assert context.say("anything") is None
