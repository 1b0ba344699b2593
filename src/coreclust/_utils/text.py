"""Formats tables, names and percentages as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

_LONGEST = 40


def text_table(
    header: Sequence[str], rows: Sequence[Sequence[Any]], *, right: Sequence[bool] | None = None
) -> str:
    """Return a table as lines of plain text.

    `right` says which columns are aligned to the right, by default those with only numbers.

    >>> print(text_table(["name", "items"], [["a", 5], ["b", 120]]))
    name  items
    a         5
    b       120
    """
    lines = [list(header), *([cell_text(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    right = numeric_columns(len(header), rows) if right is None else right
    return "\n".join(
        "  ".join(
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    )


def numeric_columns(n_columns: int, rows: Sequence[Sequence[Any]]) -> list[bool]:
    """Return for each column whether it holds only numbers."""
    return [all(_is_number(row[position]) for row in rows) for position in range(n_columns)]


def cell_text(value: Any) -> str:
    """Return a value as the text of a table cell.

    >>> cell_text(0.25), cell_text(float("nan")), cell_text([20, 30])
    ('0.250', '', '20 30')
    """
    if isinstance(value, Real) and not isinstance(value, Integral):
        return "" if value != value else f"{value:.3f}"
    if isinstance(value, (list, tuple)):
        return " ".join(str(one) for one in value)
    text = "" if value is None else str(value)
    text = _printable(text[: _LONGEST + 1])
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def shorten(value: Any, longest: int = _LONGEST) -> str:
    """Return a value as text on one line, without its middle if it is too long.

    >>> shorten("the name of item 12", 10)
    'the n…m 12'
    """
    text = str(value)
    if len(text) > longest:  # the ends of names often differ
        tail = (longest - 1) // 2
        text = text[: longest - 1 - tail] + "…" + text[len(text) - tail :]
    return _printable(text)


def one_line(value: Any) -> str:
    r"""Return a value as text on one line that cannot control a terminal.

    >>> one_line("a\tname\n in \x1b[31mred")
    'a name in [31mred'
    """
    return " ".join(_printable(str(value)).split())


def percent(share: float) -> str:
    """Return a share in percent; it is 0 or 100 only if the share is exactly 0 or 1.

    >>> percent(0.18), percent(0.001), percent(0.995), percent(1.0)
    ('18 %', 'less than 1 %', 'more than 99 %', '100 %')
    """
    if 0 < share < 0.01:
        return "less than 1 %"
    if 0.99 < share < 1:
        return "more than 99 %"
    return f"{100 * share:.0f} %"


def p_text(p: float, level: float) -> str:
    """Return a p-value, with enough digits to see on which side of the level it is.

    >>> p_text(0.0104, 0.01), p_text(0.24, 0.01), p_text(1e-5, 0.01)
    ('= 0.0104', '= 0.24', '< 0.001')
    """
    if p < 0.001 <= level:
        return "< 0.001"
    for digits in range(2, 18):
        text = f"{p:.{digits}g}"
        if (float(text) <= level) == (p <= level):
            break
    return f"= {text}"


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
