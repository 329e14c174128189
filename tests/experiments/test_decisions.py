"""What differs from a paper, under the protocol in force."""

import pytest

from surewood.experiments.decisions import deviations
from surewood.experiments.errors import ExperimentError
from surewood.experiments.protocol import Profile, read_profile


def test_deviations_follow_the_protocol_in_force():
    full = read_profile("rcf", "full")
    by_subject = {d["subject"]: d for d in deviations("rcf", full, full)}
    assert "validation error" in by_subject["C of every degree [D-12]"]["here"]
    assert not [subject for subject in by_subject if subject.startswith("size")]
    other = Profile("full", {**full.protocol, "choose_C": "cv"}, full.sizes)
    assert (
        "five folds"
        in {d["subject"]: d for d in deviations("rcf", other, full)}["C of every degree [D-12]"]["here"]
    )
    quick = [d["subject"] for d in deviations("rcf", read_profile("rcf", "quick"), full)]
    assert "size: repeats" in quick
    wrong = Profile("full", {**full.protocol, "choose_C": "guess"}, full.sizes)
    with pytest.raises(ExperimentError, match="choose_C must be one of validation, cv, got 'guess'"):
        deviations("rcf", wrong, full)
