"""Takes the screenshot of a report for the documentation: ``python docs/screenshots.py``.

It needs the extra ``coreclust[test]`` and chromium.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from coreclust import CoreClustering
from coreclust._utils.files import write_whole

IMAGES = Path(__file__).parent / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE = {"width": 1040, "height": 1100}
N_COLORS = 128  # looks the same in a file of a third of the size


def take_report(report: Path, browser: str) -> bytes:
    """Return the upper part of a report, light on the left and dark on the right, as a PNG."""
    halves = []
    with sync_playwright() as driver:
        window = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            page = window.new_page(viewport=SIZE, color_scheme=scheme)
            page.goto(report.as_uri())
            page.wait_for_selector("body[data-ready=yes]")
            page.wait_for_timeout(500)
            halves.append(Image.open(io.BytesIO(page.screenshot())))
        window.close()
    light, dark = halves
    middle = SIZE["width"] // 2
    light.paste(dark.crop((middle, 0, *dark.size)), (middle, 0))
    stream = io.BytesIO()
    light.convert("RGB").quantize(N_COLORS).save(stream, "PNG", optimize=True)
    return stream.getvalue()


def main() -> int:
    """Fit the iris data, write a report and take its screenshot."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.stderr.write("chromium was not found; install it: apt-get install chromium\n")
        return 1
    X = load_iris(as_frame=True).data
    cc = CoreClustering(KMeans(3, n_init=10), alpha=0.1, random_state=0).fit(X)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        cc.to_html(report, title="Iris: which flowers belong together?")
        picture = take_report(report, browser)
    write_whole(IMAGES / "report.png", lambda file: file.write(picture))
    return 0


if __name__ == "__main__":
    sys.exit(main())
