"""Text of a report."""

from __future__ import annotations

import platform
from importlib.metadata import version

from coreclust import __version__


def versions() -> str:
    """Return the versions on which a result depends."""
    names = ("scikit-learn", "numpy", "scipy", "pandas")
    packages = ", ".join(f"{name} {version(name)}" for name in names)
    python = f"Python {platform.python_version()} on {platform.system()}"
    return f"coreclust {__version__}, {packages}, {python}"


def clean(text: str) -> str:
    """Return text that UTF-8 can encode; unpaired surrogates become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
