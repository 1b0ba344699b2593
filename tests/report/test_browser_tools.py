"""The tools of a report in a real browser: verdict, filter, zoom, search, figures and print."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from coreclust import CoreClustering
from coreclust._inspection.verdict import explanation, headline
from coreclust.cluster import KMeans

pytestmark = pytest.mark.slow

POINTS = """async () => {
    await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
    const view = document.getElementById("scatter").view;
    await view.runAsync();
    const marks = view.scenegraph().root.items[0].items;
    return marks.find((mark) => mark.name === "points").items
        .map((p) => ({ i: p.datum.i, opacity: p.opacity })).sort((a, b) => a.i - b.i);
}"""
DOMAINS = """async () => {
    const view = document.getElementById("scatter").view;
    await view.runAsync();
    return ["x", "y"].map((name) => view.scale(name).domain());
}"""


@pytest.fixture(scope="module")
def data():
    """Twelve clusters, so that clusters 1 and 11 exist and colors with shapes are used again."""
    rng = np.random.default_rng(0)
    centers = np.column_stack([np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)])
    return 4.0 * np.repeat(centers, 12, axis=0) + rng.normal(size=(144, 2))


@pytest.fixture(scope="module")
def fitted(data):
    return CoreClustering(KMeans(12), n_resamples=80, random_state=0).fit(data)


@pytest.fixture(scope="module")
def report(fitted, data, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    kinds = [f"kind {i % 3}" for i in range(144)]
    audit = fitted.audit(data, n_draws=2)
    names = [f"item {i}" for i in range(144)]
    fitted.to_html(path, data, ids=names, classes=kinds, audit=audit)
    return path


@pytest.fixture
def tab(open_tab, report):
    opened = open_tab(report, viewport={"width": 1280, "height": 900}).ready()
    yield opened
    assert opened.problems == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in opened.requests)


def bright(tab):
    """The items that are not dimmed."""
    return [point["i"] for point in tab.page.evaluate(POINTS) if point["opacity"] == 1]


def found(tab):
    return int(tab.page.locator("#found").inner_text().split()[0])


def test_the_verdict_follows_the_slider(tab, fitted):
    page = tab.page
    assert page.locator(".ends > span").all_inner_texts() == ["strict", "lenient"]
    page.locator("#alpha").focus()
    n_core = []
    for key in ("Home", "End"):
        page.keyboard.press(key)
        alpha = float(page.locator("#alpha-value").inner_text())
        cut = fitted.recut(alpha=alpha)
        n_core.append(cut.core_sample_indices_.size)
        assert page.locator(".headline").text_content() == headline(fitted, cut.cores_)
        assert f"{100 * (1 - alpha):g}" == page.locator("#alpha-least").inner_text()
    assert n_core[0] < n_core[1]  # the strict end has the smaller cores
    page.locator("#reset").click()
    assert page.locator(".headline").text_content() == headline(fitted)
    assert page.locator(".explanation").text_content() == explanation(fitted)


MOVED = """async (key) => {
    const view = document.getElementById("scatter").view, make = view.changeset.bind(view);
    const moved = new Set();
    view.changeset = () => {
        const changes = make(), modify = changes.modify;
        changes.modify = (point, ...what) => { moved.add(point.i); return modify(point, ...what); };
        return changes;
    };
    const slider = document.getElementById("alpha");
    slider.value = Number(slider.value) + 1;
    slider.dispatchEvent(new Event("input"));
    await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
    view.changeset = make;
    return [...moved].sort((a, b) => a - b);
}"""


def test_a_step_of_the_slider_touches_only_items_that_change(tab, fitted):
    """A step takes time in proportion to the items that change; this does not measure seconds."""
    page = tab.page
    page.locator("#alpha").focus()
    page.keyboard.press("Home")
    page.evaluate(POINTS)
    before = fitted.recut(alpha=float(page.locator("#alpha-value").inner_text())).labels_
    n_moved = []
    for _ in range(8):
        moved = page.evaluate(MOVED)
        after = fitted.recut(alpha=float(page.locator("#alpha-value").inner_text())).labels_
        assert moved == np.flatnonzero((before >= 0) != (after >= 0)).tolist()
        n_moved.append(len(moved))
        before = after
    assert 0 < max(n_moved) < 144


def test_a_step_of_the_slider_draws_no_line_again(tab):
    """The lines depend on these signals; Vega draws all of them again if one is another object."""
    same = tab.page.evaluate(
        """async () => {
            const view = document.getElementById("curve").view;
            const before = ["only", "lit"].map((name) => view.signal(name));
            const slider = document.getElementById("alpha");
            slider.value = Number(slider.value) + 1;
            slider.dispatchEvent(new Event("input"));
            await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
            await view.runAsync();
            return ["only", "lit"].map((name, i) => view.signal(name) === before[i]);
        }"""
    )
    assert same == [True, True]


def test_lines_of_other_clusters_are_pale(tab):
    strength = """async () => {
        const view = document.getElementById("curve").view;
        await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
        await view.runAsync();
        const groups = view.scenegraph().root.items[0].items.find((mark) => mark.role === "scope");
        const lines = groups.items.map((group) => group.items[0].items[0]);
        return Object.fromEntries(lines.map((line) => [line.datum.g, line.strokeOpacity]));
    }"""
    page = tab.page
    whole = page.evaluate(strength)
    assert len(whole) == 13
    assert min(whole.values()) > 0.5
    page.locator("#legend .chip").nth(4).click()
    page.locator("#search").focus()
    page.mouse.move(5, 5)
    chosen = page.evaluate(strength)
    assert [code for code, opacity in chosen.items() if opacity > 0.5] == ["4"]
    page.locator("#show-all").click()
    page.mouse.move(5, 5)
    assert page.evaluate(strength) == whole


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_heat_map_has_a_scale(open_tab, report, scheme):
    tab = open_tab(report, color_scheme=scheme, viewport={"width": 400, "height": 800}).ready()
    text, fits = tab.page.evaluate(
        """async () => {
            const view = document.getElementById("confusion").view;
            const drawing = new DOMParser().parseFromString(await view.toSVG(), "image/svg+xml");
            const legend = drawing.querySelector(".role-legend");
            const bounds = view.scenegraph().root.items[0].items
                .find((mark) => mark.role === "legend").bounds;
            const { left, top } = view.padding();
            const wide = left + bounds.x2 <= document.getElementById("confusion").clientWidth;
            return [[...legend.querySelectorAll("text")].map((part) => part.textContent),
                    wide && top + bounds.y1 >= 0];
        }"""
    )
    assert sorted(text) == ["0%", "100%", "50%", "share of resamples"]
    assert fits


def test_clusters_can_be_chosen(tab, fitted):
    page = tab.page
    chips = page.locator("#legend .chip")
    assert chips.all_inner_texts() == [str(name) for name in fitted.cluster_names_]
    members = [np.flatnonzero(fitted.reference_labels_ == code).tolist() for code in range(12)]
    assert bright(tab) == list(range(144))
    chips.nth(1).click()
    page.mouse.move(5, 5)
    page.locator("#search").focus()  # so that no cluster is highlighted
    assert bright(tab) == members[1]
    assert found(tab) == len(members[1])
    for table in ("#profiles tbody", "#classes tr[data-cluster]", "#audit tr[data-cluster]"):
        shown = page.locator(table).evaluate_all(
            "(parts) => parts.filter((part) => !part.hidden).map((part) => part.dataset.cluster)"
        )
        assert set(shown) == {"1"}
    chips.nth(3).click()
    page.locator("#search").focus()
    page.mouse.move(5, 5)
    assert bright(tab) == sorted(members[1] + members[3])
    page.locator("#show-all").click()
    page.mouse.move(5, 5)
    assert bright(tab) == list(range(144))
    chips.nth(2).hover()  # highlights without a choice
    assert bright(tab) == members[2]
    assert found(tab) == 144


def test_the_plot_can_be_zoomed(tab):
    page = tab.page
    whole = page.evaluate(DOMAINS)
    page.locator("#zoom-in").click()
    for (low, high), (least, most) in zip(page.evaluate(DOMAINS), whole, strict=True):
        assert high - low == pytest.approx((most - least) / 2)
    page.locator("#zoom-reset").click()
    assert page.evaluate(DOMAINS) == whole
    page.locator("#scatter").scroll_into_view_if_needed()
    box = page.locator("#scatter canvas").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 400, box["y"] + 200, steps=4)
    page.mouse.up()
    for (low, high), (least, most) in zip(page.evaluate(DOMAINS), whole, strict=True):
        assert least < low < high < most
    page.locator("#scatter").dblclick()
    assert page.evaluate(DOMAINS) == whole
    assert page.locator("#zoom-reset").is_disabled()


def test_markers_grow_when_many_are_zoomed(open_tab, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    CoreClustering(KMeans(2), n_resamples=30, random_state=0).fit(X).to_html(tmp_path / "a.html", X)
    tab = open_tab(tmp_path / "a.html").ready()
    sizes = """async () => {
        const view = document.getElementById("scatter").view;
        await view.runAsync();
        const marks = view.scenegraph().root.items[0].items;
        return [...new Set(marks.find((mark) => mark.name === "points").items.map((p) => p.size))];
    }"""
    (whole,) = tab.page.evaluate(sizes)
    for _ in range(3):
        tab.page.locator("#zoom-in").click()
    (zoomed,) = tab.page.evaluate(sizes)
    assert whole < zoomed <= 70
    tab.page.locator("#zoom-reset").click()
    assert tab.page.evaluate(sizes) == [whole]
    assert tab.problems == []


def test_a_search_for_a_cluster_finds_this_cluster_only(tab, fitted):
    for code in (0, 1, 11):
        tab.page.locator("#search").fill(f"Cluster {code}")
        members = np.flatnonzero(fitted.reference_labels_ == code).tolist()
        assert found(tab) == len(members)
        assert bright(tab) == members


@pytest.mark.parametrize("name", ["scatter", "curve", "heatmap", "confusion"])
def test_each_figure_can_be_saved(tab, tmp_path, name):
    for kind in ("svg", "png"):
        with tab.page.expect_download() as download:
            tab.page.locator(f"[data-figure={name}][data-format={kind}]").click()
        assert download.value.suggested_filename == f"{name}.{kind}"
        path = tmp_path / f"{name}.{kind}"
        download.value.save_as(path)
        if kind == "png":
            assert path.read_bytes().startswith(b"\x89PNG")
            assert path.stat().st_size > 2000
            continue
        root = ET.parse(path).getroot()  # noqa: S314 - our own file
        drawn = [part for part in root.iter() if part.tag.endswith(("path", "image"))]
        assert root.tag.endswith("svg")
        assert len(drawn) >= (1 if name == "heatmap" else 12)
        if name == "scatter":
            assert len(drawn) >= 144


def test_print_lists_all_weak_items(tab, fitted):
    page = tab.page
    assert not page.locator("#weak-list").is_visible()
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#weak-list").is_visible()
    assert not page.locator("#items").is_visible()
    assert not page.locator("#alpha").is_visible()
    listed = ", ".join(page.locator("#weak-list dd").all_inner_texts()).split(", ")
    assert sorted(listed) == sorted(f"item {i}" for i in fitted.weak_sample_indices_)
    for part in page.locator(".scroll").all():  # paper cannot be scrolled
        assert part.evaluate("(part) => part.scrollHeight <= part.clientHeight + 1")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert not page.locator("#weak-list").is_visible()
    assert page.locator("#items").is_visible()


def test_advice_shows_its_items(tab, fitted):
    """Each button of the advice leads to the items that it is about."""
    buttons = tab.page.locator("#actions button")
    assert buttons.count() > 0
    for place in range(buttons.count()):
        button = buttons.nth(place)
        codes = [
            int(code) for code in re.findall(r"\d+", button.get_attribute("data-show-clusters"))
        ]
        status = button.get_attribute("data-show-status")
        expected = np.isin(fitted.reference_labels_, codes) if codes else np.ones(144, dtype=bool)
        if status:
            expected &= (fitted.labels_ >= 0) == (status == "core")
        button.click()
        assert found(tab) == expected.sum()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_two_clusters_look_the_same(open_tab, report, scheme):
    tab = open_tab(report, color_scheme=scheme).ready()
    looks = tab.page.evaluate(
        """() => [...document.querySelectorAll("#legend .swatch")].map((swatch) =>
            getComputedStyle(swatch).color + swatch.querySelector("path").getAttribute("d"))"""
    )
    assert len(set(looks)) == 12
    colors = {look.split(")")[0] for look in looks}
    assert len(colors) == 12  # beyond seven clusters colors differ, too
