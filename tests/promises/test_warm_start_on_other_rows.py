"""A forest grown on some rows, continued on others, and certified on the first."""

from surewood import BinnedForestClassifier, load, save
from surewood.certify import certify
from tests.promises.population import draw, is_true


def test_rows_of_every_fit_are_remembered(tmp_path):
    first, second = draw(300, 0), draw(300, 1)
    model = BinnedForestClassifier(15, max_features=None, warm_start=True, random_state=0).fit(*first)
    model.set_params(n_estimators=16).fit(*second)
    save(model, tmp_path / "m.surewood")
    for one in (model, load(tmp_path / "m.surewood")):
        assert certify(one, *first).guarantees == ()
        assert certify(one, *second).guarantees == ()
        assert is_true(certify(one, *draw(300, 2)))
        assert certify(one, *draw(300, 2)).best.n == 300


def test_a_fit_that_forgot_its_rows_leaves_the_model_without_memory():
    model = BinnedForestClassifier(5, warm_start=True, remember_rows=False, random_state=0).fit(*draw(300, 0))
    model.set_params(n_estimators=6, remember_rows=True).fit(*draw(300, 1))
    assert model.remembered_rows_ is None
    assert "not checked" in certify(model, *draw(300, 2)).assumptions[0]
