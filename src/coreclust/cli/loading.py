"""Reads and checks the input of the commands that take a table."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coreclust.algorithms import ALGORITHMS, make_algorithm
from coreclust.cli.errors import InputError
from coreclust.cli.output import notice
from coreclust.cli.reading import Table, read_table
from coreclust.cli.reading.source import name_of
from coreclust.cli.reading.values import join_names

_LARGEST = 1e150  # its square is a number
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
    if not needs_k and arguments.k is not None:
        notice(
            arguments, f"note: -k {arguments.k} has no effect: the classes are those of --label."
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
        sheet=arguments.sheet,
        rep=arguments.rep,
    )
    name = name_of(arguments.data)
    if len(table.X) < 3:
        raise InputError(
            f"{name} has {len(table.X)} usable row{'s' * (len(table.X) > 1)}; "
            "at least 3 are needed."
        )
    constant = table.X.min(axis=0) == table.X.max(axis=0)
    if constant.all():
        raise InputError(f"{name}: all rows are the same, so there are no clusters.")
    same = [one for one, is_same in zip(table.feature_names, constant, strict=True) if is_same]
    if same:
        table.notices.append(f"Columns with one value, which have no effect: {join_names(same)}.")
    if arguments.scale:
        table = replace(table, X=_scaled(table.X, constant))
    else:
        _check_scales(name, table, constant)
    for text in table.notices:
        notice(arguments, f"note: {text}")
    return table


def _scaled(X: NDArray[np.float64], constant: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the features with mean 0 and variance 1; constant ones are 0."""
    # Powers of two change no digits, and keep the squares of extreme values finite.
    Z = np.ldexp(X, -np.frexp(np.abs(X).max(axis=0))[1])
    Z[:, constant] = 0.0
    return (Z - Z.mean(axis=0)) / np.where(constant, 1.0, Z.std(axis=0))


def _check_scales(name: str, table: Table, constant: NDArray[np.bool_]) -> None:
    """Raise if distances cannot be computed, and note features with very different scales."""
    sizes = np.abs(table.X).max(axis=0)
    if sizes.max() > _LARGEST:
        column = table.feature_names[int(sizes.argmax())]
        raise InputError(
            f"{name}: column {column} holds values up to {sizes.max():.3g}, too large to compute "
            "distances; use --scale, fix the file, or declare a code with --missing."
        )
    spreads = np.where(constant, 0.0, table.X.std(axis=0))
    if spreads.max() > _UNEVEN * spreads[~constant].min():
        largest = table.feature_names[int(spreads.argmax())]
        table.notices.append(
            f"The features have very different scales, and {largest} dominates; --scale gives "
            "all features the same weight."
        )


def reading_words(arguments: argparse.Namespace) -> list[str]:
    """Return the options about the table, for another command."""
    words: list[str] = []
    for name in ("id", "label", "separator", "encoding", "sheet", "rep"):
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
    from coreclust.resampling import Bootstrap, Reseed, SmoothedBootstrap, Subsample

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
        "reseed": Reseed(),
    }
    return schemes[name]
