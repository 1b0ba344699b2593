"""The command that makes the tables and figures of the paper again."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from coreclust.cli.arguments import folder, whole


def add(commands: Any) -> None:
    """Add the command."""
    reproduce = commands.add_parser(
        "reproduce",
        help="the tables and figures of the paper, next to the published ones",
        description="Run the experiments of the paper again and write its tables (Markdown, CSV) "
        "and figures (PNG, SVG) with the published figure and the difference in every cell. "
        "Finished cells are kept: after an interruption the same command goes on from there.",
        epilog="example: coreclust reproduce --table 4 --quick --data my-datasets",
    )
    what = reproduce.add_mutually_exclusive_group()
    what.add_argument("--table", type=int, choices=range(1, 6), help="only this table")
    what.add_argument("--figure", type=int, choices=range(1, 3), help="only this figure")
    what.add_argument(
        "--all", action="store_true", help="everything, and a page about it (the default)"
    )
    reproduce.add_argument(
        "--quick", action="store_true", help="a few minutes: fewer resamples, without what is slow"
    )
    reproduce.add_argument(
        "--out",
        type=Path,
        default=Path("coreclust-reproduction"),
        metavar="DIR",
        help="folder for the files, made if missing; default: %(default)s",
    )
    reproduce.add_argument(
        "--data",
        type=folder,
        metavar="DIR",
        help="folder with the datasets; default: the one that CORECLUST_DATA names",
    )
    reproduce.add_argument(
        "--offline", action="store_true", help="do not download datasets that are not there"
    )
    reproduce.add_argument(
        "--seed", type=whole(0, 2**32 - 1), default=0, help="default: %(default)s"
    )
    reproduce.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from studies.paper.plan import FIGURES, TABLES
    from studies.paper.render import to_terminal, wants_color
    from studies.paper.reproduce import reproduce

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
        data_home=arguments.data,
        download=not arguments.offline,
        seed=arguments.seed,
        verbose=1,
    )
    for table in outcome.tables:
        print(to_terminal(table, color=wants_color(sys.stdout)))
    for path in outcome.files:
        print(path)
    if outcome.left_out:
        print(f"\n{outcome.left_out}")
