"""The report in a real browser, opened from disk with the network off."""

import csv

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

from coreclust import CoreClustering
from coreclust._inspection.verdict import headline
from coreclust.report._content import MAX_TEXT

pytestmark = pytest.mark.slow

FILLED = """async () => {
    const frame = () => new Promise((next) => requestAnimationFrame(next));
    await frame();
    await frame();  // charts are drawn once a frame
    const view = document.getElementById("scatter").view;
    await view.runAsync();
    const marks = view.scenegraph().root.items[0].items;
    const points = marks.find((mark) => mark.name === "points").items;
    return points.filter((p) => p.datum.g >= 0 && p.fill !== view.signal("paper"))
                 .map((p) => p.datum.i).sort((a, b) => a - b);
}"""
PAPER = 'document.getElementById("scatter").view.signal("paper")'
NAMES = """() => [...document.querySelectorAll("#item-table tbody tr")]
    .map((line) => line.cells[0].textContent)"""
DATA = '() => JSON.parse(document.getElementById("data").textContent)'


@pytest.fixture(scope="module")
def fitted(blobs):
    return CoreClustering(KMeans(3), n_resamples=60, random_state=0).fit(blobs)


@pytest.fixture(scope="module")
def report(fitted, blobs, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    fitted.to_html(path, blobs, ids=[f"item {i}" for i in range(60)], title="A title")
    return path


@pytest.fixture
def tab(open_tab, report):
    return open_tab(report, viewport={"width": 1280, "height": 900}).ready()


def test_it_opens_offline_and_fetches_nothing(tab, fitted):
    assert tab.page.title() == "A title"
    assert tab.page.locator(".headline").inner_text().lower() == headline(fitted).lower()
    assert tab.page.locator("#scatter canvas").is_visible()
    assert tab.page.locator("#curve canvas").is_visible()
    assert not tab.page.locator("img.static").first.is_visible()
    assert all(url.startswith(("file:", "data:", "blob:")) for url in tab.requests)
    assert tab.problems == []


def test_at_first_the_cores_are_the_fitted_ones(tab, fitted):
    assert tab.page.evaluate(FILLED) == fitted.core_sample_indices_.tolist()


def test_the_slider_fills_as_many_points_as_recut(tab, fitted):
    alphas = tab.page.evaluate(DATA)["alphas"]
    slider = tab.page.locator("#alpha")
    slider.focus()
    tab.page.keyboard.press("Home")
    counts = []
    for alpha in alphas:
        cut = fitted.recut(alpha=alpha)
        filled = tab.page.evaluate(FILLED)
        assert len(filled) == cut.core_sample_indices_.size
        assert tab.page.locator("#alpha-value").inner_text() == f"{alpha:g}"
        core_cells = tab.page.locator("[data-live=core]").all_inner_texts()
        assert core_cells == [str(core.n_core) for core in cut.cores_]
        words = f"{cut.core_sample_indices_.size} core, {cut.weak_sample_indices_.size} weak"
        assert tab.page.locator("#alpha-count").inner_text() == words
        assert words in slider.get_attribute("aria-valuetext")
        counts.append(len(filled))
        tab.page.keyboard.press("ArrowRight")
    assert counts[0] < counts[-1]  # it does move
    tab.page.locator("#reset").click()
    assert tab.page.evaluate(FILLED) == fitted.core_sample_indices_.tolist()
    assert tab.problems == []


def test_pixels_change_with_the_slider(tab):
    before = tab.page.locator("#scatter").screenshot()
    tab.page.locator("#alpha").focus()
    tab.page.keyboard.press("Home")
    tab.page.evaluate(FILLED)
    assert tab.page.locator("#scatter").screenshot() != before


PLACE = """(item) => {
    const view = document.getElementById("scatter").view;
    const marks = view.scenegraph().root.items[0].items;
    const points = marks.find((mark) => mark.name === "points").items;
    const point = points.find((p) => p.datum.i === item);
    const box = document.querySelector("#scatter canvas").getBoundingClientRect();
    const [left, top] = view.origin();
    return [box.left + left + point.x, box.top + top + point.y];
}"""


def test_pointing_at_an_item_tells_about_it(tab, fitted, blobs):
    gaps = np.linalg.norm(blobs[:, None] - blobs[None], axis=2) + 1e9 * np.eye(60)
    item = int(gaps.min(axis=1).argmax())  # not covered by another
    tab.page.locator("#scatter").scroll_into_view_if_needed()
    x, y = tab.page.evaluate(PLACE, item)
    tab.page.mouse.move(x - 60, y - 30)
    tab.page.mouse.move(x, y, steps=5)
    tip = tab.page.locator("#tip")
    tip.wait_for(state="visible")
    table = fitted.item_table().iloc[item]
    text = tip.inner_text()
    assert text.startswith(f"item {item}\n")
    assert f"cluster {table['cluster']}, {table['status']}" in text
    assert f"strength {table['strength']:.3f}" in text
    assert "closest other cluster: " in text
    tab.page.mouse.move(5, 5, steps=5)
    tip.wait_for(state="hidden")


def test_search_and_sort(tab, fitted):
    page = tab.page
    assert page.evaluate(NAMES) == [f"item {i}" for i in range(25)]
    page.locator("#next").click()
    assert page.evaluate(NAMES)[0] == "item 25"
    page.locator("#search").fill("ITEM 5")
    assert page.evaluate(NAMES) == ["item 5", *(f"item {i}" for i in range(50, 60))]
    assert page.locator("#found").inner_text() == "11 of 60 items"
    page.locator("#search").fill("weak")
    assert page.locator("#found").inner_text().startswith(f"{fitted.weak_sample_indices_.size} of")
    page.locator("#search").fill("no such thing")
    assert page.evaluate(NAMES) == []
    page.locator("#search").fill("")
    table = fitted.item_table(details=False)
    header = page.get_by_role("button", name="Strength")
    header.click()
    weakest = table["strength"].round(5).sort_values(kind="stable").index
    assert page.evaluate(NAMES)[0] == f"item {weakest[0]}"
    assert page.locator("#item-table th[aria-sort]").get_attribute("aria-sort") == "ascending"
    header.press("Enter")
    assert page.locator("#item-table th[aria-sort]").get_attribute("aria-sort") == "descending"
    shown = page.evaluate(
        """() => [...document.querySelectorAll("#item-table tbody tr")]
            .map((line) => Number(line.cells[3].textContent))"""
    )
    assert shown == sorted(shown, reverse=True)
    assert shown[0] == pytest.approx(table["strength"].max(), abs=5e-4)
    assert tab.problems == []


def read_csv(tab, path):
    with tab.page.expect_download() as download:
        tab.page.locator("#download").click()
    download.value.save_as(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_the_csv_has_what_the_table_has(tab, fitted, tmp_path):
    rows = read_csv(tab, tmp_path / "all.csv")
    table = fitted.item_table()
    assert [row["item"] for row in rows] == [f"item {i}" for i in range(60)]
    assert [row["status"] for row in rows] == table["status"].tolist()
    assert [int(row["cluster"]) for row in rows] == table["cluster"].tolist()
    np.testing.assert_allclose([float(row["strength"]) for row in rows], table["strength"], 1e-4)
    assert {row["alpha"] for row in rows} == {"0.1"}
    tab.page.locator("#search").fill("item 5")
    assert len(read_csv(tab, tmp_path / "some.csv")) == 11
    tab.page.locator("#alpha").focus()
    tab.page.keyboard.press("Home")
    strict = read_csv(tab, tmp_path / "strict.csv")
    cut = fitted.recut(alpha=float(strict[0]["alpha"]))
    tab.page.locator("#search").fill("")
    strict = read_csv(tab, tmp_path / "strict.csv")
    assert sum(row["status"] == "core" for row in strict) == cut.core_sample_indices_.size


def test_without_javascript_it_can_be_read(open_tab, report, fitted):
    tab = open_tab(report, java_script_enabled=False)
    page = tab.page
    assert page.locator(".headline").is_visible()
    assert page.locator("#clusters").is_visible()
    assert page.locator("#clusters tbody tr").count() == 3
    for picture in page.locator("img").all():
        assert picture.is_visible()
    assert not page.locator("#alpha").is_visible()
    assert not page.locator("#scatter").is_visible()
    assert tab.problems == []


def test_dark_and_light_and_narrow(open_tab, report):
    papers = {}
    for scheme in ("light", "dark"):
        tab = open_tab(report, color_scheme=scheme, viewport={"width": 400, "height": 800}).ready()
        width = tab.page.evaluate("document.documentElement.scrollWidth")
        assert width <= 400  # nothing sticks out
        papers[scheme] = tab.page.evaluate(
            "document.getElementById('scatter').view.signal('paper')"
        )
        canvas = tab.page.locator("#scatter canvas").bounding_box()
        assert canvas["width"] <= 400
    table = tab.page.locator("#clusters").locator("xpath=..")
    table.evaluate("(part) => { part.scrollLeft = 1000; }")
    assert table.evaluate("(part) => part.scrollLeft") > 0  # the names stay in view
    for name in tab.page.locator("#clusters thead th:first-child, #clusters tbody th").all():
        assert name.bounding_box()["x"] >= table.bounding_box()["x"]
    assert papers["light"] != papers["dark"]
    # A change of the color scheme needs no reload.
    tab.page.emulate_media(color_scheme="light")
    tab.page.wait_for_function(f"(paper) => {PAPER} === paper", arg=papers["light"])
    assert tab.problems == []


def contrast(first, second):
    """The contrast of two colors, by the definition of the WCAG."""

    def luminance(color):
        parts = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    high, low = sorted([luminance(first), luminance(second)], reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(open_tab, report, scheme):
    tab = open_tab(report, color_scheme=scheme).ready()
    names = ["ink", "faint", "link", "paper", "card"]
    colors = tab.page.evaluate(
        """(names) => names.map((name) =>
            getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim())""",
        names,
    )
    color = dict(zip(names, colors, strict=True))
    for text in ("ink", "faint", "link"):
        for ground in ("paper", "card"):
            assert contrast(color[text], color[ground]) >= 4.5


def test_the_keyboard_reaches_everything(tab):
    reached = []
    for _ in range(60):
        tab.page.keyboard.press("Tab")
        reached.append(
            tab.page.evaluate("document.activeElement.id || document.activeElement.textContent")
        )
    for wanted in ("alpha", "search", "download", "next", "Strength"):
        assert wanted in reached


HOSTILE_IDS = [
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 2</script>",
    "<img src=x onerror=window.hacked=3>",
    '" onmouseover="window.hacked = 4',
    "=cmd()",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    'a,b\n"c"',
    "🦆 \u2028 \u2029 \ud800",
    "x" * 10_000,
    "__proto__",
]


def test_hostile_content_is_inert(open_tab, blobs, tmp_path):
    frame = pd.DataFrame(blobs, columns=HOSTILE_IDS[:2])
    names = np.array([HOSTILE_IDS[0], "=cmd()", "y" * 10_000])

    def labels(Z):
        return names[np.digitize(np.asarray(Z)[:, 0], [1.0, 5.0])]

    cc = CoreClustering(labels, n_resamples=60, random_state=0).fit(frame)
    ids = [*HOSTILE_IDS, *range(-23, 23)]
    path = tmp_path / "hostile.html"
    cc.to_html(path, ids=ids, title=HOSTILE_IDS[1])
    tab = open_tab(path, viewport={"width": 400, "height": 800}).ready()
    page = tab.page
    assert page.title() == HOSTILE_IDS[1]
    for box in page.locator("#item-table tbody tr").all():
        box.hover()
    page.locator("#search").fill("<script>")
    page.locator("#item-table").get_by_role("button", name="Item").click()
    page.locator("#search").fill("")
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert page.locator("script").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.reload()
    tab.ready()
    rows = read_csv(tab, tmp_path / "hostile.csv")
    assert len(rows) == 60
    for given, row in zip(ids, rows, strict=True):
        cell = row["item"]
        assert row["cluster"] in ("'=cmd()", HOSTILE_IDS[0]) or len(row["cluster"]) == MAX_TEXT
        if isinstance(given, int):
            assert cell == str(given)  # a number is no formula
        else:
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
            if given.isprintable() and len(given) < MAX_TEXT:
                assert cell == ("'" + given if given[0] in "=+-@" else given)
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert tab.problems == []
