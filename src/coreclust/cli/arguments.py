"""Arguments that several commands share, and the functions that parse their values."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from coreclust.algorithms import ALGORITHMS
from coreclust.evidence._guarantees import GUARANTEES

CLUSTERERS = tuple(name for name, one in ALGORITHMS.items() if not one.is_classifier)
CLASSIFIERS = tuple(name for name, one in ALGORITHMS.items() if one.is_classifier)
SCHEMES = ("bootstrap", "all", "oob", "subsample", "smoothed", "reseed")
MOST_K = 1000

_READING_EPILOG = """\
words:
  item       a row of the table
  resample   a table drawn at random from the rows, which is clustered again
  core       the largest part of a cluster in which any two items stay together in nearly all
             resamples
  weak       in a cluster, but not in its core

algorithms:
  kmeans     k-means
  hclust     hierarchical clustering
  tkmeans    k-means that leaves out 5 % of the items
  tclust     Gaussian clusters, which also leave out 5 % of the items
  rf, svm    a random forest and a support vector machine, which learn the classes of --label

input files:
  CSV, TSV and other delimited text, also compressed by gzip, bzip2, xz or zip (the separator,
  encoding and header are detected); .xlsx, .parquet, .npy and .h5ad; - is standard input.
  Each row is an item and each column of numbers a feature. Columns of words are listed and
  skipped. COL is the name of a column, or its number, counted from 1.

exit codes:
  0 done   1 failed   2 wrong usage or unusable file   130 interrupted
"""


def add_command(
    commands: Any, name: str, *, usage: str, summary: str, text: str, examples: str
) -> Any:
    """Add a command that reads a table."""
    command = commands.add_parser(
        name,
        # A list of all options would hide the line that says what is wrong.
        usage=f"coreclust {name} FILE {usage} [options]",
        help=summary,
        description=text,
        epilog=f"examples:\n{examples}\n{_READING_EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("data", type=Path, metavar="FILE", help="the table")
    return command


def add_input(command: Any, *, resamples: int, auto: bool = False) -> None:
    """Add the options about the table and the resamples; `auto` allows ``--resamples auto``."""
    _add_reading(command)
    _add_sampling(command, resamples, auto)


def _add_reading(command: Any) -> None:
    """Add the options about the table."""
    group = command.add_argument_group("the table")
    add = group.add_argument
    several = {"action": "append", "default": []}
    add("--id", metavar="COL", help="column with the names of the items")
    add(
        "--label",
        metavar="COL",
        help="column with known classes, to compare the clusters with; it is not clustered",
    )
    add("--drop", metavar="COL", **several, help="column to leave out; can be repeated")
    add(
        "--one-hot",
        action="store_true",
        help="turn columns of words into zeros and ones instead of skipping them",
    )
    add(
        "--drop-missing",
        action="store_true",
        help="leave out rows with a missing or infinite value instead of stopping",
    )
    add(
        "--missing",
        metavar="TEXT",
        **several,
        help="another code for a missing value, such as -99; can be repeated",
    )
    add(
        "--scale",
        action="store_true",
        help="scale every feature to unit variance, so that none dominates",
    )
    add("--separator", type=_separator, metavar="SIGN", help="sign between cells, or tab or space")
    add("--encoding", metavar="NAME", help="encoding of a text file, such as cp1252")
    add("--sheet", metavar="NAME", help="sheet of an .xlsx file; default: the first one")
    add(
        "--rep",
        metavar="NAME",
        help="part of an .h5ad file to cluster: X or a key of obsm; default: X_pca if it is there",
    )
    header = group.add_mutually_exclusive_group()
    header.add_argument(
        "--header", action="store_true", default=None, help="the first line names the columns"
    )
    header.add_argument(
        "--no-header", dest="header", action="store_false", help="the first line holds data"
    )


def _add_sampling(command: Any, resamples: int, auto: bool) -> None:
    """Add the options about the resamples."""
    add = command.add_argument_group("the resamples").add_argument
    add(
        "--alpha",
        type=probability,
        default=0.1,
        help="two items of a core are clustered together with a probability of at least 1 - alpha; "
        "default: %(default)s",
    )
    add(
        "--resamples",
        type=whole(1, 10**6, auto=auto),
        default=resamples,
        metavar="M",
        help="number of resamples"
        + (", or auto: draw until the cores are settled" if auto else "")
        + "; default: %(default)s",
    )
    add(
        "--scheme",
        choices=SCHEMES,
        default=None if auto else "bootstrap",
        help="how resamples are drawn: bootstrap; all and oob (a bootstrap that labels all items, "
        "or those out of bag); subsample (half of the items); smoothed (a bootstrap that adds "
        "noise to the copies); reseed (all items, with other seeds); default: bootstrap"
        + (", oob for classifiers" if auto else ""),
    )
    add(
        "--seed",
        type=whole(0, 2**32 - 1),
        default=0,
        help="seed of the random numbers; default: %(default)s",
    )
    add("--jobs", type=jobs, metavar="N", help="processes or threads; -1: one per processor core")


def add_confidence(group: Any) -> None:
    """Add the options about the confidence in the cores."""
    add = group.add_argument
    add(
        "--confidence",
        type=inner_probability,
        metavar="P",
        help="confidence, such as 0.95, that the pairs of a core reach 1 - alpha in spite of the "
        "limited number of resamples; default: the estimates are taken as they are",
    )
    add(
        "--guarantee",
        choices=tuple(GUARANTEES),
        default=next(iter(GUARANTEES)),
        help="what the confidence is about: all pairs at once, each pair by itself, or also new "
        "data (takes 6 times as long); default: %(default)s",
    )


def add_output(command: Any) -> None:
    """Add the options about the output."""
    add = command.add_argument_group("the output").add_argument
    add("--out", type=Path, metavar="DIR", help="folder for the files; default: coreclust-NAME")
    add(
        "--json",
        action="store_true",
        help="print only JSON, and write files only if --out is given",
    )
    add("--quiet", action="store_true", help="print no notices and no progress")
    add("--no-plots", action="store_true", help="write no plots")


def probability(text: str) -> float:
    """Parse a number between 0 and 1."""
    return _number(text, "a number between 0 and 1", lambda value: 0 <= value <= 1)


def inner_probability(text: str) -> float:
    """Parse a number above 0 and below 1."""
    return _number(text, "a number above 0 and below 1", lambda value: 0 < value < 1)


def seconds(text: str) -> float | str:
    """Parse a number of seconds, or "auto"."""
    if text == "auto":
        return text
    return _number(text, "a number of seconds, 0 or more", lambda value: 0 <= value < 1e9)


def whole(least: int, most: int, *, auto: bool = False) -> Callable[[str], int | str]:
    """Return a parser of whole numbers in a range and, with `auto`, of the word auto."""

    def whole_number(text: str) -> int | str:
        if auto and text == "auto":
            return text
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text} is not a whole number from {least} to {most}")
        return int(text)

    return whole_number


def jobs(text: str) -> int:
    """Parse a number of jobs, which is not 0."""
    if not re.fullmatch(r"-?\d{1,4}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number other than 0")
    return int(text)


def k_range(text: str) -> list[int]:
    """Parse numbers of clusters: 2..10, 2-10 or 2,3,5."""
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,4})\s*(?:(?:\.\.\.?|-|:)\s*(\d{1,4})\s*)?", part)
        first, last = (0, 0) if match is None else (int(match[1]), int(match[2] or match[1]))
        if not 2 <= first <= last <= MOST_K:
            raise argparse.ArgumentTypeError(
                f"{text} is not a range of numbers from 2 to {MOST_K}, such as 2..10 or 2,3,5"
            )
        found.update(range(first, last + 1))
    return sorted(found)


def algorithms(text: str) -> list[str]:
    """Parse names of algorithms, separated by commas."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    for name in names:
        if name not in ALGORITHMS:
            raise argparse.ArgumentTypeError(f"{name} is not one of {', '.join(ALGORITHMS)}")
    if not names:
        raise argparse.ArgumentTypeError("at least one name is needed")
    return list(dict.fromkeys(names))


def _separator(text: str) -> str:
    sign = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}.get(text, text)
    if len(sign) != 1 or sign in '\r\n"':
        raise argparse.ArgumentTypeError(f"{text!r} is not a single sign, tab or space")
    return sign


def _number(text: str, what: str, fits: Callable[[float], bool]) -> float:
    with suppress(ValueError):
        if fits(float(text)):
            return float(text)
    raise argparse.ArgumentTypeError(f"{text} is not {what}")
