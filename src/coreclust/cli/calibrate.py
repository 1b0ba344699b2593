"""The command that checks the guarantee on data of a known distribution."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from coreclust.cli.arguments import whole


def add(commands: Any) -> None:
    """Add the command."""
    calibrate = commands.add_parser(
        "calibrate",
        help="how often the guarantee holds on data of a known distribution",
        description="Find the core clusters of data whose distribution is known, compare every "
        "core pair with the truth, and write a page (Markdown), a table (CSV) and plots (PNG). "
        "Finished datasets are kept: after an interruption the same command goes on from there.",
        epilog="example: coreclust calibrate --quick --designs imbalance too-few",
    )
    calibrate.add_argument(
        "--quick", action="store_true", help="under a minute: a dataset a design, a rough truth"
    )
    calibrate.add_argument(
        "--out",
        type=Path,
        default=Path("coreclust-calibration"),
        metavar="DIR",
        help="folder for the files, made if missing; default: %(default)s",
    )
    calibrate.add_argument(
        "--seed", type=whole(0, 2**32 - 1), default=0, help="default: %(default)s"
    )
    calibrate.add_argument(
        "--repetitions",
        type=whole(1, 1000),
        metavar="R",
        help="datasets a design; default: 5, with --quick 1",
    )
    calibrate.add_argument(
        "--designs", type=_design, nargs="+", metavar="NAME", help="only these; default: all"
    )
    calibrate.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from studies.calibration.study import calibrate

    outcome = calibrate(
        arguments.designs,
        quick=arguments.quick,
        repetitions=arguments.repetitions,
        out=arguments.out,
        seed=arguments.seed,
        verbose=1,
    )
    for path in outcome.files:
        print(path)


def _design(text: str) -> str:
    from studies.calibration.designs import DESIGNS

    if text not in DESIGNS:
        raise argparse.ArgumentTypeError(f"{text} is not one of {', '.join(DESIGNS)}")
    return text
