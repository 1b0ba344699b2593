"""Arguments that several commands share, and how their values are read."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

# As in coreclust.algorithms, which is not imported here: --help should not wait for
# scikit-learn. A test keeps them in step.
CLUSTERERS = ("kmeans", "hclust", "tkmeans", "tclust")
CLASSIFIERS = ("rf", "svm")
SCHEMES = ("bootstrap", "all", "oob", "subsample", "smoothed")
MOST_K = 1000

_READING_EPILOG = """\
what is read:
  CSV, TSV and the like (separator, encoding and header are found out), gzip or not;
  .parquet, .npy and .h5ad. A row is an item, a column of numbers a feature. Columns of words
  are named and skipped. Columns go by their name, or by their number from 1 on.

exit codes:
  0 done   1 failed   2 wrong usage, or a file that cannot be used   130 interrupted
"""


def add_command(
    commands: Any, name: str, *, usage: str, summary: str, text: str, examples: str
) -> Any:
    """Add a command that reads a table."""
    command = commands.add_parser(
        name,
        # All options at once would bury the line that says what was wrong.
        usage=f"coreclust {name} FILE {usage} [options]",
        help=summary,
        description=text,
        epilog=f"examples:\n{examples}\n{_READING_EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("data", type=Path, metavar="FILE", help="the table")
    return command


def add_reading(command: Any) -> None:
    """Add what there is to say about the table."""
    group = command.add_argument_group("the table")
    group.add_argument("--id", metavar="COL", help="column that names the items")
    group.add_argument("--label", metavar="COL", help="column with known classes, for purity")
    group.add_argument(
        "--drop",
        metavar="COL",
        action="append",
        default=[],
        help="column to leave out; may be given again",
    )
    group.add_argument(
        "--one-hot",
        action="store_true",
        help="turn columns of words into zeros and ones, instead of skipping them",
    )
    group.add_argument(
        "--drop-missing",
        action="store_true",
        help="leave out rows with a missing or infinite value, instead of giving up",
    )
    group.add_argument(
        "--missing",
        metavar="TEXT",
        action="append",
        default=[],
        help="one more way to write a missing value, such as -99; may be given again",
    )
    group.add_argument("--scale", action="store_true", help="give every feature unit variance")
    group.add_argument(
        "--separator", type=_separator, metavar="SIGN", help="between cells, or: tab, space"
    )
    group.add_argument("--encoding", metavar="NAME", help="of a text file, such as cp1252")
    header = group.add_mutually_exclusive_group()
    header.add_argument(
        "--header", action="store_true", default=None, help="the first line names the columns"
    )
    header.add_argument(
        "--no-header", dest="header", action="store_false", help="the first line holds data"
    )


def add_sampling(
    command: Any, *, resamples: int, schemes: tuple[str, ...] = SCHEMES, auto: bool = False
) -> None:
    """Add how resamples are drawn; with `auto`, their number may be left to the resamples."""
    group = command.add_argument_group("the samples")
    group.add_argument(
        "--alpha",
        type=probability,
        default=0.1,
        help="two items of a core land together with probability 1 - alpha; default: %(default)s",
    )
    group.add_argument(
        "--resamples",
        type=whole_or_auto(1, 10**6) if auto else whole(1, 10**6),
        default=resamples,
        metavar="M",
        help="number of samples"
        + (", or auto: until the cores settle" if auto else "")
        + "; default: %(default)s",
    )
    group.add_argument(
        "--scheme",
        choices=schemes,
        default="bootstrap",
        help="how resamples are drawn: bootstrap; the same, but labeling all items or those out "
        "of bag; subsample (half the items); smoothed (a bootstrap that moves the copies); "
        "default: %(default)s",
    )
    group.add_argument(
        "--seed",
        type=whole(0, 2**32 - 1),
        default=0,
        help="same seed, same answer; default: %(default)s",
    )
    group.add_argument(
        "--jobs", type=jobs, metavar="N", help="processes or threads, -1 for one a core"
    )


def add_output(command: Any, *, folder: str) -> None:
    """Add where the answer goes."""
    group = command.add_argument_group("the answer")
    group.add_argument(
        "--out", type=Path, metavar="DIR", help=f"folder for the files; default: {folder}"
    )
    group.add_argument(
        "--json",
        action="store_true",
        help="print JSON and nothing else; files are written only if --out is given",
    )
    group.add_argument("--quiet", action="store_true", help="no notices and no progress")
    group.add_argument("--no-plots", action="store_true", help="do not draw")


def folder(text: str) -> Path:
    """Read the name of a folder that is there."""
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a folder")
    return Path(text)


def probability(text: str) -> float:
    """Read a number between 0 and 1."""
    value = _float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number between 0 and 1")
    return value


def inner_probability(text: str) -> float:
    """Read a number above 0 and below 1."""
    value = _float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0 and below 1")
    return value


def seconds(text: str) -> float:
    """Read a number of seconds."""
    value = _float(text)
    if not 0 <= value < 1e9:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds, 0 or more")
    return value


def whole(least: int, most: int) -> Callable[[str], int]:
    """Return a reader of whole numbers in a range."""

    def whole_number(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text} is not a whole number from {least} to {most}")
        return int(text)

    return whole_number


def whole_or_auto(least: int, most: int) -> Callable[[str], int | str]:
    """Return a reader of whole numbers in a range, or of the word auto."""
    number = whole(least, most)

    def whole_number_or_auto(text: str) -> int | str:
        return text if text == "auto" else number(text)

    return whole_number_or_auto


def jobs(text: str) -> int:
    """Read a number of jobs: not 0."""
    if not re.fullmatch(r"-?\d{1,4}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number other than 0")
    return int(text)


def k_range(text: str) -> list[int]:
    """Read numbers of clusters: 2..10, 2-10 or 2,3,5.

    Examples
    --------
    >>> from coreclust.cli.arguments import k_range
    >>> k_range("2..4,8")
    [2, 3, 4, 8]
    """
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
    """Read names of algorithms, separated by commas."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    known = (*CLUSTERERS, *CLASSIFIERS)
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"{name} is not one of {', '.join(known)}")
    if not names:
        raise argparse.ArgumentTypeError("it takes at least one name")
    return list(dict.fromkeys(names))


def _separator(text: str) -> str:
    sign = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}.get(text, text)
    if len(sign) != 1 or sign in '\r\n"':
        raise argparse.ArgumentTypeError(f"{text!r} is not a single sign, tab or space")
    return sign


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return -1.0
