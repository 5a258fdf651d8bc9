"""The machine's own Chromium, driven by Playwright: no browser is downloaded."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

VARIABLE = "MLFLOW_TFEXEC_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome")
ABSENT = f"No Chromium: none of {', '.join(NAMES)} is on the path, and ${VARIABLE} names none."


def find() -> str | None:
    """Give the path of a Chromium: the one that $MLFLOW_TFEXEC_CHROMIUM names, else the first on the path."""
    return os.environ.get(VARIABLE) or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def launched(executable: str) -> Iterator[Any]:
    """Run a Chromium without a window. Yields Playwright's browser."""
    from playwright.sync_api import sync_playwright

    # Chromium's sandbox refuses root, which is who one is in most containers.
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"] if is_root else [])
        try:
            yield browser
        finally:
            browser.close()
