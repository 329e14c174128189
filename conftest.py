"""Examples in docstrings write their files into a temporary folder, so that they need not name one."""

import pytest
from _pytest.doctest import DoctestItem


@pytest.fixture(autouse=True)
def _folder_of_an_example(request):
    if isinstance(request.node, DoctestItem):
        request.getfixturevalue("monkeypatch").chdir(request.getfixturevalue("tmp_path"))
