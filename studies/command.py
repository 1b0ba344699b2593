"""Runs the command of a study: errors are one line, exit codes are those of ``coreclust``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from coreclust.cli.arguments import whole


def add_common_options(parser: argparse.ArgumentParser, *, out: str) -> None:
    """Add the options that both studies have."""
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(out),
        metavar="DIR",
        help="folder for the files, created if missing; default: %(default)s",
    )
    parser.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help="a Markdown page whose generated blocks are replaced, too",
    )
    parser.add_argument("--seed", type=whole(0, 2**32 - 1), default=0, help="default: %(default)s")


def run(
    parser: argparse.ArgumentParser,
    study: Callable[[argparse.Namespace], Iterable[object]],
    argv: Sequence[str] | None = None,
) -> int:
    """Parse the arguments, run the study and print the lines that it returns.

    Returns
    -------
    exit_code : int
        0 if it is done, 1 if it failed, 130 if it was interrupted; argparse exits with 2.
    """
    arguments = parser.parse_args(argv)
    try:
        for line in study(arguments):
            sys.stdout.write(f"{line}\n")
    except (OSError, ImportError, MemoryError, RuntimeError, ValueError) as error:
        text = " ".join(str(error).split()) or type(error).__name__
        sys.stderr.write(f"{parser.prog}: error: {text}\n")
        return 1
    except KeyboardInterrupt as interrupt:
        sys.stderr.write(f"\n{parser.prog}: {str(interrupt) or 'Interrupted.'}\n")
        return 130
    return 0
