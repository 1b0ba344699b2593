"""The command that chooses the number of clusters."""

from __future__ import annotations

import argparse
import importlib.util
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coreclust.cli import output
from coreclust.cli.arguments import CLUSTERERS, add_command, add_input, add_output, k_range, whole

if TYPE_CHECKING:
    from coreclust.cli.reading import Table
    from coreclust.model_selection import ClusterNumber

_EXAMPLES = """\
  coreclust select data.csv
  coreclust select data.csv -k 2..6 --scale --drop year
  coreclust select data.csv --algorithm hclust --null permuted
  coreclust select data.csv --report selection.html
  coreclust select data.csv --json | jq .n_clusters
"""


def add(commands: Any) -> None:
    """Add the command."""
    select = add_command(
        commands,
        "select",
        usage="[-k RANGE]",
        summary="choose the number of clusters",
        text="Choose the number of clusters for which they are more stable than those of data\n"
        "without structure. The answer can be that there is no stable structure. Writes\n"
        "selection.csv, selection.json, a plot and, with --report, an HTML page.",
        examples=_EXAMPLES,
    )
    select.add_argument(
        "-k",
        type=k_range,
        default=k_range("2..10"),
        metavar="RANGE",
        help="numbers of clusters to try, such as 2..10 or 2,3,5; default: 2..10",
    )
    select.add_argument(
        "--algorithm",
        choices=CLUSTERERS,
        default="kmeans",
        help="clustering algorithm; default: %(default)s",
    )
    select.add_argument(
        "--criterion",
        choices=("weak_fraction", "mean_jaccard", "ambiguous_pairs"),
        default="weak_fraction",
        help="measure of stability that decides: the share of items in no core, the similarity of "
        "the clusters of resamples, or the share of pairs that are neither mostly together nor "
        "mostly apart; default: %(default)s",
    )
    select.add_argument(
        "--null",
        choices=("uniform", "permuted"),
        default="uniform",
        help="how data without structure is made: random items in the same range (uniform in the "
        "box of the principal components), or every column shuffled by itself; default: "
        "%(default)s",
    )
    select.add_argument(
        "--nulls",
        type=whole(3, 10_000),
        default=20,
        metavar="R",
        help="number of datasets without structure; default: %(default)s",
    )
    select.add_argument(
        "--max-items",
        type=whole(10, 10**9),
        default=1000,
        metavar="N",
        help="largest number of items to use; of more items, this many are chosen at random; "
        "default: %(default)s",
    )
    add_input(select, resamples=100)
    add_output(select)
    select.add_argument(
        "--report",
        type=Path,
        metavar="PAGE",
        help="also write an HTML page with the table, the plot and the tree of cores",
    )
    select.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from coreclust._utils.text import p_text
    from coreclust.algorithms import make_algorithm
    from coreclust.cli.errors import InputError
    from coreclust.cli.loading import check_k, load, sampling_of
    from coreclust.model_selection import select_n_clusters
    from coreclust.plotting._selection import ClusterNumberDisplay

    _check_report(arguments)
    table = load(arguments)
    check_k(max(arguments.k), len(table.X), arguments.max_items)
    out = output.folder_for(arguments, output.names_of("selection", "table"))
    try:
        number = select_n_clusters(
            partial(make_algorithm, arguments.algorithm),
            table.X,
            arguments.k,
            criterion=arguments.criterion,
            null=arguments.null,
            n_nulls=arguments.nulls,
            max_items=arguments.max_items,
            **sampling_of(arguments, [arguments.algorithm]),
        )
    except ValueError as error:
        raise InputError(str(error)) from error
    except KeyboardInterrupt:  # whose text counts the resamples of one clustering of many
        raise KeyboardInterrupt from None
    if number.n_items < number.n_items_given:
        used = f"{number.n_items} of the {number.n_items_given} items were used"
        output.notice(arguments, f"note: {used}, chosen at random (see --max-items).")
    rows = number.table()
    answer = {
        "n_clusters": number.n_clusters,
        "stable": number.stable,
        "reason": number.reason,
        "table": rows.to_dict("records"),
        "algorithm": arguments.algorithm,
        "criterion": number.criterion,
        "null": number.null,
        "nulls": arguments.nulls,
        "level": number.level,
        "scheme": arguments.scheme,
        "resamples": arguments.resamples,
        "alpha": arguments.alpha,
        "n_items": number.n_items,
        "n_items_given": number.n_items_given,
        **output.made_from(arguments, table),
    }
    draw = partial(ClusterNumberDisplay.from_selection, number)
    if arguments.report is not None:
        _write_report(arguments, table, number)
        answer["report"] = arguments.report
    files = output.write_results(arguments, out, "selection", answer, draw, table=rows)
    if arguments.report is not None:
        files["Report"] = arguments.report
    if arguments.json:
        print(output.to_json(answer))
        return
    shown = {
        "k": "k",
        "weak_fraction": "weak",
        "null_weak_fraction": "(null)",
        "mean_jaccard": "Jaccard",
        "null_mean_jaccard": "(null)",
        "ambiguous_pairs": "ambiguous",
        "null_ambiguous_pairs": "(null)",
        "p_value": "p",
    }
    marked = None if not number.stable else int(rows["recommended"].argmax())
    cells = [list(row) for row in zip(*(rows[name].tolist() for name in shown), strict=True)]
    for position, row in enumerate(cells):
        row[-1] = p_text(row[-1], number.level).removeprefix("= ")
        row.append("<- recommended" if position == marked else "")
    output.print_table([*shown.values(), ""], cells, marked=marked)
    print("\nweak: share of items in no core; (null): the same for data without structure.")
    print(f"The clusters at k are more stable than chance if p is at most {number.level:g}.")
    print(f"{number.reason}\n")
    output.print_files(arguments, files)
    if number.stable:
        output.print_line(f"Next: {_next_step(arguments, number)}")


def _next_step(arguments: argparse.Namespace, number: ClusterNumber) -> str:
    """Return the command that fits the recommended number of clusters."""
    from coreclust.cli.loading import reading_words

    algorithm = ["--algorithm", arguments.algorithm, "-k", str(number.n_clusters)]
    file = str(arguments.data)
    if file.startswith("-") and file != "-":  # which would be an option
        file = f"./{file}"
    words = ["coreclust", "fit", file, *algorithm, *reading_words(arguments)]
    return shlex.join(words)


def _check_report(arguments: argparse.Namespace) -> None:
    """Raise if the report cannot be written, before any work."""
    from coreclust.cli.errors import InputError

    path = arguments.report
    if path is None:
        return
    if any(importlib.util.find_spec(name) is None for name in ("jinja2", "matplotlib")):
        raise ImportError(
            "--report needs more packages; install them with: pip install 'coreclust[report]'"
        )
    if path.is_dir():
        raise InputError(f"--report {path} is a folder; name a file, such as selection.html.")
    if path.resolve() == arguments.data.resolve():
        raise InputError(f"--report {path} is the table itself; name another file.")
    output.make_folder(path.parent, [], option="--report")


def _write_report(arguments: argparse.Namespace, table: Table, number: ClusterNumber) -> None:
    from coreclust.cli.provenance import provenance_of
    from coreclust.cli.reading.source import name_of
    from coreclust.report import write_selection_report

    given = provenance_of(arguments, table)
    made = [
        *((name, line) for name, lines in given.items() for line in lines),
        ("Algorithm", arguments.algorithm),
        ("Resampling", arguments.scheme),
        ("Resamples", f"{arguments.resamples:,}"),
        ("Alpha", f"{arguments.alpha:g}"),
        ("Seed", str(arguments.seed)),
    ]
    write_selection_report(
        number,
        arguments.report,
        title=f"Number of clusters: {name_of(arguments.data)}",
        made=made,
        next_step=_next_step(arguments, number) if number.stable else None,
    )
