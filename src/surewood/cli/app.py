"""The command's frame: global options, the console, and how a command ends.

Exit codes: 0 success, 1 the program failed, 2 usage error (one sentence on standard error, see
:mod:`~surewood.cli.mistakes`), 3 alarm of a monitor, 130 interrupted. ``--debug``, anywhere on the line,
shows the traceback.

Names, labels and values of tables can hold anything. A control character would move the cursor, change
colors or rename the window of the terminal, so it is shown as Python writes it (a backslash and its
number); a very long word is cut. Rich leaves some control characters out without a trace when it makes a
text, so the escaping comes first: commands use the :class:`Text` and the :class:`SafeConsole` of this
module.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable
from typing import Annotated, Any, TextIO, TypeVar, cast

import rich.text
import typer
from rich.console import Console
from rich.segment import Segment
from typer.core import TyperCommand, TyperGroup

import surewood
from surewood._text import CONTROL, escaped
from surewood.cli import interrupting
from surewood.cli.mistakes import explain_error

_LONG_WORD = re.compile(r"\S{121,}")
_KEPT = 50  # characters of a long word, at either end


def shown(text: str) -> str:
    """The text with visible control characters and shortened words.

    Examples
    --------
    >>> len(shown("column " + 5000 * "x"))
    108
    """
    return _LONG_WORD.sub(lambda found: f"{found[0][:_KEPT]}…{found[0][-_KEPT:]}", escaped(text))


class Text(rich.text.Text):
    """A text of Rich with visible control characters.

    Examples
    --------
    >>> Text(f"bell {chr(7)}").plain == "bell " + chr(92) + "x07"
    True
    """

    def __init__(self, text: str = "", *args: Any, **options: Any) -> None:
        super().__init__(escaped(text), *args, **options)


class SafeConsole(Console):
    """A console that writes no control character of the text that it is given."""

    def render_str(self, text: str, **options: Any) -> rich.text.Text:
        """A string as a text of Rich."""
        return super().render_str(escaped(text), **options)

    def render(self, *args: Any, **options: Any) -> Iterable[Segment]:
        """Segments of something to print."""
        for segment in super().render(*args, **options):
            if segment.control or not CONTROL.search(segment.text):
                yield segment
            else:
                yield Segment(escaped(segment.text), segment.style)


class _PlainFlags:
    """A flag takes no value, so its help shows no type."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters of the command."""
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for one in found:
            if getattr(one, "is_flag", False) and one.metavar is None:
                one.metavar = ""
        return found


class _Command(_PlainFlags, TyperCommand):
    pass


class _Group(_PlainFlags, TyperGroup):
    pass


_Function = TypeVar("_Function", bound=Callable[..., Any])


class _App(typer.Typer):
    def command(self, *names: Any, **options: Any) -> Callable[[_Function], _Function]:
        """Register a command whose flags show no type."""
        return super().command(*names, **{"cls": _Command, **options})


app = _App(
    name="surewood",
    cls=_Group,
    help="Tabular classifiers that come with error guarantees and show how complex they are.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"surewood {surewood.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; works anywhere on the line.")
    ] = False,
) -> None:
    """Tabular classifiers that come with error guarantees and show how complex they are."""


class _WithoutPadding:
    """Standard output, where Rich would fill the last column of a table with blanks."""

    def write(self, text: str) -> None:
        sys.stdout.write(re.sub(r" +$", "", text, flags=re.MULTILINE))

    def flush(self) -> None:
        sys.stdout.flush()


def console() -> Console:
    """A console that never cuts a table when the output goes to a file or a pipe."""
    if sys.stdout.isatty():
        return SafeConsole(highlight=False)
    return SafeConsole(file=cast(TextIO, _WithoutPadding()), width=160, no_color=True, highlight=False)


def _end_of_reader() -> int:
    """The reader of our output has enough, as `head` has: that is no error, and nobody is left to tell."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def main() -> None:
    """Run the command; the entry point of the package."""
    arguments = [word for word in sys.argv[1:] if word != "--debug"]
    debug = len(arguments) < len(sys.argv) - 1
    if not debug:
        # What matters to a user is reported by the commands themselves.
        warnings.simplefilter("ignore")
    if sys.stdout is None:
        print("surewood: standard output is closed; use > /dev/null to see nothing.", file=sys.stderr)
        sys.exit(2)
    interrupting.watch()
    code: object = 0
    try:
        app(arguments)
    except SystemExit as leaving:
        code = leaving.code
        if isinstance(leaving.__context__, OSError) and leaving.__context__.errno == errno.EPIPE:
            code = _end_of_reader()  # Typer caught it
        if code == interrupting.EXIT_CODE:
            # Typer names the interrupt as the cause; a command that caught it has spoken.
            typers = isinstance(getattr(leaving.__context__, "__cause__", None), KeyboardInterrupt)
            interrupting.end(said=not typers)
        if code and interrupting.noticed():
            interrupting.end()
    except KeyboardInterrupt:
        interrupting.end()
    except BrokenPipeError:
        code = _end_of_reader()
    except Exception as error:
        if interrupting.noticed():
            interrupting.end()
        code, sentence = explain_error(error)
        if debug:
            traceback.print_exc()
        sentence = shown(sentence).replace("\n", r"\n")  # of a name: no message of ours has one
        print(f"surewood: {sentence}", file=sys.stderr)
    sys.exit(code)  # type: ignore[arg-type]
