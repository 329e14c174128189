import pytest

from surewood.deepforest.records import Comparisons


@pytest.mark.parametrize(
    ("comparisons", "used"),
    [
        (Comparisons(1, 1, 1, 1, on_validation_rows=False), False),  # nothing was compared
        (Comparisons(1, 1, 1, 3, on_validation_rows=False), True),
        (Comparisons(1, 1, 1, 3, on_validation_rows=True), False),
        (
            Comparisons(8, 1, 1, 3, on_validation_rows=True),
            True,
        ),  # blocks are always chosen by held-out score
        (Comparisons(1, 1, 4, 3, on_validation_rows=True), True),
        (Comparisons(1, 6, 1, 1, on_validation_rows=True), False),
        (Comparisons(1, 6, 1, 1, on_validation_rows=False), True),
    ],
)
def test_when_held_out_scores_took_part_in_a_choice(comparisons, used):
    assert comparisons.used_held_out_scores is used


def test_everything_compared_is_counted():
    assert Comparisons(8, 72, 4, 5, False).n_compared == 8 + 72 + 4 + 5
    assert Comparisons(1, 1, 1, 5, False).n_compared == 5
