"""Measures how often the guarantee holds: ``python -m studies.calibration``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

from coreclust.cli.arguments import whole
from studies.calibration.designs import DESIGNS
from studies.calibration.study import calibrate
from studies.command import add_common_options, run


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.calibration",
        description="Find the core clusters of data with a known distribution, compare every "
        "core pair with the truth, and write a page (Markdown), a table (CSV) and plots (PNG). "
        "Finished datasets are kept: after an interruption, the same command continues.",
        epilog="example: python -m studies.calibration --quick --designs imbalance too-few",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run for less than a minute: one dataset per design, and a rough truth",
    )
    parser.add_argument(
        "--repetitions",
        type=whole(1, 1000),
        metavar="R",
        help="datasets per design; default: 20 (5 of Leiden), with --quick 1",
    )
    parser.add_argument(
        "--designs", type=_design, nargs="+", metavar="NAME", help="only these; default: all"
    )
    add_common_options(parser, out="coreclust-calibration")
    return parser


def main(arguments: argparse.Namespace) -> Iterable[object]:
    """Run what the arguments ask for, and return the lines to print."""
    return calibrate(
        arguments.designs,
        quick=arguments.quick,
        repetitions=arguments.repetitions,
        out=arguments.out,
        page=arguments.page,
        seed=arguments.seed,
        verbose=1,
    ).files


def _design(text: str) -> str:
    if text not in DESIGNS:
        raise argparse.ArgumentTypeError(f"{text} is not one of {', '.join(DESIGNS)}")
    return text


if __name__ == "__main__":
    sys.exit(run(make_parser(), main))
