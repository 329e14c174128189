"""Seeds depend on names and on nothing else."""

from surewood.experiments.seeds import seed_of


def test_a_seed_is_a_pinned_function_of_its_parts():
    assert seed_of("rcf", "vowel", 0) == seed_of("rcf", "vowel", "0")
    assert len({seed_of("rcf", name, k) for name in ("vowel", "iris") for k in range(50)}) == 100
    assert all(0 <= seed_of("x", k) < 2**32 for k in range(100))
