"""What every source of columns must offer."""

import pytest

from surewood.tables.array_source import ArraySource
from surewood.tables.arrow_source import ArrowSource
from surewood.tables.frame_source import FrameSource
from surewood.tables.source import CATEGORY, NUMBER, TIME, Source


def test_an_incomplete_source_cannot_be_made():
    class Half(Source):
        def label(self, j):
            return "x"

    with pytest.raises(TypeError, match="abstract"):
        Half()


@pytest.mark.parametrize("kind", [ArraySource, ArrowSource, FrameSource])
def test_all_sources_are_complete(kind):
    assert issubclass(kind, Source)
    assert not kind.__abstractmethods__
    assert {NUMBER, CATEGORY, TIME} == {"number", "category", "time"}
