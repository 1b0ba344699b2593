"""Tables as text."""

import csv
import io

import pytest
from studies.paper.comparison import Column, Entry, Row, Table
from studies.paper.page import build_page, machine
from studies.paper.plan import TABLES, Plan
from studies.paper.render import describe, to_csv, to_markdown, to_terminal, wants_color
from studies.paper.tables import Findings, build_table

COLUMNS = (Column("weak", "w"), Column("weak_apart", "w apart", kind="beside"))
TABLE = Table(
    4,
    COLUMNS,
    (
        Row("bcw", "kmeans", "1000", (Entry(0.0251, 0.01, 0.05), Entry())),
        Row("iris", "tclust", "1000", (Entry(0.6, 0.47, 0.05), Entry(0.5, 0.47))),
        Row("yeast", "rf", "", (Entry(None, 0.04, 0.05), Entry()), ("not run: too slow",)),
    ),
)


def test_markdown_marks_what_is_out_of_tolerance():
    lines = to_markdown(TABLE).splitlines()
    assert lines[2] == "| dataset | algorithm | m | w | w apart | note |"
    assert lines[4] == "| BCW | k-means++ | 1000 | 0.025 (0.01, +0.015) |  |  |"
    assert lines[5] == (
        '| iris | tclust | 1000 | <span style="color:#b00020">🔴 **0.600 (0.47, +0.130)**</span> '
        "| 0.500 (0.47, +0.030) |  |"
    )
    assert lines[6] == "| yeast | random forest |  | not run (0.04) |  | not run: too slow |"


def test_csv_has_ours_published_difference_and_verdict():
    rows = list(csv.DictReader(io.StringIO(to_csv(TABLE))))
    assert [row["weak_within"] for row in rows] == ["yes", "no", ""]
    assert rows[1]["weak"] == "0.6"
    assert rows[1]["weak_published"] == "0.47"
    assert float(rows[1]["weak_difference"]) == pytest.approx(0.13)
    assert rows[2]["note"] == "not run: too slow"
    assert "weak_apart_within" not in rows[0]


def test_terminal():
    plain = to_terminal(TABLE)
    assert "\x1b" not in plain
    assert "0.600 (0.47, +0.130) !" in plain
    assert plain.endswith("1 of 2 rows within tolerance (! is out of it).\n")
    red = to_terminal(TABLE, color=True)
    assert red.count("\x1b[31m") == red.count("\x1b[0m") == 1
    assert red.replace("\x1b[31m", "").replace("\x1b[0m", "") == plain


def test_items_and_seconds():
    items = Column("core", "core", 0, 0)
    seconds = Column("seconds", "seconds", 2, 0, "beside", as_ratio=True)
    rows = (
        Row("iris", "rf", "10", (Entry(50, 50, 6), Entry(0.04, 6))),
        Row("iris", "svm", "10", (Entry(40, 50, 6), Entry(4.0, 6, comparable=False))),
    )
    table = Table(5, (items, seconds), rows)
    text = to_markdown(table)
    assert "| 50 (50, 0) | 0.04 (6, 150 times) |" in text
    assert "**40 (50, -10)**</span> | 4.00 (6) |" in text
    assert describe(table, rows[1]) == "core 40 (50, -10)"
    assert "seconds_ratio" in to_csv(table)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_color_only_on_a_terminal_that_wants_it(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert wants_color(Terminal())
    assert not wants_color(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_color(Terminal())


def test_page_of_nothing():
    findings = Findings(Plan(), {})
    tables = [build_table(number, findings) for number in TABLES]
    page = build_page(findings, tables, {2: "images/figure2.png"}, left_out="Left out: all.")
    assert "0 of the 0 cells that were run (42 in the paper)" in page
    assert "Left out: all." in page
    assert "](images/figure2.png)" in page
    assert "Nowhere" in page
    assert page.count("## Table") == 5


def test_machine_is_not_named():
    import platform

    assert platform.node() not in machine().split()
    assert "core" in machine()
