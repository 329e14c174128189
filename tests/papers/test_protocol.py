"""Profiles, published values, seeds, papers and their sets."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from papers.datasets import info
from papers.mddf.methods import VARIANTS
from papers.protocol import (
    NAMES,
    Context,
    PaperError,
    Profile,
    chosen_sets,
    find_paper,
    paper_folder,
    parse_readings,
    published,
    read_profile,
    seed_of,
)
from papers.rcf.grid import SELECTIONS
from papers.readings import OPTIONS, Readings
from tests.papers.toys import PROFILE, ToyPaper


def test_a_data_set_s_own_size_comes_first_then_the_profile_s_then_the_protocol():
    profile = Profile("x", {"trees": 1, "kernel": "poly"}, {"trees": 2, "sets": {"iris": {"trees": 3}}})
    assert [profile.get("trees", name) for name in ("iris", "wine", None)] == [3, 2, 2]
    assert profile.get("kernel", "iris") == "poly"
    with pytest.raises(PaperError, match=r"profile 'x' does not say 'depth'; add it to protocol.toml"):
        profile.get("depth")


def test_profiles_of_a_paper_share_one_protocol():
    for paper in ("rcf", "cascades"):
        quick, full = read_profile(paper, "quick"), read_profile(paper, "full")
        assert quick.protocol == full.protocol
        assert quick.sizes != full.sizes


def test_the_official_protocol_has_its_own_sets_and_settings():
    paper, official = (read_profile("rcf", "standard", name) for name in ("paper", "official"))
    assert official.division == "official"
    assert set(official.get("data_sets")) >= {"vowel", "dna", "pendigits", "usps"}
    assert all(info(name).train_rows for name in official.get("data_sets"))
    assert official.sizes == paper.sizes
    assert "division" not in paper.settings()
    assert official.settings()["division"] == "official"
    with pytest.raises(PaperError, match="mddf has no protocol 'official'; it has paper"):
        read_profile("mddf", "standard", "official")


def test_the_full_profiles_have_the_published_grids():
    rcf = read_profile("rcf", "full")
    assert rcf.get("trees") == list(range(100, 1000, 100))
    assert rcf.get("depths") == list(range(2, 9))
    assert rcf.get("degrees") == list(range(1, 10))
    assert set(rcf.get("gammas")) >= {1e-3, 1e-2, 1e-1, 1.0}
    cascades = read_profile("cascades", "full")
    assert cascades.get("gammas") == [1.0, 0.1, 0.01]
    assert cascades.get("max_leaves") == 4


def test_published_tables_are_complete():
    assert len(published("rcf")) == 33
    assert len(published("cascades")) == 10
    assert published("rcf").query("dataset == 'vowel' and method == 'rcf'")["error"].item() == 3.77
    assert Path(paper_folder("rcf") / "README.md").is_file()


@pytest.mark.parametrize("name", NAMES)
def test_every_paper_has_its_profiles_and_small_units(name):
    paper = find_paper(name)
    for profile in ("quick", "standard", "full"):
        sizes = read_profile(name, profile)
        units = paper.units(sizes, paper.sets)
        assert {unit.dataset for unit in units} == set(paper.sets)
        keys = [(u.dataset, u.repeat, m) for u in units for m in u.methods]
        assert len(keys) == len(set(keys))


def test_an_unknown_paper_is_named_with_the_known_ones():
    with pytest.raises(PaperError, match="no paper called 'rfc'; there are rcf, cascades, mddf"):
        find_paper("rfc")


def test_sets_come_in_the_order_of_the_paper():
    assert chosen_sets(ToyPaper(), ["gamma", "alpha"], PROFILE) == ["alpha", "gamma"]
    assert chosen_sets(ToyPaper(), None, PROFILE) == ["alpha", "beta", "gamma"]
    with pytest.raises(PaperError, match="toy has no data set 'delta'; its sets are alpha, beta, gamma"):
        chosen_sets(ToyPaper(), ["alpha", "delta"], PROFILE)


def test_a_protocol_may_have_some_of_the_sets_only():
    official = replace(PROFILE, protocol={"data_sets": ["gamma", "beta"]}, division="official")
    assert chosen_sets(ToyPaper(), None, official) == ["beta", "gamma"]
    with pytest.raises(
        PaperError, match="no data set 'alpha' under the protocol 'official'; its sets are beta, gamma"
    ):
        chosen_sets(ToyPaper(), ["alpha"], official)


def test_a_context_is_silent_by_default():
    context = Context()
    assert context.n_jobs == 1
    assert context.say("anything") is None


def test_a_seed_is_a_pinned_function_of_its_parts():
    assert seed_of("rcf", "vowel", 0) == seed_of("rcf", "vowel", "0")
    assert len({seed_of("rcf", name, k) for name in ("vowel", "iris") for k in range(50)}) == 100
    assert all(0 <= seed_of("x", k) < 2**32 for k in range(100))


def test_readings_are_part_of_the_settings_and_name_the_protocol():
    profile = read_profile("rcf", "quick", readings=["division=70/10/20", "kernel=homogeneous"])
    assert profile.protocol_name == "paper, kernel=homogeneous, division=70/10/20"
    assert profile.settings()["readings"] == "kernel=homogeneous, division=70/10/20"
    assert read_profile("rcf", "quick").protocol_name == "paper"
    for paper, options in OPTIONS.items():
        for name, values in options.items():
            assert values[0] == getattr(Readings(), name)  # the headline's value comes first
            assert str(parse_readings(paper, [f"{name}={values[-1]}"])) == f"{name}={values[-1]}"


@pytest.mark.parametrize(
    ("reading", "words"),
    [
        (
            "kernl=rbf",
            "rcf has no reading 'kernl'; it has scaling, kernel, growth, division, bagging, leaf_scores, "
            "thresholds.",
        ),
        ("kernel", "kernel can be inhomogeneous or homogeneous or normalised, not ''."),
        ("kernel=rbf", "kernel can be inhomogeneous or homogeneous or normalised, not 'rbf'."),
    ],
)
def test_an_unknown_reading_is_one_sentence(reading, words):
    with pytest.raises(PaperError, match=f"^{re.escape(words)}$"):
        parse_readings("rcf", [reading])


@pytest.mark.parametrize(
    ("paper", "dataset", "reading", "methods"),
    [
        ("rcf", "iris", "kernel=homogeneous", {*SELECTIONS, "rcf_refit", "rf_svm_refit"}),
        ("cascades", "splice", "scaling=raw", {"svm", "cascade"}),
        ("mddf", "yeast", "step=literal", {*VARIANTS, "gcForest"}),
        ("mddf", "yeast", "optimizer=Adadelta", {"mdDF", "MLP"}),
        ("mddf", "yeast", "procedure=program", {"mdDF"}),
    ],
)
def test_a_run_with_other_readings_has_the_methods_that_they_concern(paper, dataset, reading, methods):
    units = find_paper(paper).units(read_profile(paper, "standard", "paper", [reading]), [dataset])
    assert {method for unit in units for method in unit.methods} == methods


def test_random_forests_are_part_of_a_run_with_another_division():
    units = find_paper("rcf").units(read_profile("rcf", "standard", "paper", ["division=70/10/20"]), ["iris"])
    assert {"rf", "rf_refit"} <= {method for unit in units for method in unit.methods}
