"""Every public classifier, fitted to a table as tables are."""

import pytest

from tests.contract.estimators import classifiers, deterministic
from tests.contract.messy_table import messy


@pytest.fixture(scope="module", params=classifiers(), ids=lambda c: c.__name__)
def fitted(request):
    frame, y = messy(70)
    return deterministic(request.param).fit(frame, y), frame
