"""The HTML of a report, without a browser."""

import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, KMeans

from coreclust import CoreClustering
from coreclust._inspection.verdict import explanation, headline
from coreclust.plotting._style import MARKERS
from coreclust.report import _content as content
from coreclust.report import report_html
from coreclust.report._figures import FIGURES
from coreclust.report._page import _MARKERS

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 2</script>",
    "<!--<script>",
    '" onmouseover="window.hacked = 3',
    "<img src=x onerror=window.hacked=4>",
    "{{ 7 * 7 }}",
    "=cmd()",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    'a,b\n"c"',
    "🦆 ünï\u2028code\u2029",
    "\ud800 half a pair",
    "\x00\x1b[31m",
    "x" * 10_000,
]


@pytest.fixture(scope="module")
def fitted(blobs):
    return CoreClustering(KMeans(3), n_resamples=60, random_state=0).fit(blobs)


def fit_named(blobs, columns, names):
    """The same clusters, whatever the columns and the clusters are called."""
    names = np.array(names)
    cc = CoreClustering(
        lambda Z: names[np.digitize(np.asarray(Z)[:, 0], [1, 5])], n_resamples=60, random_state=0
    )
    return cc.fit(pd.DataFrame(blobs, columns=columns))


@pytest.fixture(scope="module")
def hostile(blobs):
    """Hostile names of columns and of clusters."""
    columns = [HOSTILE[0], HOSTILE[1] + "$"]
    return fit_named(blobs, columns, [HOSTILE[0], HOSTILE[6], "y" * 10_000])


class Page(HTMLParser):
    """Which elements a page has, and the text of its scripts."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.scripts, self.attributes = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_data(self, data):
        if self.elements and self.elements[-1] == "script":
            self.scripts.append(data)


def data_of(html):
    return json.loads(re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1])


def test_it_has_the_verdict_the_tables_and_the_figures(fitted, blobs):
    html = report_html(fitted, blobs, title="My report")
    assert "<title>My report</title>" in html
    assert headline(fitted) in html
    assert explanation(fitted) in html
    page = Page(html)
    pictures = [value for tag, name, value in page.attributes if (tag, name) == ("img", "src")]
    assert len(pictures) == len(FIGURES)
    assert all(picture.startswith("data:image/png;base64,") for picture in pictures)
    texts = [value for tag, name, value in page.attributes if (tag, name) == ("img", "alt")]
    assert texts == [figure.alt for figure in FIGURES]
    assert all(figure.title in html and figure.caption in html for figure in FIGURES)
    assert page.elements.count("table") == page.elements.count("caption") == 5
    for core in fitted.cores_:
        assert f'data-live="core">{core.n_core}<' in html


def test_nothing_is_fetched_from_anywhere(fitted, blobs):
    page = Page(report_html(fitted, blobs))
    for _, name, value in page.attributes:
        if name in ("src", "href", "srcset", "action", "data"):
            assert value.startswith(("data:", "#"))
    assert not any(name.startswith("on") for _, name, _ in page.attributes)
    contents = [value for _, name, value in page.attributes if name == "content"]
    (policy,) = [value for value in contents if "src" in value]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


def test_the_same_fit_gives_the_same_report(fitted, blobs):
    assert report_html(fitted, blobs) == report_html(fitted, blobs)


def test_it_is_written_whole_or_not_at_all(fitted, blobs, tmp_path):
    path = tmp_path / "report.html"
    fitted.to_html(path, blobs, title="ä <b>")
    assert path.read_text("utf-8").startswith("<!doctype html>")
    assert "<title>ä &lt;b&gt;</title>" in path.read_text("utf-8")
    path.write_text("before")
    with pytest.raises(ValueError, match="row for each of 60 items"):
        fitted.to_html(path, blobs[:5])
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_hostile_content_adds_no_element(hostile, blobs):
    def given(texts):
        names = (texts * 4)[:60]
        return {"ids": names, "classes": names, "provenance": dict(zip(texts, texts, strict=True))}

    tame_fit = fit_named(blobs, ["a", "b"], ["a", "b", "c"])
    tame = report_html(tame_fit, title="t", **given([f"t{i}" for i in range(len(HOSTILE))]))
    html = report_html(hostile, title=HOSTILE[1], **given(HOSTILE))
    assert Page(html).elements == Page(tame).elements
    assert not any(name.startswith("on") for _, name, _ in Page(html).attributes)
    ids = given(HOSTILE)["ids"]
    html.encode("utf-8")
    data = data_of(html)
    for name, shown in zip(ids, data["items"]["id"], strict=True):
        assert len(shown) <= content.MAX_TEXT
        if name.isprintable() and len(name) < content.MAX_TEXT:
            assert shown == name
    assert "names are longer than 200 characters" in html
    raw = re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1]
    assert not set("<>&\u2028\u2029") & set(raw)


def test_the_page_says_that_items_are_left_out(fitted, blobs, monkeypatch):
    assert "items are drawn and\nlisted" not in report_html(fitted, blobs)
    monkeypatch.setattr(content, "MAX_ITEMS", 20)
    html = report_html(fitted, blobs)
    n_shown = len(data_of(html)["items"]["id"])
    assert n_shown <= 20
    assert f"Only {n_shown} of 60 items are drawn and\nlisted" in html
    # The counts include all items.
    assert sum(cluster["size"] for cluster in data_of(html)["clusters"]) == 60


@pytest.mark.slow
def test_odd_fits_have_a_report(blobs):
    X = np.vstack([blobs, [[50.0, 50.0]]])
    trimmed = CoreClustering(DBSCAN(eps=1.5), n_resamples=60, random_state=0).fit(X)
    assert "trimmed (in no cluster)" in report_html(trimmed, X)
    nothing = CoreClustering(lambda Z: [-1] * len(Z), n_resamples=40, random_state=0).fit(X)
    assert "no clusters; all 61 items are trimmed" in report_html(nothing, X)
    letters = CoreClustering(lambda Z: [z > "b" for z in Z], n_resamples=40, random_state=0)
    assert "not available" in report_html(letters.fit(list("aabbcc")))


def test_the_page_has_a_shape_for_every_marker():
    assert len(_MARKERS) == len(MARKERS)


def test_bad_arguments(fitted, blobs):
    with pytest.raises(ValueError, match="Pass either X, the data, or positions"):
        report_html(fitted, blobs, positions=blobs)
    with pytest.raises(TypeError, match="title must be a string, got int"):
        report_html(fitted, blobs, title=3)


@pytest.mark.parametrize("library", ["jinja2", "vl_convert", "matplotlib"])
def test_what_is_missing_is_named(fitted, blobs, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=r"pip install 'coreclust\[report\]'"):
        report_html(fitted, blobs)
