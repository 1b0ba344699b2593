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
    return parser


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
