"""Places that cannot be written are refused before the work."""

import os

import pytest

from surewood.workflow.errors import WorkflowError
from surewood.workflow.output_place import check_file, check_folder


def test_places_that_cannot_be_written_are_refused_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    (tmp_path / "page.html").mkdir()
    for folder in ("file/sub", "file"):
        with pytest.raises(
            WorkflowError, match=r"^out=.*file(: .*file)? is a file|^out=.*is a file, not a folder"
        ):
            check_folder(tmp_path / folder)
    with pytest.raises(WorkflowError, match=r"^out=.*x\.txt: the name must end in \.csv or \.parquet\.$"):
        check_file(tmp_path / "x.txt", (".csv", ".parquet"))
    with pytest.raises(WorkflowError, match=r"^out=.*page\.html is a folder; name a file\.$"):
        check_file(tmp_path / "page.html", (".html",))
    check_file(tmp_path / "new" / "deep" / "x.csv", (".csv",))
    assert not (tmp_path / "new").exists()
    monkeypatch.setattr(os, "access", lambda place, mode: False)  # root may write everywhere
    with pytest.raises(WorkflowError, match=r"^out=.*x\.csv: no permission to write in .*\.$"):
        check_file(tmp_path / "new" / "x.csv", (".csv",))
    with pytest.raises(WorkflowError, match=r"^out=.*new: no permission to write in .*\.$"):
        check_folder(tmp_path / "new")
