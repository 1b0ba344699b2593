"""The command that chooses the number of clusters."""

from __future__ import annotations

import argparse
import shlex
from functools import partial
from typing import Any

from coreclust.cli import output
from coreclust.cli.arguments import CLUSTERERS, add_command, add_input, add_output, k_range, whole

_EXAMPLES = """\
  coreclust select data.csv
  coreclust select data.csv -k 2..6 --scale --drop year
  coreclust select data.csv --algorithm hclust --null permuted
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
        "selection.csv, selection.json and a plot.",
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
        help="measure of stability that decides; default: %(default)s",
    )
    select.add_argument(
        "--null",
        choices=("uniform", "permuted"),
        default="uniform",
        help="data without structure: uniform in the box of the principal components, or with "
        "every column permuted; default: %(default)s",
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
    select.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from coreclust.algorithms import make_algorithm
    from coreclust.cli.errors import InputError
    from coreclust.cli.loading import check_k, load, reading_words, sampling_of
    from coreclust.model_selection import select_n_clusters
    from coreclust.model_selection._decision import p_text
    from coreclust.plotting._selection import ClusterNumberDisplay

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
    files = output.write_results(arguments, out, "selection", answer, draw, table=rows)
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
    print(f"\nThe clusters at k are more stable than chance if p is at most {number.level:g}.")
    print(f"{number.reason}\n")
    output.print_files(arguments, files)
    if number.stable:
        algorithm = ["--algorithm", arguments.algorithm, "-k", str(number.n_clusters)]
        words = ["coreclust", "fit", str(arguments.data), *algorithm, *reading_words(arguments)]
        print(f"Next: {shlex.join(words)}")
