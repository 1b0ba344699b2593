"""Tells in reports where the data comes from, and how it was read."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from coreclust.cli import output
from coreclust.cli.reading.source import name_of

if TYPE_CHECKING:
    from coreclust.cli.reading import Table


def provenance_of(arguments: argparse.Namespace, table: Table) -> dict[str, list[str]]:
    """Return all that is needed to read the same table and to run the same command again."""
    rows = {
        "File": [name_of(arguments.data)],
        "SHA-256 of the file": [table.sha256 or output.checksum(arguments.data)],
        "Command": [output.command_of(arguments)],
        "Names of the features": [", ".join(table.feature_names)],
        "Scaled": ["yes, to unit variance" if arguments.scale else "no"],
        "Missing values": _missing(arguments, table),
        "Notices": table.notices,
    }
    return {name: lines for name, lines in rows.items() if lines}


def _missing(arguments: argparse.Namespace, table: Table) -> list[str]:
    """Return which cells counted as missing, and what became of their rows."""
    lines = []
    if arguments.missing:
        lines.append(f"Declared codes: {', '.join(arguments.missing)}.")
    n_left_out = len(table.dropped)
    if n_left_out:
        lines.append(f"{n_left_out:,} row{'s' * (n_left_out > 1)} left out.")
    return lines or ["none"]
