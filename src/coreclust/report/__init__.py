"""The answer as a page: one HTML file that opens offline. Its libraries are imported when used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coreclust.report._page import report_html, write_report

__all__ = ["report_html", "write_report"]


def __getattr__(name: str) -> Any:
    # Not at once: the repr of an estimator lives here, too, and draws nothing.
    if name in __all__:
        from coreclust.report import _page as page

        return getattr(page, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
