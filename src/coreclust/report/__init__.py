"""The answer as a page: one HTML file that opens offline. Its libraries are imported when used."""

from coreclust.report.page import report_html, write_report

__all__ = ["report_html", "write_report"]
