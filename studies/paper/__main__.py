"""Reproduces the tables and figures of the paper: ``python -m studies.paper``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from studies.command import add_common_options, run
from studies.paper.plan import FIGURES, TABLES
from studies.paper.render import to_terminal, wants_color
from studies.paper.reproduce import reproduce


def folder(text: str) -> Path:
    """Parse the name of an existing folder."""
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a folder")
    return Path(text)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.paper",
        description="Run the experiments of the paper again and write its tables (Markdown, CSV) "
        "and figures (PNG, SVG) with the published value and the difference in every cell. "
        "Finished cells are kept: after an interruption, the same command continues.",
        epilog="example: python -m studies.paper --table 4 --quick --data my-datasets",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--table", type=int, choices=TABLES, help="only this table")
    what.add_argument("--figure", type=int, choices=FIGURES, help="only this figure")
    what.add_argument(
        "--all", action="store_true", help="everything, and a page of results (the default)"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run for a few minutes: fewer resamples, and without what is slow",
    )
    parser.add_argument(
        "--data",
        type=folder,
        metavar="DIR",
        help="folder with the datasets; default: the folder that CORECLUST_DATA names",
    )
    parser.add_argument("--offline", action="store_true", help="do not download missing datasets")
    add_common_options(parser, out="coreclust-reproduction")
    return parser


def main(arguments: argparse.Namespace) -> Iterator[object]:
    """Run what the arguments ask for, and yield the lines to print."""
    tables: tuple[int, ...] = TABLES
    figures: tuple[int, ...] = FIGURES
    if arguments.table is not None:
        tables, figures = (arguments.table,), ()
    elif arguments.figure is not None:
        tables, figures = (), (arguments.figure,)
    outcome = reproduce(
        tables,
        figures,
        quick=arguments.quick,
        out=arguments.out,
        page=arguments.page,
        data_home=arguments.data,
        download=not arguments.offline,
        seed=arguments.seed,
        verbose=1,
    )
    for table in outcome.tables:
        yield to_terminal(table, color=wants_color(sys.stdout))
    yield from outcome.files
    if outcome.left_out:
        yield f"\n{outcome.left_out}"


if __name__ == "__main__":
    sys.exit(run(make_parser(), main))
