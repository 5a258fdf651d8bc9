"""A real browser, and pages in it."""

import os
from urllib.parse import urlsplit

import chromium
import pytest
from watched import Watched


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


@pytest.fixture(scope="module")
def profile(browser):
    """Give a function that opens a browser profile with these options, or the one that is open already.

    Only files and this machine can be reached; whatever else a page asks for is refused.
    """
    profiles = {}

    def opened(**options):
        key = repr(sorted(options.items()))
        if key not in profiles:
            profiles[key] = browser.new_context(**options)
            profiles[key].set_default_timeout(60_000)
            profiles[key].route(lambda url: not _is_here(url), lambda route: route.abort())
        return profiles[key]

    return opened


@pytest.fixture
def watch(profile):
    """Give a function that opens an address and returns the page, watched. The page is closed after the test."""
    pages = []

    def opened(address, **options):
        watched = Watched(profile(**options).new_page())
        pages.append(watched.page)
        watched.page.goto(address, wait_until="load")
        return watched

    yield opened
    for page in pages:
        page.close()


def _is_here(url):
    address = urlsplit(url)
    return address.scheme in {"file", "blob", "data"} or address.hostname == "127.0.0.1"
