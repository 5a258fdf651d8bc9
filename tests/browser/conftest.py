"""Pages in a real browser, and a record of all that they do there."""

import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import chromium
import pytest


@dataclass
class Watched:
    """A page with the address of every request, every complaint (text, where it comes from) and every dialog."""

    page: object
    requests: list[str] = field(default_factory=list)
    complaints: list[tuple[str, str]] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append((str(error), self.page.url)))
        self.page.on("dialog", self._dismiss)

    def _hear(self, message):
        if message.type in {"error", "warning"}:
            self.complaints.append((message.text, message.location["url"]))

    def _dismiss(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()


@pytest.fixture(scope="session")
def executable():
    """Give the path of a Chromium. Without one the tests are skipped, but not where they must run."""
    found = chromium.find()
    if found is None and os.environ.get("CI"):
        pytest.fail(chromium.ABSENT)
    if found is None:
        pytest.skip(chromium.ABSENT)
    return found


# Not longer than a module: Playwright keeps an event loop running in this thread, and others may want one.
@pytest.fixture(scope="module")
def browser(executable):
    with chromium.launched(executable) as browser:
        yield browser


@pytest.fixture
def watch(browser):
    """Give a function that opens an address in a fresh browser profile and returns the page, watched.

    Only files and this machine can be reached; whatever else a page asks for is recorded and refused.
    """
    contexts = []

    def open_watched(address, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        context.set_default_timeout(30_000)
        context.route(lambda url: not _is_here(url), lambda route: route.abort())
        watched = Watched(context.new_page())
        watched.page.goto(address, wait_until="load")
        return watched

    yield open_watched
    for context in contexts:
        context.close()


def _is_here(url):
    address = urlsplit(url)
    return address.scheme in {"file", "blob", "data"} or address.hostname == "127.0.0.1"
