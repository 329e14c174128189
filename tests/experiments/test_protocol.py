"""Where protocols are found and what a profile says."""

import shutil
from pathlib import Path

import pytest

from surewood.datasets import info
from surewood.experiments import protocol
from surewood.experiments.errors import ExperimentError
from surewood.experiments.protocol import Profile, paper_folder, published, read_profile


def test_a_data_set_s_own_size_comes_first_then_the_profile_s_then_the_protocol():
    profile = Profile("x", {"trees": 1, "kernel": "poly"}, {"trees": 2, "sets": {"iris": {"trees": 3}}})
    assert [profile.get("trees", name) for name in ("iris", "wine", None)] == [3, 2, 2]
    assert profile.get("kernel", "iris") == "poly"
    with pytest.raises(ExperimentError, match=r"profile 'x' does not say 'depth'; add it to protocol.toml"):
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
    with pytest.raises(ExperimentError, match="mddf has no protocol 'official'; it has paper"):
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


def test_without_a_checkout_the_installed_copy_is_used(tmp_path, monkeypatch):
    installed = tmp_path / "site" / "surewood" / "experiments"
    shutil.copytree(paper_folder("rcf"), installed / "papers" / "rcf")
    monkeypatch.setattr(protocol, "_HERE", installed)
    assert paper_folder("rcf") == installed / "papers" / "rcf"
    with pytest.raises(ExperimentError, match=r"papers/cascades/protocol.toml was not found"):
        paper_folder("cascades")


def test_published_tables_are_complete():
    assert len(published("rcf")) == 33
    assert len(published("cascades")) == 10
    assert published("rcf").query("dataset == 'vowel' and method == 'rcf'")["error"].item() == 3.77
    assert Path(paper_folder("rcf") / "README.md").is_file()
