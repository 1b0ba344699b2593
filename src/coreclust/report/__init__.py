"""Writes the result as one HTML file that opens offline."""

from coreclust.report._page import report_html, write_report
from coreclust.report._selection import selection_html, write_selection_report

__all__ = ["report_html", "selection_html", "write_report", "write_selection_report"]
