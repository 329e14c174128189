"""``surewood reproduce``: a paper's tables next to ours, by one command that can be stopped and resumed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from surewood.cli.app import app, console
from surewood.cli.mistakes import as_options
from surewood.cli.option_values import ClusterAddress
from surewood.workflow.errors import WorkflowError
from surewood.workflow.output_place import check_folder

if TYPE_CHECKING:
    from surewood.experiments.paper import Paper
    from surewood.experiments.protocol import Profile
    from surewood.experiments.runner import Outcome


@app.command()
def reproduce(
    paper: Annotated[str, typer.Argument(help="The paper: rcf, cascades or mddf.", show_default=False)],
    profile: Annotated[
        str, typer.Option(help="Sizes: quick (minutes), standard (under an hour) or full (as published).")
    ] = "quick",
    sets: Annotated[str | None, typer.Option(help="Only these data sets, separated by commas.")] = None,
    protocol: Annotated[
        str,
        typer.Option(
            help="paper: its own division of the data; official: the data sets' training and test parts."
        ),
    ] = "paper",
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue with the records in the folder.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the results.", show_default="reproduction/PAPER-PROFILE")
    ] = None,
    n_jobs: Annotated[int, typer.Option(min=1, help="Threads; results do not depend on them.")] = 1,
    cluster: ClusterAddress = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Run a paper's protocol and print its table next to ours.

    Example: surewood reproduce cascades --profile quick
    """
    # Here, so that other commands do not wait for what only this one needs.
    from surewood.experiments.display import Display
    from surewood.experiments.errors import ExperimentError
    from surewood.experiments.paper import find_paper
    from surewood.experiments.protocol import read_profile
    from surewood.experiments.runner import RESULTS, run_paper
    from surewood.parallel import WorkerLost
    from surewood.workflow.fitting import on_cluster

    second = "" if protocol == "paper" else f"-{protocol}"
    folder = out or Path("reproduction") / f"{paper}-{profile}{second}"
    wanted = None if sets is None else [name.strip() for name in sets.split(",") if name.strip()]
    if wanted == []:
        raise WorkflowError("--sets names no data set; leave it out for all of them.")
    display = Display(Console(stderr=True, width=None if sys.stderr.isatty() else 160))
    try:
        the_paper, sizes = find_paper(paper), read_profile(paper, profile, protocol)
        check_folder(folder)
        with on_cluster(cluster):
            jobs = n_jobs if cluster is None else -1  # every worker of the cluster
            outcome = run_paper(
                the_paper, sizes, folder, sets=wanted, resume=resume, n_jobs=jobs, display=display
            )
        _show(the_paper, sizes, outcome, wanted, as_json)
    except WorkerLost as error:
        print(f"surewood: {error}\n{folder / RESULTS} resumes: add --resume.", file=sys.stderr)
        raise typer.Exit(1) from None
    except (ExperimentError, WorkflowError, OSError) as error:
        if "--debug" in sys.argv:
            raise
        print(f"surewood: {as_options(str(error))}", file=sys.stderr)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        print(f"\nstopped; {folder / RESULTS} resumes: add --resume to the command.", file=sys.stderr)
        raise typer.Exit(130) from None


def _show(paper: Paper, profile: Profile, outcome: Outcome, sets: list[str] | None, as_json: bool) -> None:
    """Write the pages of a run and print its table."""
    from surewood.experiments.errors import ExperimentError
    from surewood.experiments.output import print_summary, write_outputs
    from surewood.experiments.summary import complete_summary

    if not outcome.records:
        raise ExperimentError("none of the data sets is available.")
    summary = complete_summary(paper, profile, outcome.records, outcome.missing, sets)
    files = write_outputs(summary, outcome.records, outcome.path.parent)
    if as_json:
        print(json.dumps(summary, indent=2))
        return
    print_summary(summary, console())
    print(f"\nthe page: {files['html']}")
