"""Tests of generated blocks on hand-written pages, and of the commands that fill them."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import studies
from studies.calibration.page import BLOCKS
from studies.command import add_common_options, run
from studies.pages import assemble, check_page, fill, update_page
from studies.paper.page import block_names
from studies.paper.plan import Plan

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = """# Title

<!-- generated: one -->
old
<!-- end -->

By hand.

<!-- generated: two: more -->
<!-- end -->
"""


def test_only_the_named_block_is_replaced():
    filled = fill(PAGE, {"one": "new\n\n| a |"})
    assert filled == PAGE.replace("\nold\n", "\n\nnew\n\n| a |\n\n")
    assert fill(filled, {"one": "new\n\n| a |"}) == filled
    assert "\n\n\\1\n\n" in fill(PAGE, {"two: more": "\\1"})  # not a group of a pattern
    assert fill(PAGE, {"three": "new"}) == PAGE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PAGE.replace("<!-- end -->", "", 1), "without an <!-- end --> line"),
        (PAGE.removesuffix("<!-- end -->\n"), "without an <!-- end --> line"),
        (PAGE.replace("one", "three"), "generated: one --> exactly once, got 0"),
        (PAGE + PAGE, "generated: one --> exactly once, got 2"),
    ],
)
def test_a_page_with_wrong_markers_is_refused(text, message, tmp_path):
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    check_page(path, ["one", "two: more"])
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        check_page(path, ["one"])


def test_pictures_are_copied_beside_the_page(tmp_path):
    (tmp_path / "docs").mkdir()
    path, picture = tmp_path / "docs" / "page.md", tmp_path / "dots.png"
    path.write_text(PAGE)
    picture.write_bytes(b"dots")
    update_page(path, {"one": "new"}, [picture])
    assert path.read_text() == fill(PAGE, {"one": "new"})
    assert (tmp_path / "docs" / "images" / "dots.png").read_bytes() == b"dots"


def test_a_bare_page_has_one_section_per_block():
    page = assemble("Title", "python -m study", {"one": "1", "two": "2"})
    assert page == "# Title\n\nWritten by `python -m study`.\n\n## One\n\n1\n\n## Two\n\n2\n"


@pytest.mark.parametrize(
    ("page", "names"), [("reproduction.md", block_names(Plan())), ("calibration.md", BLOCKS)]
)
def test_the_pages_have_all_blocks(page, names):
    path = ROOT / "docs" / page
    check_page(path, names)
    assert path.read_text().count("<!-- generated: ") == len(names)
    assert fill(path.read_text(), dict.fromkeys(names, "new")).count("\n\nnew\n\n") == len(names)


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ValueError("two\nlines"), 1, "study: error: two lines"),
        (MemoryError(), 1, "study: error: MemoryError"),
        (KeyboardInterrupt("3 of 4 are finished."), 130, "study: 3 of 4 are finished."),
        (KeyboardInterrupt(), 130, "study: Interrupted."),
    ],
)
def test_errors_are_one_line(error, code, line, capsys):
    import argparse

    def study(arguments):
        raise error

    parser = argparse.ArgumentParser(prog="study")
    add_common_options(parser, out="here")
    assert run(parser, study, []) == code
    assert capsys.readouterr().err.strip() == line
    assert run(parser, lambda arguments: [arguments.out, arguments.seed], ["--seed", "3"]) == 0
    assert capsys.readouterr().out == "here\n3\n"


@pytest.mark.parametrize(
    "name",
    [
        module.name
        for module in pkgutil.walk_packages(studies.__path__, "studies.")
        if not module.name.endswith("__main__")
    ],
)
def test_doctests(name):
    result = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert result.failed == 0
