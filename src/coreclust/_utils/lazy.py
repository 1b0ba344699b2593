"""Imports public names on first use, so that importing a package stays cheap."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as of typing, which is not imported here
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` of a package (PEP 562).

    `homes` gives the module that each public name is imported from.
    """

    def get(name: str) -> Any:
        if name in homes:
            return getattr(import_module(homes[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get, lambda: sorted(homes)
