"""Output of the commands: tables on the terminal, CSV, JSON and figures.

Files are written whole or not at all, so that an interrupted run leaves no half-written file.
"""

from __future__ import annotations

import argparse
import math
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coreclust import __version__
from coreclust._utils.files import write_bytes, write_whole
from coreclust._utils.text import cell_text, numeric_columns, one_line, printable, text_table
from coreclust.cli.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from coreclust import CoreClustering
    from coreclust.cli.reading import Table

Rows = Sequence[Sequence[Any]]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def notice(arguments: argparse.Namespace, text: str) -> None:
    """Print a notice on standard error, unless --quiet."""
    if not arguments.quiet:
        print(f"coreclust: {one_line(text)}", file=sys.stderr)


def print_line(text: str) -> None:
    """Print a line about files, whose names may hold characters that control a terminal."""
    print(printable(text))


def folder_for(arguments: argparse.Namespace, names: Iterable[str]) -> Path | None:
    """Create the folder for files with these names before any work; None if none are wanted."""
    from coreclust.cli.reading.source import is_stream

    if arguments.json and arguments.out is None:
        return None
    name = "stdin" if is_stream(arguments.data) else arguments.data.name.split(".")[0]
    out = Path(arguments.out or f"coreclust-{name or 'data'}")
    if not out.exists():
        arguments.new_folder = out
    make_folder(out, names)
    return out


def remove_new_folder(arguments: argparse.Namespace) -> None:
    """Remove the folder that this run has created, if nothing was written to it."""
    folder = getattr(arguments, "new_folder", None)
    if folder is not None:
        with suppress(OSError):  # it has files
            folder.rmdir()


def make_folder(out: Path, names: Iterable[str], *, option: str = "--out") -> None:
    """Create a folder, and raise if files with these names cannot be written to it."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; name a folder with {option}.")
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=out):
            pass
    except OSError as error:
        raise InputError(
            f"{out} cannot be written to ({error.strerror or error}); name another folder with "
            f"{option}."
        ) from error
    for name in names:
        if (out / name).is_dir():
            raise InputError(f"{out / name} is a folder; name another folder with {option}.")


def remove_old(out: Path, names: Iterable[str], answer: str) -> None:
    """Remove the files with these names of an earlier run, which its answer lists."""
    import json

    try:
        earlier = json.loads((out / answer).read_bytes())
        made = {*earlier["files"], answer} if "coreclust" in earlier else set()
    except (OSError, ValueError, KeyError, TypeError):
        return  # there was no run before, or not one of this program
    for name in names:
        if name in made:
            (out / name).unlink(missing_ok=True)


def command_of(arguments: argparse.Namespace) -> str:
    """Return the command that repeats the run, seed included."""
    words = list(arguments.argv)
    if not any(word == "--seed" or word.startswith("--seed=") for word in words):
        end = words.index("--") if "--" in words else len(words)  # of the options
        words[end:end] = ["--seed", str(arguments.seed)]
    return shlex.join(["coreclust", *words])


def made_from(arguments: argparse.Namespace, table: Table) -> dict[str, Any]:
    """Return where an answer comes from: the table, and the command that repeats the run."""
    return {
        "features": table.feature_names,
        "file": arguments.data,
        "dropped_rows": table.dropped,
        "notices": table.notices,
        "seed": arguments.seed,
        "command": command_of(arguments),
        "coreclust": __version__,
    }


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    import hashlib

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def safe_text(value: Any) -> str:
    """Return a value as text that no spreadsheet interprets as a formula."""
    if isinstance(value, list):
        value = " ".join(map(str, value))
    text = "" if value is None else str(value)
    if text.startswith(_FORMULA) and not _is_plain_number(text):
        return "'" + text
    return text


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table as CSV that is safe to open in a spreadsheet."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([safe_text(name) for name in header])
    for row in rows:
        writer.writerow([safe_text(value) for value in row])
    write_bytes(path, text.getvalue().encode("utf-8", errors="replace"))


def write_json(path: Path, content: Any) -> None:
    """Write an answer as JSON."""
    write_bytes(path, (to_json(content) + "\n").encode())


def to_json(content: Any) -> str:
    """Return content as JSON; NaN and infinity become null."""
    import json

    return json.dumps(plain(content), indent=2, allow_nan=False)


def plain(value: Any) -> Any:
    """Turn objects of numpy and pathlib into those that JSON knows."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):  # an array or a scalar of numpy, which is not imported here
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Path):
        return str(value)
    return value


def print_table(header: Sequence[str], rows: Rows, *, marked: int | None = None) -> None:
    """Print a table as text, or with rich on a terminal if it is installed; highlight a row."""
    if not (sys.stdout.isatty() and _print_by_rich(header, rows, marked)):
        print(text_table(header, rows))


def print_summary(fitted: CoreClustering) -> None:
    """Print the table of clusters."""
    rows = fitted.summary()
    header = [name.removeprefix("n_").replace("_", " ") for name in rows.columns]
    print_table(header, rows.values.tolist())


def save_plots(
    arguments: argparse.Namespace, out: Path, displays: dict[str, Callable[[], Any]]
) -> list[str]:
    """Draw displays to files, unless --no-plots, and return the names of the files."""
    if arguments.no_plots:
        return []
    try:
        for name, draw in displays.items():
            save_figure(draw().figure_, out / name)
    except ImportError:
        what = "no plot; it needs" if len(displays) == 1 else "no plots; they need"
        notice(arguments, f"note: {what} matplotlib: pip install 'coreclust[plot]'")
        return []
    return list(displays)


def write_results(
    arguments: argparse.Namespace,
    out: Path | None,
    name: str,
    answer: dict[str, Any],
    draw: Callable[[], Any],
    **tables: pd.DataFrame,
) -> dict[str, Path]:
    """Write tables, a plot and an answer as files with a name, and return the files."""
    files: dict[str, Path] = {}
    if out is None:
        return files
    remove_old(out, names_of(name, *tables), f"{name}.json")
    for what, table in tables.items():
        files[what.capitalize()] = out / _csv_name(name, what)
        write_csv(files[what.capitalize()], list(table.columns), table.values.tolist())
    if save_plots(arguments, out, {f"{name}.png": draw}):
        files["Plot"] = out / f"{name}.png"
    answer["files"] = [path.name for path in files.values()]
    files["Answer"] = out / f"{name}.json"
    write_json(files["Answer"], answer)
    return files


def names_of(name: str, *tables: str) -> list[str]:
    """Return the names of the files that `write_results` may write."""
    return [*(_csv_name(name, what) for what in tables), f"{name}.png", f"{name}.json"]


def _csv_name(name: str, table: str) -> str:
    return f"{name if table == 'table' else table}.csv"


def print_files(arguments: argparse.Namespace, files: dict[str, Path]) -> None:
    """Print the files of a run and the command that repeats it."""
    for what, path in files.items():
        print_line(f"{what}: {path}")
    print_line(f"Repeat: {command_of(arguments)}")


def save_figure(figure: Any, path: Path) -> None:
    """Write a matplotlib figure as PNG, with the same bytes every time."""
    write_whole(path, lambda file: figure.savefig(file, format="png", metadata={"Software": None}))


def _print_by_rich(header: Sequence[str], rows: Rows, marked: int | None) -> bool:
    try:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        return False
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, right in zip(header, numeric_columns(len(header), rows), strict=True):
        table.add_column(Text(name), justify="right" if right else "left")
    for position, row in enumerate(rows):
        # As Text, so that [red] in a name is not markup.
        cells = [Text(cell_text(value)) for value in row]
        table.add_row(*cells, style="bold green" if position == marked else None)
    Console().print(table)
    return True


def _is_plain_number(text: str) -> bool:
    if text.startswith(("\t", "\r")) or "_" in text:
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True
