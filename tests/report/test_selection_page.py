"""The page of a selection of the number of clusters."""

import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import load_iris

from coreclust.model_selection import select_n_clusters
from coreclust.report import _selection, selection_html, write_selection_report

HOSTILE = "</script><script>window.hacked = 1</script>\x1b[31m"


@pytest.fixture(scope="module")
def number():
    """Three groups of 50 items, two of which are one cluster at k = 2."""
    X = np.random.default_rng(0).normal(size=(150, 2))
    X += np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 12.0]], 50, axis=0)
    return select_n_clusters(None, X, [2, 3, 4], n_nulls=3, n_resamples=60, random_state=0)


class Page(HTMLParser):
    """The elements, attributes and text of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_data(self, data):
        self.text.append(data)

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


def rows_of(html, table):
    """Return the cells of a table of the page."""
    body = re.search(rf'<table id="{table}">.*?<tbody>(.*?)</tbody>', html, re.DOTALL)[1]
    return [
        [re.sub(r"<.*?>", "", cell) for cell in re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row)]
        for row in re.findall(r"<tr.*?>.*?</tr>", body, re.DOTALL)
    ]


def test_the_page_has_the_reason_and_the_measures(number):
    html = selection_html(number)
    assert number.reason in Page(html).words
    table = number.table()
    rows = rows_of(html, "selection")
    assert [row[0] for row in rows] == ["2", "3", "4"]
    assert [row[1] for row in rows] == [f"{share:.3f}" for share in table["weak_fraction"]]
    assert [row[2] for row in rows] == [f"{share:.3f}" for share in table["null_weak_fraction"]]
    chosen = [row[0] for row in rows if row[-1] == "recommended"]
    assert chosen == ["3"]


def test_the_tree_has_a_box_per_core_and_a_band_per_edge(number):
    html = selection_html(number)
    drawn = re.search(r'<svg class="tree".*?</svg>', html, re.DOTALL)[0]
    tree = number.tree()
    assert drawn.count("<rect ") == len(tree.nodes)
    assert drawn.count("<path ") == len(tree.edges)
    for node in tree.nodes.to_dict("records"):
        what = "items in no core" if node["cluster"] < 0 else f"core {node['cluster']}"
        items = f"{node['n_items']} item{'s' * (node['n_items'] != 1)}"
        strength = "" if np.isnan(node["strength"]) else f", mean strength {node['strength']:.2f}"
        assert f"<title>{what} at k = {node['level']}: {items}{strength}</title>" in drawn
    assert "From 2 to 3, core " in html
    for sentence in tree.sentences():
        assert f"<li>{sentence}</li>" in html
    bands = rows_of(html, "edges")
    in_cores = (tree.edges["from_cluster"] >= 0) | (tree.edges["to_cluster"] >= 0)
    assert [int(row[4]) for row in bands] == tree.edges.loc[in_cores, "n_items"].tolist()


@pytest.fixture(scope="module")
def uneven():
    """A selection from k = 2 to k = 12; at the larger k nearly all items are weak."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) + np.repeat([[0.0, 0.0], [9.0, 0.0]], 100, axis=0)
    return select_n_clusters(None, X, range(2, 13), n_nulls=3, n_resamples=40, random_state=0)


def test_each_core_has_its_number_in_the_tree(uneven):
    drawn = re.search(r'<svg class="tree".*?</svg>', selection_html(uneven), re.DOTALL)[0]
    numbers = re.findall(r'<text class="(inside|beside).*?>(\d+)</text>', drawn)
    nodes = uneven.tree().nodes
    cores = nodes[nodes["cluster"] >= 0]
    assert sorted(number for _, number in numbers) == sorted(map(str, cores["cluster"]))
    assert {where for where, _ in numbers} == {"inside", "beside"}


@pytest.mark.slow
@pytest.mark.parametrize("media", ["screen", "print"])
def test_the_tree_fits_the_page_and_its_numbers_do_not_overlap(uneven, tmp_path, open_tab, media):
    write_selection_report(uneven, tmp_path / "page.html")
    tab = open_tab(tmp_path / "page.html", viewport={"width": 1280, "height": 800})
    if media == "print":
        tab.page.emulate_media(media="print")
        tab.page.set_viewport_size({"width": 700, "height": 900})  # A4
    for part in tab.page.locator("section > .scroll, figure .scroll").all():
        assert part.evaluate("(part) => part.scrollWidth <= part.clientWidth")
    boxes = tab.page.locator(".tree text").evaluate_all(
        """(texts) => texts.map((text) => text.getBoundingClientRect())
            .map(({ left, right, top, bottom }) => [left, right, top, bottom])"""
    )
    assert len(boxes) > 40
    for place, (left, right, top, bottom) in enumerate(boxes):
        middle = (top + bottom) / 2  # lines may touch, digits may not
        for other_left, other_right, other_top, other_bottom in boxes[:place]:
            beside = other_right < left or right < other_left
            assert beside or not other_top < middle < other_bottom


def test_a_huge_tree_is_not_drawn(number, monkeypatch):
    monkeypatch.setattr(_selection, "_MAX_BOXES", 2)
    monkeypatch.setattr(_selection, "_MAX_EDGES", 1)
    html = selection_html(number)
    assert "The tree has too many cores to be drawn." in html
    assert 'class="tree"' not in html
    assert len(rows_of(html, "edges")) == 1
    assert "The first 1 of " in html


def test_it_tells_how_it_was_made(number):
    words = Page(selection_html(number, made=[("File", "flowers.csv")])).words
    assert "File flowers.csv Items 150 Numbers of clusters 2, 3, 4" in words
    assert "Null datasets 3" in words
    assert "scikit-learn" in words


def test_part_of_the_items_is_stated():
    number = select_n_clusters(
        None, load_iris().data, [2], n_nulls=3, n_resamples=50, max_items=40, random_state=0
    )
    html = selection_html(number)
    assert "40 of 150, chosen at random" in html
    assert 'id="changes"' not in html  # a single level has no changes


def test_nothing_is_fetched_and_no_script_runs(number):
    page = Page(selection_html(number))
    assert "script" not in page.tags
    for tag, name, value in page.attributes:
        assert not name.startswith("on")
        if name in ("src", "href"):
            assert value.startswith("data:"), (tag, value)
    policy = next(value for tag, name, value in page.attributes if "default-src" in (value or ""))
    assert "default-src 'none'" in policy


def test_hostile_text_adds_no_element(number):
    page = Page(selection_html(number, title=HOSTILE, made=[(HOSTILE, HOSTILE)], next_step=HOSTILE))
    assert "script" not in page.tags
    assert page.words.count("window.hacked") == 5  # twice as the title


def test_the_next_step_is_shown_if_there_is_one(number):
    assert "coreclust fit flowers.csv" in selection_html(
        number, next_step="coreclust fit flowers.csv"
    )
    assert "What to do next" not in selection_html(number)


def test_it_is_written_to_a_file_whole_or_not_at_all(number, tmp_path, monkeypatch):
    write_selection_report(number, tmp_path / "page.html", title="Flowers")
    assert "<h1>Flowers</h1>" in (tmp_path / "page.html").read_text()
    before = (tmp_path / "page.html").read_bytes()
    monkeypatch.setattr(_selection, "_rows", lambda number: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_selection_report(number, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_wrong_arguments_are_named(number, tmp_path):
    with pytest.raises(ValueError, match=r"path must be a file, such as .*selection\.html"):
        write_selection_report(number, tmp_path)
    with pytest.raises(ValueError, match=r"path must be in a folder that exists.*create"):
        write_selection_report(number, tmp_path / "no" / "page.html")
    with pytest.raises(TypeError, match="title must be a string, got int"):
        selection_html(number, title=3)
    with pytest.raises(
        TypeError, match=r"number must be the result of select_n_clusters.*type int"
    ):
        selection_html(3)


@pytest.mark.parametrize("library", ["jinja2", "matplotlib"])
def test_what_is_missing_is_named(number, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"Reports need {library}.*coreclust\[report\]"):
        selection_html(number)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1200])
def test_the_page_in_a_browser(number, tmp_path, open_tab, scheme, width):
    write_selection_report(number, tmp_path / "page.html", title="x" * 200, next_step="y " * 200)
    tab = open_tab(
        tmp_path / "page.html", color_scheme=scheme, viewport={"width": width, "height": 700}
    )
    assert tab.problems == []
    assert [url for url in tab.requests if not url.startswith(("file:", "data:"))] == []
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    tab.page.click("summary")
    assert tab.page.is_visible("#edges")
