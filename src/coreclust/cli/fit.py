"""The command that finds the core clusters of a table."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coreclust._utils.constants import NOISE_RULES
from coreclust._utils.text import one_line
from coreclust.cli import output
from coreclust.cli.arguments import (
    CLASSIFIERS,
    CLUSTERERS,
    MOST_K,
    add_command,
    add_confidence,
    add_input,
    add_output,
    seconds,
    whole,
)

if TYPE_CHECKING:
    from coreclust import CoreClustering
    from coreclust._inspection.audit import Audit
    from coreclust.cli.reading import Table

_EXAMPLES = """\
  coreclust fit data.csv -k 3
  coreclust fit data.csv -k 3 --id name --label species --scale --report
  coreclust fit data.csv --algorithm hclust -k 4 --alpha 0.05 --confidence 0.95
  coreclust fit data.csv -k 3 --audit
  coreclust fit cells.h5ad -k 8 --json | jq .weak_fraction
"""
_FILES = (
    "core_clusters.csv",
    "report.html",
    "core_clusters.png",
    "cooccurrence.png",
    "alpha_path.png",
    "cluster_sizes.png",
    "strength.png",
    "summary.json",
)


def add(commands: Any) -> None:
    """Add the command."""
    fit = add_command(
        commands,
        "fit",
        usage="-k K",
        summary="find the core clusters of a table",
        text="Cluster a table, cluster it again a thousand times with other random rows, and find\n"
        "the core of every cluster: the largest set of items of which every two stay together\n"
        "in nearly all of these resamples. Writes core_clusters.csv (one row per item),\n"
        "summary.json, plots and, with --report, an HTML report.",
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
    add_input(fit, resamples=1000, auto=True)
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
        help="whether two items that a resample leaves in no cluster count as apart, as together, "
        "or not at all (absent); default: %(default)s",
    )
    rules.add_argument(
        "--time-limit",
        type=seconds,
        default="auto",
        metavar="S",
        help="time limit of the search for the cores, in seconds; default: 30, or as long as "
        "resampling took",
    )
    rules.add_argument(
        "--audit",
        action="store_true",
        help="also predict which share of the core pairs would hold on new data; takes 20 times as "
        "long",
    )
    add_output(fit)
    fit.add_argument("--report", action="store_true", help="also write report.html")
    fit.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from coreclust.cli.loading import load_for
    from coreclust.cli.purity import purity_text
    from coreclust.cli.reading.source import name_of

    needed = ("jinja2", "matplotlib", "vl_convert")
    if arguments.report and any(importlib.util.find_spec(name) is None for name in needed):
        raise ImportError(
            "--report needs more packages; install them with: pip install 'coreclust[report]'"
        )
    _choose_scheme(arguments)
    table = load_for(arguments, [arguments.algorithm])
    out = output.folder_for(arguments, _FILES)
    cc = _fit(arguments, table)
    summary = _summary(arguments, table, cc)
    audit = cc.audit(*_data(arguments, table)) if arguments.audit else None
    if audit is not None:
        summary["audit"] = _audit_answer(audit)
    if out is not None:
        summary["files"] = _write(arguments, out, table, cc, audit)
        output.write_json(out / "summary.json", summary)
    elif arguments.report:
        text = "note: no report is written, because --json without --out writes no files."
        output.notice(arguments, text)
    if arguments.json or out is None:
        print(output.to_json({**summary, "items": _items(table, cc)}))
        return
    n_items, n_features = table.X.shape
    plural = "s" * (n_features > 1)
    name = one_line(name_of(arguments.data))
    print(f"{name}: {n_items} items, {n_features} feature{plural}\n")
    output.print_summary(cc)
    print(f"\n{summary['verdict']}")
    if arguments.audit:
        print(f"\n{' '.join(summary['audit']['sentences'])}")
    if "purity" in summary:
        print(purity_text(summary))
    print()
    output.print_line(f"All items, core or weak: {out / 'core_clusters.csv'}")
    if arguments.report:
        output.print_line(f"Report: {out / 'report.html'}")
    output.print_line(f"Files in {out}: {', '.join([*summary['files'], 'summary.json'])}")
    output.print_line(f"Repeat: {output.command_of(arguments)}")


def _choose_scheme(arguments: argparse.Namespace) -> None:
    """Let classifiers label items out of bag by default, because they memorize the others."""
    if arguments.algorithm not in CLASSIFIERS:
        arguments.scheme = arguments.scheme or "bootstrap"
        return
    if arguments.scheme is None:
        text = f"note: {arguments.algorithm} labels the items that were not drawn (--scheme oob)."
        output.notice(arguments, text)
    arguments.scheme = arguments.scheme or "oob"


def _fit(arguments: argparse.Namespace, table: Table) -> CoreClustering:
    from coreclust import CoreClustering
    from coreclust.algorithms import make_algorithm
    from coreclust.cli.errors import InputError
    from coreclust.cli.loading import sampling_of

    cc = CoreClustering(
        make_algorithm(arguments.algorithm, arguments.k or 0),
        confidence=arguments.confidence,
        guarantee=arguments.guarantee,
        noise=arguments.noise,
        time_limit=arguments.time_limit,
        checkpoint=arguments.checkpoint,
        **sampling_of(arguments, [arguments.algorithm]),
    )
    try:
        return cc.fit(*_data(arguments, table))
    except ValueError as error:
        raise InputError(str(error)) from error


def _data(arguments: argparse.Namespace, table: Table) -> tuple[Any, Any]:
    """Return X and y."""
    # The smoothed bootstrap draws new items, which needs an array and not a frame.
    X = table.X if arguments.scheme == "smoothed" else _frame(table)
    return X, table.classes if arguments.algorithm in CLASSIFIERS else None


def _audit_answer(audit: Audit) -> dict[str, Any]:
    """Return the prediction for new data, ready for JSON."""
    return {
        "share": audit.share,
        "standard_error": audit.standard_error,
        "target": audit.target,
        "suggested_alpha": audit.suggested_alpha,
        "clusters": audit.clusters.to_dict("records"),
        "alphas": audit.alphas.to_dict("records"),
        "sentences": audit.sentences,
    }


def _summary(arguments: argparse.Namespace, table: Table, cc: CoreClustering) -> dict[str, Any]:
    from coreclust._inspection.verdict import verdict
    from coreclust.cli.purity import purity_of
    from coreclust.metrics import weak_fraction

    diagnosis = cc.diagnose(table.X)
    summary: dict[str, Any] = {
        "verdict": verdict(cc, diagnosis),
        "weak_fraction": weak_fraction(cc.labels_),
        "clusters": cc.summary().to_dict("records"),
        "pairs": diagnosis.pairs.to_dict("records"),
        "groups": diagnosis.groups.to_dict("records"),
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
        **output.made_from(arguments, table),
    }
    if table.classes is not None:
        summary["purity"] = purity_of(cc, table.classes, arguments.scheme)
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


def _write(
    arguments: argparse.Namespace, out: Path, table: Table, cc: CoreClustering, audit: Audit | None
) -> list[str]:
    """Write the table of items, the report and the plots, and return the names of the files."""
    from coreclust import plotting
    from coreclust._inspection.path import path_to_draw
    from coreclust.cli.provenance import provenance_of
    from coreclust.cli.reading.source import name_of

    output.remove_old(out, _FILES, "summary.json")
    columns = _items(table, cc)
    columns["core"] = ["yes" if core else "no" for core in columns["core"]]
    output.write_csv(out / "core_clusters.csv", list(columns), zip(*columns.values(), strict=True))
    files = ["core_clusters.csv"]
    if arguments.report:
        cc.to_html(
            out / "report.html",
            X=_frame(table),
            ids=table.ids,
            title=f"Core clusters: {name_of(arguments.data)}",
            classes=table.classes,
            provenance=provenance_of(arguments, table),
            audit=audit,
        )
        files.append("report.html")
    displays = {
        "core_clusters.png": lambda: plotting.CoreClusterDisplay.from_estimator(cc, _frame(table)),
        "cooccurrence.png": lambda: plotting.CooccurrenceDisplay.from_estimator(cc),
        "alpha_path.png": lambda: plotting.AlphaPathDisplay.from_estimator(
            cc, path=path_to_draw(cc)
        ),
        "cluster_sizes.png": lambda: plotting.ClusterSizesDisplay.from_estimator(cc),
        "strength.png": lambda: plotting.StrengthDisplay.from_estimator(cc),
    }
    return [*files, *output.save_plots(arguments, out, displays)]


def _frame(table: Table) -> Any:
    import pandas as pd

    return pd.DataFrame(table.X, columns=table.feature_names)
