from __future__ import annotations

import shutil

import pytest

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser():
    """A real browser without a window."""
    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if program is None:
        pytest.skip("no chromium here: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        window = driver.chromium.launch(
            executable_path=program,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield window
        window.close()


class Tab:
    """A page opened from disk with the network off; remembers all that went wrong."""

    def __init__(self, browser, path, **options):
        self.context = browser.new_context(offline=True, accept_downloads=True, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.problems, self.requests = [], []
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def ready(self):
        self.page.wait_for_selector("body[data-ready=yes]")
        return self


@pytest.fixture
def open_tab(browser):
    """Open a file in a tab of its own."""
    tabs = []

    def opened(path, **options):
        tabs.append(Tab(browser, path, **options))
        return tabs[-1]

    yield opened
    for tab in tabs:
        tab.context.close()
