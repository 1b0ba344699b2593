"""Tests of tables as text, and of the generated blocks."""

import csv
import io
from dataclasses import replace

import pytest

from studies.paper.comparison import Column, Entry, Row, Table
from studies.paper.page import block_names, build_blocks, machine
from studies.paper.plan import TABLES, Plan
from studies.paper.render import describe, to_csv, to_markdown, to_terminal, wants_color
from studies.paper.tables import Findings, build_table

pytestmark = pytest.mark.slow

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


def test_color_does_not_spread_to_neighbors():
    entries = (Entry(13, 20, 6), Entry(3, 1, 6))
    table = Table(2, (Column("a", "a", 0, 0), Column("b", "b", 0, 0)), ())
    rows = (Row("iris", "svm", "9", entries), Row("iris", "rf", "9", entries[::-1]))
    red = to_terminal(replace(table, rows=rows), color=True)
    assert red.count("\x1b[31m13 (20, -7) !\x1b[0m") == red.count("\x1b[31m") == 2


def test_long_notes_are_not_shortened():
    row = Row("iris", "rf", "", (Entry(None, 0.04, 0.05), Entry()), ("a long note " * 9,))
    assert "a long note " * 8 in to_terminal(replace(TABLE, rows=(row,)))


def test_blocks_of_an_empty_run():
    findings = Findings(Plan(), {})
    tables = [build_table(number, findings) for number in TABLES]
    blocks = build_blocks(findings, tables, {2: "images/figure2.png"}, left_out="Left out: all.")
    assert "0 of the 0 cells that were run (42 in the paper)" in blocks["in short"]
    assert "Left out: all." in blocks["what was run"]
    assert "](images/figure2.png)" in blocks["figure 2"]
    assert blocks["out of tolerance"] == "Everything that was run is within tolerance."
    assert list(blocks) == [name for name in block_names(Plan()) if name != "figure 1"]


def test_rows_out_of_tolerance_are_listed():
    blocks = build_blocks(Findings(Plan(), {}), [TABLE], {})
    assert blocks["out of tolerance"] == "- Table 4, iris, tclust: w 0.600 (0.47, +0.130)."
    assert "quick run" not in blocks["what was run"]
    quick = build_blocks(Findings(Plan(quick=True), {}), [TABLE], {})
    assert "This is a quick run" in quick["what was run"]


def test_a_part_of_the_paper_has_no_overview():
    assert block_names(Plan((4,), (1,))) == ["table 4", "figure 1"]
    assert list(build_blocks(Findings(Plan((4,), ()), {}), [TABLE], {})) == ["table 4"]


def test_machine_is_not_named():
    import platform

    assert platform.node() not in machine().split()
    assert "core" in machine()
