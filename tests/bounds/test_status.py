"""The four words."""

import json

from surewood.bounds import Status


def test_there_are_four_words_and_they_are_text():
    assert [str(status) for status in Status] == ["GUARANTEE", "CRITERION", "ESTIMATE", "HEURISTIC"]
    assert json.dumps({"status": Status.GUARANTEE}) == '{"status": "GUARANTEE"}'
