"""Where answers go: tables on the terminal, files for people and files for programs."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coreclust import __version__
from coreclust._utils.files import write_whole
from coreclust.cli.errors import InputError

if TYPE_CHECKING:
    from coreclust.cli.reading import Table

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def notice(arguments: argparse.Namespace, text: str) -> None:
    """Say something in passing, on standard error."""
    if not arguments.quiet:
        print(f"coreclust: {text}", file=sys.stderr)


def say(arguments: argparse.Namespace, text: str = "") -> None:
    """Print for people: not if a program is reading."""
    if not arguments.json:
        print(text)


def folder_for(arguments: argparse.Namespace, default: str) -> Path | None:
    """Make the folder for the files before any work, or return None if none are wanted."""
    if arguments.json and arguments.out is None:
        return None
    out = Path(default) if arguments.out is None else arguments.out
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; name a folder by --out.")
    out.mkdir(parents=True, exist_ok=True)
    return Path(out)


def command_of(arguments: argparse.Namespace) -> str:
    """Return the command that gives the same answer again, seed included."""
    words = list(arguments.argv)
    if not any(word == "--seed" or word.startswith("--seed=") for word in words):
        words += ["--seed", str(arguments.seed)]
    return shlex.join(["coreclust", *words])


def made_from(arguments: argparse.Namespace, table: Table) -> dict[str, Any]:
    """Return what an answer was made from: the table, and the command to do it again."""
    return {
        "features": table.feature_names,
        "file": arguments.data,
        "dropped_rows": table.dropped,
        "notices": table.notices,
        "seed": arguments.seed,
        "command": command_of(arguments),
        "coreclust": __version__,
    }


def safe_text(value: Any) -> str:
    """Return a value as text that no spreadsheet takes for a formula.

    Examples
    --------
    >>> from coreclust.cli.output import safe_text
    >>> safe_text("=1+1"), safe_text("-2.5"), safe_text("apple")
    ("'=1+1", '-2.5', 'apple')
    """
    text = "" if value is None else str(value)
    if text.startswith(_FORMULA) and not _is_plain_number(text):
        return "'" + text
    return text


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table that people open in a spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([safe_text(name) for name in header])
    for row in rows:
        writer.writerow([safe_text(value) for value in row])
    data = text.getvalue().encode("utf-8", errors="replace")
    write_whole(path, lambda file: file.write(data))


def write_json(path: Path, content: Any) -> None:
    """Write an answer for programs."""
    write_whole(path, lambda file: file.write((to_json(content) + "\n").encode()))


def to_json(content: Any) -> str:
    """Return content as JSON; what is no number is null."""
    return json.dumps(plain(content), indent=2, allow_nan=False)


def plain(value: Any) -> Any:
    """Turn what numpy made into what JSON knows."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Path):
        return str(value)
    return value


def print_table(
    header: Sequence[str], rows: Sequence[Sequence[Any]], *, marked: int | None = None
) -> None:
    """Print a table: by rich on a terminal if it is installed, otherwise as plain text.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequences
    marked : int, default=None
        A row to make stand out.
    """
    cells = [[cell_text(value) for value in row] for row in rows]
    numeric = [all(_is_figure(row[position]) for row in rows) for position in range(len(header))]
    if sys.stdout.isatty() and _print_by_rich(header, cells, numeric, marked):
        return
    lines = [list(header), *cells]
    widths = [max(len(line[position]) for line in lines) for position in range(len(header))]
    for line in lines:
        padded = [
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, numeric, strict=True)
        ]
        print("  ".join(padded).rstrip())


def cell_text(value: Any) -> str:
    """Return a value as a cell of a table on the terminal."""
    if isinstance(value, (float, np.floating)):
        return "" if math.isnan(value) else f"{value:.3f}"
    if isinstance(value, (list, tuple)):
        return " ".join(str(one) for one in value)
    text = "" if value is None else str(value)
    text = "".join(letter if letter.isprintable() else " " for letter in text[:41])
    return text if len(text) <= 40 else text[:39] + "…"


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure of matplotlib as PNG, the same bytes every time."""
    write_whole(path, lambda file: figure.savefig(file, format="png", metadata={"Software": None}))


def _print_by_rich(
    header: Sequence[str], cells: list[list[str]], numeric: list[bool], marked: int | None
) -> bool:
    try:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        return False
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, right in zip(header, numeric, strict=True):
        table.add_column(Text(name), justify="right" if right else "left")
    for position, line in enumerate(cells):
        # As Text: a name such as [red] is a name.
        table.add_row(*map(Text, line), style="bold green" if position == marked else None)
    Console().print(table)
    return True


def _is_figure(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _is_plain_number(text: str) -> bool:
    if text.startswith(("\t", "\r")) or "_" in text:
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True
