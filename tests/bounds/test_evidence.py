"""How a model offers evidence."""

from surewood.bounds import OffersEvidence


def test_the_protocol_is_one_method():
    class Speaks:
        def __certificate_evidence__(self):
            return []

    assert isinstance(Speaks(), OffersEvidence)
    assert not isinstance(object(), OffersEvidence)
