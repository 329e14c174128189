"""Unfinished files go away with their block; those of killed processes are swept, others are left alone."""

import os
import subprocess
import sys

import pytest

from surewood.persistence.leftovers import is_running, partial, sweep


def gone_process():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_an_unfinished_file_goes_away_with_its_block(tmp_path):
    with partial(tmp_path / "m") as path:
        path.write_text("half")
        assert path.name == f".m.{os.getpid()}.part"
    assert not list(tmp_path.iterdir())


def test_an_interrupt_leaves_nothing(tmp_path):
    def interrupted():
        with partial(tmp_path / "m", 2) as path:
            path.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not list(tmp_path.iterdir())


def test_only_leftovers_of_gone_processes_and_this_target_are_swept(tmp_path):
    gone = gone_process()
    mine, other = tmp_path / f".m.{os.getpid()}.part", tmp_path / f".n.{gone}.part"
    for path in (mine, other, tmp_path / f".m.{gone}.part", tmp_path / f".m.{gone}.part2"):
        path.write_text("half")
    (tmp_path / f".m.{gone}.part3").mkdir()
    (tmp_path / f".m.{gone}.part3" / "file").write_text("half")
    sweep(tmp_path / "m")
    assert set(tmp_path.iterdir()) == {mine, other}


def test_a_process_that_ends_removes_what_it_owns(tmp_path):
    program = (
        "import sys, pathlib\nfrom surewood.persistence import leftovers\n"
        "path = pathlib.Path(sys.argv[1])\nheld = leftovers.own(path)\nheld.__enter__()\n"
        "path.write_text('half')"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path / "x"], check=True)
    assert not (tmp_path / "x").exists()


def test_a_process_that_ends_removes_folders_that_it_made_and_never_filled(tmp_path):
    program = (
        "import sys, pathlib\nfrom surewood.persistence import leftovers\n"
        "held = [leftovers.made(pathlib.Path(name)) for name in sys.argv[1:]]\n"
        "for block in held:\n    block.__enter__()\n"
        "pathlib.Path(sys.argv[2], 'kept').write_text('whole')"
    )
    subprocess.run(
        [sys.executable, "-c", program, tmp_path / "new" / "empty", tmp_path / "filled"], check=True
    )
    assert [path.name for path in tmp_path.iterdir()] == ["filled"]


def test_a_folder_that_is_not_there_is_named_by_the_target(tmp_path):
    target = tmp_path / "absent" / "m.surewood"
    with pytest.raises(FileNotFoundError) as caught, partial(target) as path:
        path.write_text("half")
    assert caught.value.filename == str(target)


def test_is_running():
    assert is_running(os.getpid())
    assert is_running(1 if os.name == "posix" else os.getppid())  # of another user, maybe
    assert not is_running(gone_process())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_named(tmp_path):
    target = tmp_path / "model.surewood"

    def write():
        with partial(target), open("/dev/full", "wb", buffering=0) as file:
            file.write(b"x")

    with pytest.raises(OSError, match="No space left") as error:
        write()
    assert error.value.filename == str(target)
