"""Fills the generated blocks of hand-written pages.

A block stands between the lines ``<!-- generated: NAME -->`` and ``<!-- end -->``. A study
replaces what is between them; the rest of the page is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from coreclust._utils.files import write_bytes

_START = re.compile(r"^<!-- generated: (.+) -->$", flags=re.MULTILINE)
_BLOCK = re.compile(
    r"^<!-- generated: (?P<name>[^\n]+) -->$.*?^<!-- end -->$", flags=re.DOTALL | re.MULTILINE
)


def assemble(title: str, command: str, blocks: Mapping[str, str]) -> str:
    """Return a bare page with one section per block."""
    sections = [f"## {name[0].upper()}{name[1:]}\n\n{text}" for name, text in blocks.items()]
    return "\n\n".join([f"# {title}", f"Written by `{command}`.", *sections]) + "\n"


def fill(text: str, blocks: Mapping[str, str]) -> str:
    r"""Return a page with the given blocks replaced and everything else as it is.

    Examples
    --------
    >>> from studies.pages import fill
    >>> fill("Hello.\n<!-- generated: sum -->\nold\n<!-- end -->\n", {"sum": "new"})
    'Hello.\n<!-- generated: sum -->\n\nnew\n\n<!-- end -->\n'
    """

    def replaced(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in blocks:
            return match[0]
        return f"<!-- generated: {name} -->\n\n{blocks[name]}\n\n<!-- end -->"

    return _BLOCK.sub(replaced, text)


def check_page(path: Path, names: Iterable[str]) -> None:
    """Raise ValueError unless the page has each named block exactly once."""
    text = path.read_text()
    found = _START.findall(text)
    if found != [match["name"] for match in _BLOCK.finditer(text)]:
        raise ValueError(f"{path} has a generated block without an <!-- end --> line; add it.")
    wrong = [name for name in names if found.count(name) != 1]
    if wrong:
        raise ValueError(
            f"{path} must have the line <!-- generated: {wrong[0]} --> exactly once, "
            f"got {found.count(wrong[0])}."
        )


def update_page(path: Path, blocks: Mapping[str, str], pictures: Iterable[Path]) -> None:
    """Replace the blocks of a page, and the pictures in the folder ``images`` beside it."""
    write_bytes(path, fill(path.read_text(), blocks).encode())
    for picture in pictures:
        (path.parent / "images").mkdir(exist_ok=True)
        write_bytes(path.parent / "images" / picture.name, picture.read_bytes())
