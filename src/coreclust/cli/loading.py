"""Reads and checks the input of the commands that take a table."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np

from coreclust.algorithms import ALGORITHMS, make_algorithm
from coreclust.cli.errors import InputError
from coreclust.cli.output import notice
from coreclust.cli.reading import Table, read_table

_UNEVEN = 30.0  # ratio of standard deviations above which scaling is suggested


def load_for(arguments: argparse.Namespace, algorithms: list[str]) -> Table:
    """Read the table; raise if the algorithms need another -k, or a --label."""
    needs_k = not all(ALGORITHMS[name].is_classifier for name in algorithms)
    if needs_k and arguments.k is None:
        raise InputError(
            "-k, the number of clusters, is needed; coreclust select helps to choose it."
        )
    table = load(arguments)
    for name in algorithms:
        if ALGORITHMS[name].is_classifier and table.classes is None:
            raise InputError(
                f"{name} is a classifier and needs classes; name their column with --label."
            )
    if needs_k:
        check_k(arguments.k, len(table.X))
    return table


def load(arguments: argparse.Namespace) -> Table:
    """Read the table, scale it if requested, and print how it was interpreted."""
    table = read_table(
        arguments.data,
        id_column=arguments.id,
        drop=arguments.drop,
        label_column=arguments.label,
        one_hot_encode=arguments.one_hot,
        drop_missing=arguments.drop_missing,
        separator=arguments.separator,
        encoding=arguments.encoding,
        header=arguments.header,
        missing=arguments.missing,
    )
    if len(table.X) < 3:
        raise InputError(
            f"{arguments.data} has {len(table.X)} usable row{'s' * (len(table.X) > 1)}; "
            "at least 3 are needed."
        )
    spreads = table.X.std(axis=0)
    if not spreads.any():
        raise InputError(f"{arguments.data}: all rows are the same, so there are no clusters.")
    if arguments.scale:
        X = (table.X - table.X.mean(axis=0)) / np.where(spreads > 0, spreads, 1.0)
        table = replace(table, X=X)
    elif spreads.max() > _UNEVEN * spreads[spreads > 0].min():
        largest = table.feature_names[int(spreads.argmax())]
        table.notices.append(
            f"The features have very different scales, and {largest} dominates; --scale gives "
            "all features the same weight."
        )
    for text in table.notices:
        notice(arguments, f"note: {text}")
    return table


def reading_words(arguments: argparse.Namespace) -> list[str]:
    """Return the options about the table, for another command."""
    words: list[str] = []
    for name in ("id", "label", "separator", "encoding"):
        value = getattr(arguments, name)
        if value is not None:
            words += [f"--{name}", "tab" if value == "\t" else value]
    for name in ("drop", "missing"):
        for value in getattr(arguments, name):
            words += [f"--{name}", value]
    for name in ("one_hot", "drop_missing", "scale"):
        if getattr(arguments, name):
            words.append("--" + name.replace("_", "-"))
    if arguments.header is not None:
        words.append("--header" if arguments.header else "--no-header")
    return words


def check_k(k: int, n_items: int, most_items: int | None = None) -> None:
    """Raise if there are too few items, or too few that are used, for k clusters."""
    if k >= n_items:
        raise InputError(f"-k {k} is too many: there are {n_items} items.")
    if most_items is not None and k >= most_items:
        raise InputError(f"-k {k} is too many for --max-items {most_items}.")


def sampling_of(arguments: argparse.Namespace, algorithms: list[str]) -> dict[str, Any]:
    """Return the options about the resamples as arguments of the library."""
    return {
        "alpha": arguments.alpha,
        "n_resamples": arguments.resamples,
        "resampling": make_scheme(arguments.scheme, algorithms),
        "n_jobs": arguments.jobs,
        "random_state": arguments.seed,
        "verbose": 0 if arguments.quiet or arguments.json else 1,
    }


def make_scheme(name: str, algorithms: list[str]) -> Any:
    """Return the scheme with a name; raise if an algorithm does not support it."""
    from coreclust.resampling import Bootstrap, SmoothedBootstrap, Subsample

    unable = [one for one in algorithms if not hasattr(make_algorithm(one, 2), "predict")]
    if name in ("all", "oob") and unable:
        raise InputError(
            f"--scheme {name} labels items that were not drawn, and {unable[0]} cannot label new "
            "items; use another scheme or algorithm."
        )
    schemes = {
        "bootstrap": Bootstrap(),
        "all": Bootstrap("all"),
        "oob": Bootstrap("oob"),
        "subsample": Subsample(),
        "smoothed": SmoothedBootstrap(),
    }
    return schemes[name]
