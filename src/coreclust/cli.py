"""The command line. Heavy modules are imported by the commands that need them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coreclust import __version__
from coreclust.files import write_whole

if TYPE_CHECKING:
    from coreclust import CoreClustering


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 done, 1 failed, 2 wrong usage."""
    arguments = _parser().parse_args(argv)
    try:
        arguments.run(arguments)
    except BrokenPipeError:  # whoever was reading has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"coreclust: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as interrupt:
        print(f"\ncoreclust: {interrupt or 'Interrupted.'}", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="coreclust", description="Tell which parts of a clustering can be trusted."
    )
    parser.add_argument("--version", action="version", version=f"coreclust {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    demo = commands.add_parser(
        "demo",
        help="core clusters of the iris data",
        description="Find the core clusters of the iris data (k-means, 3 clusters): a table, "
        "a picture and a CSV file with a row a flower.",
        epilog="example: coreclust demo --alpha 0.05 --out results",
    )
    demo.add_argument("--alpha", type=_probability, default=0.1, help="default: %(default)s")
    demo.add_argument(
        "--resamples", type=_whole(1, 10**6), default=1000, metavar="M", help="default: %(default)s"
    )
    demo.add_argument("--seed", type=_whole(0, 2**32 - 1), default=0, help="default: %(default)s")
    demo.add_argument(
        "--out",
        type=Path,
        default=Path("coreclust-demo"),
        metavar="DIR",
        help="folder for the files, made if missing; default: %(default)s",
    )
    demo.set_defaults(run=_demo)
    _add_reproduce(commands)
    _add_calibrate(commands)
    return parser


def _add_reproduce(commands: Any) -> None:
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
        "--quick", action="store_true", help="a few minutes: fewer samples, without what is slow"
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
        type=_folder,
        metavar="DIR",
        help="folder with the datasets; default: the one that CORECLUST_DATA names",
    )
    reproduce.add_argument(
        "--offline", action="store_true", help="do not download datasets that are not there"
    )
    reproduce.add_argument(
        "--seed", type=_whole(0, 2**32 - 1), default=0, help="default: %(default)s"
    )
    reproduce.set_defaults(run=_reproduce)


def _add_calibrate(commands: Any) -> None:
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
        "--seed", type=_whole(0, 2**32 - 1), default=0, help="default: %(default)s"
    )
    calibrate.add_argument(
        "--repetitions",
        type=_whole(1, 1000),
        metavar="R",
        help="datasets a design; default: 5, with --quick 1",
    )
    calibrate.add_argument(
        "--designs", type=_design, nargs="+", metavar="NAME", help="only these; default: all"
    )
    calibrate.set_defaults(run=_calibrate)


def _demo(arguments: argparse.Namespace) -> None:
    from sklearn.cluster import KMeans
    from sklearn.datasets import load_iris

    from coreclust import CoreClustering

    arguments.out.mkdir(parents=True, exist_ok=True)
    X = load_iris(as_frame=True).data
    estimator = KMeans(3, n_init=10)
    cc = CoreClustering(
        estimator,
        alpha=arguments.alpha,
        n_resamples=arguments.resamples,
        random_state=arguments.seed,
        verbose=1,
    ).fit(X)
    print(f"Iris, {len(X)} flowers, {estimator}, {arguments.resamples} bootstrap samples\n")
    print(cc.summary().to_string(index=False, float_format="{:.3f}".format))
    print(f"\n{_verdict(cc)}")
    table = arguments.out / "core_clusters.csv"
    write_whole(table, lambda file: cc.item_table().to_csv(file, index_label="item"))
    print(f"\nEvery flower, core or weak: {table}")
    picture = arguments.out / "core_clusters.png"
    if _draw(cc, X, picture):
        print(f"Picture: {picture}")
    else:
        print("No picture: matplotlib is missing (pip install 'coreclust[plot]').")


def _reproduce(arguments: argparse.Namespace) -> None:
    from coreclust.paper.plan import FIGURES, TABLES
    from coreclust.paper.render import to_terminal, wants_colour
    from coreclust.paper.reproduce import reproduce

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
        print(to_terminal(table, colour=wants_colour(sys.stdout)))
    for path in outcome.files:
        print(path)
    if outcome.left_out:
        print(f"\n{outcome.left_out}")


def _calibrate(arguments: argparse.Namespace) -> None:
    from coreclust.calibration.study import calibrate

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


def _verdict(cc: CoreClustering) -> str:
    n_items = cc.labels_.size
    weak = n_items - cc.core_sample_indices_.size
    shakiest = max(cc.cores_, key=lambda core: 1 - core.core.size / core.size)
    proof = "proven" if all(core.optimal for core in cc.cores_) else "not proven"
    text = (
        f"{n_items - weak} of {n_items} items are core: any two in one core land together with "
        f"an estimated probability of at least {1 - cc.alpha:g}. {weak} are weak. "
        f"The cores are {proof} to be the largest possible."
    )
    if weak:
        text += f" Cluster {cc.cluster_names_[shakiest.label]} is the shakiest."
    return text


def _draw(cc: CoreClustering, X: Any, path: Path) -> bool:
    from coreclust.plotting import CoreClusterDisplay

    try:
        display = CoreClusterDisplay.from_estimator(cc, X)
    except ImportError:
        return False
    write_whole(path, lambda file: display.figure_.savefig(file, format="png"))
    return True


def _design(text: str) -> str:
    from coreclust.calibration.designs import DESIGNS

    if text not in DESIGNS:
        raise argparse.ArgumentTypeError(f"{text} is not one of {', '.join(DESIGNS)}")
    return text


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a folder")
    return Path(text)


def _probability(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number between 0 and 1")
    return value


def _whole(least: int, most: int) -> Callable[[str], int]:
    def whole_number(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text} is not a whole number from {least} to {most}")
        return int(text)

    return whole_number
