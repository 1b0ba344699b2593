"""The command that compares algorithms."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from coreclust.cli.arguments import (
    CLASSIFIERS,
    CLUSTERERS,
    MOST_K,
    add_command,
    add_confidence,
    add_output,
    add_reading,
    add_sampling,
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
    add_reading(compare)
    add_sampling(compare, resamples=500)
    add_confidence(compare)
    add_output(compare, folder="coreclust-NAME")
    compare.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from coreclust.cli.errors import InputError
    from coreclust.cli.loading import check_classes, check_k, check_k_given, load, make_scheme, stem
    from coreclust.cli.output import (
        command_of,
        folder_for,
        made_from,
        print_table,
        save_plot,
        say,
        to_json,
        write_json,
    )
    from coreclust.model_selection import compare_algorithms
    from coreclust.plotting._selection import ComparisonDisplay

    clusters = bool(set(arguments.algorithms) & set(CLUSTERERS))
    if clusters:
        check_k_given(arguments.k)
    table = load(arguments)
    check_classes(table, arguments.algorithms)
    if clusters:
        check_k(arguments.k, len(table.X))
    out = folder_for(arguments, f"coreclust-{stem(arguments)}")
    try:
        comparison = compare_algorithms(
            table.X,
            arguments.algorithms,
            n_clusters=arguments.k,
            y=table.classes,
            alpha=arguments.alpha,
            n_resamples=arguments.resamples,
            resampling=make_scheme(arguments.scheme, arguments.algorithms),
            confidence=arguments.confidence,
            guarantee=arguments.guarantee,
            n_jobs=arguments.jobs,
            random_state=arguments.seed,
            verbose=0 if arguments.quiet or arguments.json else 1,
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
        **made_from(arguments, table),
    }
    files: dict[str, Path] = {}
    if out is not None:
        files |= _write_tables(out, comparison, rows)
        if not arguments.no_plots:
            display = ComparisonDisplay.from_comparison
            files |= save_plot(arguments, lambda: display(comparison), out / "comparison.png")
        files["Answer"] = out / "comparison.json"
        write_json(files["Answer"], answer)
    if arguments.json:
        print(to_json(answer))
        return
    names = {"weak_fraction": "weak", "mean_jaccard": "Jaccard", "ambiguous_pairs": "ambiguous"}
    header = [names.get(name, name).replace("_", " ") for name in rows.columns]
    print_table(header, rows.values.tolist())
    if len(comparison.names) > 1:
        say(arguments, "\nShare of items that are core for both algorithms or for neither:\n")
        print_table(
            ["", *comparison.names],
            [
                [name, *row]
                for name, row in zip(comparison.names, comparison.agreement.tolist(), strict=True)
            ],
        )
    say(arguments, f"\n{_verdict(comparison)}\n")
    for what, path in files.items():
        say(arguments, f"{what}: {path}")
    say(arguments, f"Repeat: {command_of(arguments)}")


def _verdict(comparison: Any) -> str:
    from coreclust._utils.text import percent

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


def _write_tables(out: Path, comparison: Any, rows: Any) -> dict[str, Path]:
    from coreclust._utils.text import cell_text
    from coreclust.cli.output import write_csv

    table, agreement = out / "comparison.csv", out / "agreement.csv"
    cells = [
        [cell_text(value) if isinstance(value, list) else value for value in row]
        for row in rows.values.tolist()
    ]
    write_csv(table, list(rows.columns), cells)
    pairs = [
        [first, second, comparison.agreement[i, j], comparison.core_rand[i, j]]
        for i, first in enumerate(comparison.names)
        for j, second in enumerate(comparison.names)
        if i < j
    ]
    write_csv(agreement, ["first", "second", "agreement", "core_rand"], pairs)
    return {"Table": table, "Agreement": agreement}
