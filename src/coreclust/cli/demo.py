"""The command that finds the core clusters of the iris data."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from coreclust._utils.files import write_whole
from coreclust.cli.arguments import probability, whole


def add(commands: Any) -> None:
    """Add the command."""
    demo = commands.add_parser(
        "demo",
        help="find the core clusters of the iris data",
        description="Find the core clusters of the iris data (k-means, 3 clusters). Prints a table "
        "and writes a plot and a CSV file with one row per flower.",
        epilog="example: coreclust demo --alpha 0.05 --out results",
    )
    demo.add_argument("--alpha", type=probability, default=0.1, help="default: %(default)s")
    demo.add_argument(
        "--resamples", type=whole(1, 10**6), default=1000, metavar="M", help="default: %(default)s"
    )
    demo.add_argument("--seed", type=whole(0, 2**32 - 1), default=0, help="default: %(default)s")
    demo.add_argument(
        "--out",
        type=Path,
        default=Path("coreclust-demo"),
        metavar="DIR",
        help="folder for the files, created if missing; default: %(default)s",
    )
    demo.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from sklearn.cluster import KMeans
    from sklearn.datasets import load_iris

    from coreclust import CoreClustering
    from coreclust._inspection.verdict import verdict
    from coreclust.cli.output import make_folder, print_summary, save_figure
    from coreclust.plotting import CoreClusterDisplay

    table, plot = (arguments.out / f"core_clusters.{suffix}" for suffix in ("csv", "png"))
    make_folder(arguments.out, [table.name, plot.name])
    X = load_iris(as_frame=True).data
    estimator = KMeans(3, n_init=10)
    cc = CoreClustering(
        estimator,
        alpha=arguments.alpha,
        n_resamples=arguments.resamples,
        random_state=arguments.seed,
        verbose=1,
    ).fit(X)
    print(f"Iris, {len(X)} flowers, {estimator}, {arguments.resamples} bootstrap resamples\n")
    print_summary(cc)
    print(f"\n{verdict(cc, cc.diagnose(X))}")
    write_whole(table, lambda file: cc.item_table().to_csv(file, index_label="item"))
    print(f"\nAll flowers, core or weak: {table}")
    try:
        save_figure(CoreClusterDisplay.from_estimator(cc, X).figure_, plot)
        print(f"Plot: {plot}")
    except ImportError:
        plot.unlink(missing_ok=True)  # of an earlier run
        print("No plot; it needs matplotlib: pip install 'coreclust[plot]'")
