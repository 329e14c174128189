"""Training rows given as a holdout, with the statement that equal rows are natural."""

from surewood.certify import certify
from tests.promises.population import draw, memorising_forest


def test_a_table_of_training_rows_with_continuous_columns_gives_no_claim():
    X, y = draw(300, 0)
    certificate = certify(memorising_forest(X, y), X, y, copies="natural")
    assert certificate.guarantees == ()
    assert certificate.facts[0] == (
        "Warning: 300 of 300 rows equal a training row; training rows hardly repeat."
    )
