"""The command that finds the core clusters of a table."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coreclust._utils.constants import NOISE_RULES
from coreclust.cli.arguments import (
    CLASSIFIERS,
    CLUSTERERS,
    MOST_K,
    add_command,
    add_confidence,
    add_output,
    add_reading,
    add_sampling,
    seconds,
    whole,
)

if TYPE_CHECKING:
    from coreclust import CoreClustering
    from coreclust.cli.reading import Table

_EXAMPLES = """\
  coreclust fit data.csv -k 3
  coreclust fit data.csv -k 3 --id name --label species --scale --report
  coreclust fit data.csv --algorithm hclust -k 4 --alpha 0.05 --confidence 0.95
  coreclust fit cells.h5ad -k 8 --json | jq .weak_fraction
"""


def add(commands: Any) -> None:
    """Add the command."""
    fit = add_command(
        commands,
        "fit",
        usage="-k K",
        summary="find the core clusters of a table",
        text="Find the core of every cluster of a table: the largest set of items of which every\n"
        "two are clustered together in nearly all resamples. Writes core_clusters.csv (one row\n"
        "per item), summary.json, plots and, with --report, an HTML report.",
        examples=_EXAMPLES,
    )
    fit.add_argument(
        "--algorithm",
        choices=(*CLUSTERERS, *CLASSIFIERS),
        default="kmeans",
        help="clustering algorithm; default: %(default)s; "
        f"{' and '.join(CLASSIFIERS)} are classifiers and need --label",
    )
    fit.add_argument("-k", type=whole(1, MOST_K), metavar="K", help="number of clusters")
    add_reading(fit)
    add_sampling(fit, resamples=1000, auto=True)
    fit.add_argument(
        "--checkpoint",
        type=Path,
        metavar="DIR",
        help="save finished resamples in this folder; after an interruption, the same command "
        "continues from there",
    )
    rules = fit.add_argument_group("the rules")
    add_confidence(rules)
    rules.add_argument(
        "--noise",
        choices=tuple(NOISE_RULES),
        default=next(iter(NOISE_RULES)),
        help="how two items with a noise label count in a resample; default: %(default)s",
    )
    rules.add_argument(
        "--time-limit", type=seconds, metavar="S", help="time limit of the search, in seconds"
    )
    add_output(fit, folder="coreclust-NAME")
    fit.add_argument("--report", action="store_true", help="also write report.html")
    fit.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from coreclust._inspection.verdict import verdict
    from coreclust.cli.loading import check_classes, check_k, check_k_given, load, stem
    from coreclust.cli.output import (
        command_of,
        folder_for,
        notice,
        print_summary,
        say,
        to_json,
        write_json,
    )

    if arguments.algorithm in CLUSTERERS:
        check_k_given(arguments.k)
    if arguments.report:
        _check_report()
    table = load(arguments)
    check_classes(table, [arguments.algorithm])
    if arguments.algorithm in CLUSTERERS:
        check_k(arguments.k, len(table.X))
    out = folder_for(arguments, f"coreclust-{stem(arguments)}")
    cc = _fit(arguments, table)
    summary = _summary(arguments, table, cc)
    if out is not None:
        summary["files"] = _write(arguments, out, table, cc)
        write_json(out / "summary.json", summary)
    elif arguments.report:
        notice(
            arguments, "note: no report is written, because --json without --out writes no files."
        )
    if arguments.json or out is None:
        print(to_json({**summary, "items": _items(table, cc)}))
        return
    n_items, n_features = table.X.shape
    features = "feature" if n_features == 1 else "features"
    say(arguments, f"{arguments.data}: {n_items} items, {n_features} {features}\n")
    print_summary(cc)
    say(arguments, f"\n{verdict(cc)}")
    if "purity" in summary:
        say(
            arguments,
            f"Purity: {summary['purity']['clusters']:.3f} of the clusters, "
            f"{summary['purity']['cores']:.3f} of their cores.",
        )
    say(arguments)
    say(arguments, f"All items, core or weak: {out / 'core_clusters.csv'}")
    if arguments.report:
        say(arguments, f"Report: {out / 'report.html'}")
    say(arguments, f"Files in {out}: {', '.join([*summary['files'], 'summary.json'])}")
    say(arguments, f"Repeat: {command_of(arguments)}")


def _check_report() -> None:
    """Raise before any work if a package for the report is missing."""
    from importlib.util import find_spec

    if any(find_spec(name) is None for name in ("jinja2", "matplotlib", "vl_convert")):
        raise ImportError(
            "--report needs more packages; install them with: pip install 'coreclust[report]'"
        )


def _fit(arguments: argparse.Namespace, table: Table) -> CoreClustering:
    from coreclust import CoreClustering
    from coreclust.algorithms import make_algorithm
    from coreclust.cli.errors import InputError
    from coreclust.cli.loading import make_scheme

    cc = CoreClustering(
        make_algorithm(arguments.algorithm, arguments.k or 0),
        alpha=arguments.alpha,
        n_resamples=arguments.resamples,
        resampling=make_scheme(arguments.scheme, [arguments.algorithm]),
        confidence=arguments.confidence,
        guarantee=arguments.guarantee,
        noise=arguments.noise,
        time_limit=arguments.time_limit,
        checkpoint=arguments.checkpoint,
        n_jobs=arguments.jobs,
        random_state=arguments.seed,
        verbose=0 if arguments.quiet or arguments.json else 1,
    )
    is_classifier = arguments.algorithm in CLASSIFIERS
    try:
        # The smoothed bootstrap draws new items, which needs an array and not a frame.
        X = table.X if arguments.scheme == "smoothed" else _frame(table)
        return cc.fit(X, table.classes if is_classifier else None)
    except ValueError as error:
        raise InputError(str(error)) from error


def _summary(arguments: argparse.Namespace, table: Table, cc: CoreClustering) -> dict[str, Any]:
    from coreclust._inspection.verdict import verdict
    from coreclust.cli.output import made_from
    from coreclust.metrics import purity_score, weak_fraction

    summary: dict[str, Any] = {
        "verdict": verdict(cc),
        "weak_fraction": weak_fraction(cc.labels_),
        "clusters": cc.summary().to_dict("records"),
        "n_items": len(table.X),
        "n_trimmed": cc.trimmed_sample_indices_.size,
        "algorithm": arguments.algorithm,
        "estimator": " ".join(repr(cc.estimator).split()),
        "scaled": arguments.scale,
        "alpha": cc.alpha,
        "confidence": cc.confidence,
        "guarantee": cc.guarantee,
        "noise": cc.noise,
        "scheme": arguments.scheme,
        "resamples": cc.n_resamples_,
        "dropped_resamples": cc.n_dropped_resamples_,
        **made_from(arguments, table),
    }
    if table.classes is not None:
        summary["purity"] = {
            "clusters": purity_score(table.classes, cc.reference_labels_),
            "cores": purity_score(table.classes, cc.labels_),
        }
    return summary


def _items(table: Table, cc: CoreClustering) -> dict[str, list[Any]]:
    """Return the columns of the table of items."""
    names = cc.cluster_names_.tolist()
    cluster = [names[code] if code >= 0 else None for code in cc.reference_labels_.tolist()]
    # Trimmed items, and items that were never drawn with another, have no strength.
    strength = [None if s != s else round(s, 4) for s in cc.strengths_.tolist()]
    columns: dict[str, list[Any]] = {
        "id": table.ids,
        "cluster": cluster,
        "core": (cc.labels_ >= 0).tolist(),
        "strength": strength,
    }
    if table.classes is not None:
        columns["class"] = table.classes.tolist()
    return columns


def _write(arguments: argparse.Namespace, out: Path, table: Table, cc: CoreClustering) -> list[str]:
    """Write the table of items, the report and the plots, and return the names of the files."""
    from coreclust.cli.output import write_csv

    columns = _items(table, cc)
    columns["core"] = ["yes" if core else "no" for core in columns["core"]]
    write_csv(out / "core_clusters.csv", list(columns), zip(*columns.values(), strict=True))
    files = ["core_clusters.csv"]
    if arguments.report:
        cc.to_html(out / "report.html", X=_frame(table), ids=table.ids)
        files.append("report.html")
    if not arguments.no_plots:
        files += _draw(arguments, out, table, cc)
    return files


def _draw(arguments: argparse.Namespace, out: Path, table: Table, cc: CoreClustering) -> list[str]:
    """Write all plots and return the names of their files."""
    from coreclust._inspection.path import path_to_draw
    from coreclust.cli.output import notice, save_figure
    from coreclust.plotting import (
        AlphaPathDisplay,
        ClusterSizesDisplay,
        CooccurrenceDisplay,
        CoreClusterDisplay,
        StrengthDisplay,
    )

    displays: dict[str, Callable[[], Any]] = {
        "core_clusters.png": lambda: CoreClusterDisplay.from_estimator(cc, _frame(table)),
        "cooccurrence.png": lambda: CooccurrenceDisplay.from_estimator(cc),
        "alpha_path.png": lambda: AlphaPathDisplay.from_estimator(cc, path=path_to_draw(cc)),
        "cluster_sizes.png": lambda: ClusterSizesDisplay.from_estimator(cc),
        "strength.png": lambda: StrengthDisplay.from_estimator(cc),
    }
    try:
        for name, draw in displays.items():
            save_figure(draw().figure_, out / name)
    except ImportError:
        notice(arguments, "note: no plots; they need matplotlib: pip install 'coreclust[plot]'")
        return []
    return list(displays)


def _frame(table: Table) -> Any:
    import pandas as pd

    return pd.DataFrame(table.X, columns=table.feature_names)
