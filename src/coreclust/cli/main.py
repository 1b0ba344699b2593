"""The entry point of the command line: the commands, and how their errors are reported."""

from __future__ import annotations

import _thread
import argparse
import os
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from coreclust import __version__
from coreclust._utils.text import one_line, printable
from coreclust.cli import compare, completion, demo, fit, select
from coreclust.cli.errors import InputError
from coreclust.cli.output import remove_new_folder

# Each module has a function `add(commands)`; a new command is a new module here.
_COMMANDS = (fit, select, compare, demo, completion)

_EPILOG = """\
examples:
  coreclust demo
  coreclust select data.csv -k 2..10
  coreclust fit data.csv -k 3 --report
  coreclust compare data.csv -k 3 --algorithms kmeans,hclust
  coreclust fit --help

exit codes:
  0 done   1 failed   2 wrong usage or unusable file   130 interrupted
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 done, 1 failed, 2 wrong usage or input."""
    try:
        parser = make_parser()
        arguments = parser.parse_args(argv)
        arguments.parser = parser  # for the completion script
        # For the line with the command that repeats the run.
        arguments.argv = list(sys.argv[1:] if argv is None else argv)
        with warnings.catch_warnings(), _no_lost_interrupts():
            warnings.simplefilter("default")
            warnings.showwarning = _show_warning
            try:
                arguments.run(arguments)
            finally:
                remove_new_folder(arguments)
            sys.stdout.flush()
    except BrokenPipeError:  # the reader closed the pipe, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except InputError as error:
        return _fail(error, 2)
    except (OSError, ImportError, MemoryError, RuntimeError, ValueError) as error:
        return _fail(error, 1)
    except KeyboardInterrupt as interrupt:
        return _interrupted(interrupt)
    except SystemError as error:  # how compiled code can report a Ctrl-C
        if not isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise
        return _interrupted(KeyboardInterrupt())
    return 0


class _Parser(argparse.ArgumentParser):
    """Prints no characters that control a terminal, for instance from the name of a file."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; argparse starts quickly and belongs to Python."""
    parser = _Parser(
        prog="coreclust",
        description="Find the parts of a clustering that are stable: which rows of a table stay\n"
        "together when it is clustered again with other random rows, and which do not.\n"
        "Begin with select, which chooses the number of clusters, and go on with fit.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"coreclust {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command", dest="command")
    for module in _COMMANDS:
        module.add(commands)
    return parser


@contextmanager
def _no_lost_interrupts() -> Iterator[None]:
    """Interrupt again if a Ctrl-C arrives where Python can only report it, and goes on.

    That is in a function that C calls, such as one that numba has called while it compiles, and in
    destructors.
    """
    before = sys.unraisablehook
    waiting: list[threading.Timer] = []

    def report(unraisable: Any) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            before(unraisable)
            return
        # Not at once: the interrupt would be raised here, and be lost again.
        waiting.append(threading.Timer(0.02, _thread.interrupt_main))
        waiting[-1].daemon = True
        waiting[-1].start()

    sys.unraisablehook = report
    try:
        yield
    finally:
        sys.unraisablehook = before
        for timer in waiting:
            timer.cancel()


def _interrupted(interrupt: KeyboardInterrupt) -> int:
    # An interrupt may carry another one, so its text counts, not whether it has arguments.
    print(f"\ncoreclust: {str(interrupt) or 'Interrupted.'}", file=sys.stderr)
    return 130


def _fail(error: BaseException, code: int) -> int:
    text = one_line(error) or type(error).__name__
    print(f"coreclust: error: {text}", file=sys.stderr)
    return code


def _show_warning(message: Any, category: type[Warning], *_where: Any, **_more: Any) -> None:
    # Users need the text of a warning, not the line of code that raised it.
    if issubclass(category, (UserWarning, RuntimeWarning)):
        print(f"coreclust: warning: {one_line(message)}", file=sys.stderr)
