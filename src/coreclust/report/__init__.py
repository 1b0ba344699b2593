"""Writes the result as one HTML file that opens offline."""

from coreclust.report._page import report_html, write_report

__all__ = ["report_html", "write_report"]
