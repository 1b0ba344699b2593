"""The command that compares algorithms."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from coreclust._utils.text import percent
from coreclust.cli import output
from coreclust.cli.arguments import (
    CLASSIFIERS,
    CLUSTERERS,
    MOST_K,
    add_command,
    add_confidence,
    add_input,
    add_output,
    algorithms,
    whole,
)

_EXAMPLES = """\
  coreclust compare data.csv -k 3
  coreclust compare data.csv -k 3 --algorithms kmeans,hclust --label species
  coreclust compare data.csv -k 3 --json | jq '.table[].weak_fraction'
"""


def add(commands: Any) -> None:
    """Add the command."""
    compare = add_command(
        commands,
        "compare",
        usage="-k K",
        summary="compare algorithms on a table",
        text="Find the core clusters of a table with several algorithms on the same resamples:\n"
        "how much of each clustering is stable, and where they agree. Writes comparison.csv,\n"
        "agreement.csv, comparison.json and a plot.",
        examples=_EXAMPLES,
    )
    compare.add_argument(
        "--algorithms",
        type=algorithms,
        default=list(CLUSTERERS),
        metavar="NAMES",
        help=f"some of {', '.join((*CLUSTERERS, *CLASSIFIERS))}, separated by commas; default: "
        f"all except {' and '.join(CLASSIFIERS)}, which are classifiers and need --label",
    )
    compare.add_argument("-k", type=whole(1, MOST_K), metavar="K", help="number of clusters")
    add_input(compare, resamples=500)
    add_confidence(compare)
    add_output(compare)
    compare.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    import pandas as pd

    from coreclust.cli.errors import InputError
    from coreclust.cli.loading import load_for, sampling_of
    from coreclust.model_selection import compare_algorithms
    from coreclust.plotting._selection import ComparisonDisplay

    table = load_for(arguments, arguments.algorithms)
    learned = [name for name in arguments.algorithms if name in CLASSIFIERS]
    if learned and arguments.scheme != "oob":
        label = "label items that they were" if len(learned) > 1 else "labels items that it was"
        text = f"note: {' and '.join(learned)} {label} trained on, which look too stable and too"
        output.notice(arguments, f"{text} pure; see --scheme oob.")
    out = output.folder_for(arguments, output.names_of("comparison", "table", "agreement"))
    try:
        comparison = compare_algorithms(
            table.X,
            arguments.algorithms,
            n_clusters=arguments.k,
            y=table.classes,
            confidence=arguments.confidence,
            guarantee=arguments.guarantee,
            **sampling_of(arguments, arguments.algorithms),
        )
    except ValueError as error:
        raise InputError(str(error)) from error
    rows = comparison.table()
    answer = {
        "table": rows.to_dict("records"),
        "agreement": comparison.agreement,
        "core_rand": comparison.core_rand,
        "k": arguments.k,
        "resamples": arguments.resamples,
        "alpha": arguments.alpha,
        "confidence": arguments.confidence,
        "guarantee": arguments.guarantee,
        "scheme": arguments.scheme,
        "n_items": len(table.X),
        **output.made_from(arguments, table),
    }
    pairs = [
        [first, second, comparison.agreement[i, j], comparison.core_rand[i, j]]
        for i, first in enumerate(comparison.names)
        for j, second in enumerate(comparison.names)
        if i < j
    ]
    agreement = pd.DataFrame(pairs, columns=["first", "second", "agreement", "core_rand"])
    draw = partial(ComparisonDisplay.from_comparison, comparison)
    files = output.write_results(
        arguments, out, "comparison", answer, draw, table=rows, agreement=agreement
    )
    if arguments.json:
        print(output.to_json(answer))
        return
    names = {"weak_fraction": "weak", "mean_jaccard": "Jaccard", "ambiguous_pairs": "ambiguous"}
    header = [names.get(name, name).replace("_", " ") for name in rows.columns]
    output.print_table(header, rows.values.tolist())
    if len(comparison.names) > 1:
        print("\nShare of items that are core for both algorithms or for neither:\n")
        named = zip(comparison.names, comparison.agreement.tolist(), strict=True)
        output.print_table(["", *comparison.names], [[name, *row] for name, row in named])
    print(f"\n{_verdict(comparison)}\n")
    output.print_files(arguments, files)


def _verdict(comparison: Any) -> str:
    weak = [found.weak_fraction for found in comparison.measures]
    best = min(range(len(weak)), key=weak.__getitem__)
    text = f"{comparison.names[best]} leaves the fewest items weak ({percent(weak[best])})"
    smallest = min((core.n_items for core in comparison.fitted[best].cores_), default=0)
    n_items = comparison.fitted[best].labels_.size
    if smallest < 0.05 * n_items:
        return (
            f"{text}, but one of its clusters has only {smallest} of {n_items} items; check the "
            "sizes before you prefer it."
        )
    return f"{text}; a stable clustering is not necessarily a meaningful one."
