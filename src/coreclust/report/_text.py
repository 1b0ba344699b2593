"""Text of a report."""

from __future__ import annotations


def clean(text: str) -> str:
    """Return text that UTF-8 can encode; unpaired surrogates become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
