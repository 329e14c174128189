"""The frame of the command: help, version, completion, tracebacks."""

from tests.cli.command import run


def test_a_traceback_only_where_it_is_asked_for(tmp_path):
    shown = run("fit", "nosuch.csv", "--target", "kind", "--debug", folder=tmp_path)
    assert shown.returncode == 2
    assert "Traceback" in shown.stderr
    assert shown.stderr.endswith("surewood: there is no file nosuch.csv.\n")


def test_options_that_do_not_exist_are_explained_by_the_usage(tmp_path):
    shown = run("fit", "good.csv", "--tragte", "kind", folder=tmp_path)
    assert shown.returncode == 2
    assert "--tragte" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_help_shows_examples():
    for command in ("fit", "predict", "explain", "importances", "compare", "certify"):
        shown = run(command, "--help")
        assert shown.returncode == 0
        assert f"surewood {command}" in shown.stdout
        assert "Examples" in shown.stdout
        assert "--json" in shown.stdout


def test_completion_of_the_shell():
    shown = run(_SUREWOOD_COMPLETE="complete_bash", COMP_WORDS="surewood fi", COMP_CWORD="1")
    assert "fit" in shown.stdout.split()


def test_version_and_help():
    assert run("--version").stdout.startswith("surewood 0.")
    shown = run("--help")
    assert shown.returncode == 0
    assert "datasets" in shown.stdout
