"""Take the pictures of `docs/images/`: benchmarks as MLflow's UI shows them, and the HTML report alone.

The recordings are logged into a store of their own by `mlflow-tfexec sync`, and MLflow's UI is served from it on this
machine. The last recording is the one that is shown in detail. Needs a Chromium; see `tests/chromium.py`.

    python docs/screenshots.py path/to/recording.jsonl … --output docs/images
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import chromium
from mlflow_server import serving

from mlflow_tfexec import reports
from mlflow_tfexec.records.codec import load_recording
from mlflow_tfexec.spool import SpooledBenchmark
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking.destination import Destination, resolve

EXPERIMENT = "execution modes"
USER = "ml-engineer"
DESK = {"width": 1360, "height": 800}
PHONE = {"width": 390, "height": 844}
HIDDEN_COLUMNS = ("Dataset", "Source", "Models")
SHOWN_COLUMNS = ("latency_ms/median", "speedup/vs_eager", "tfexec.ordering")
ONE_MODEL = "tags.`tfexec.kind` = 'mode' AND tags.`tfexec.model` = '{model}'"

# What somebody has chosen who uses MLflow for models: the layout for them, and no assistant beside it.
CHOICES = {
    "mlflow.workflowType_v1": '"machine_learning"',
    "mlflow.assistant.fab.autoOpenedOnFirstLoad_v1": "true",
    "mlflow.assistant.panelOpen_v1": "false",
}


@dataclass(frozen=True)
class Shown:
    """The addresses of the benchmark that is shown."""

    model: str
    runs: str
    parent: str
    xla: str


def log(paths: list[Path], uri: str, spool: Path) -> Shown:
    """Log the recordings, and say where the last one is."""
    destination = resolve(tracking_uri=uri, experiment=EXPERIMENT, environ={})
    for path in paths:
        spooled = SpooledBenchmark(spool / load_recording(path).header.benchmark_id)
        spooled.directory.mkdir(parents=True)
        spooled.recording_path.write_bytes(path.read_bytes())
        spooled.write_destination(destination.to_json())
    environ = {**os.environ, "LOGNAME": USER, "MLFLOW_TFEXEC_SPOOL": str(spool)}
    subprocess.run([Path(sys.executable).with_name("mlflow-tfexec"), "sync"], cwd=spool, env=environ, check=True)
    return find(destination, spooled)


def find(destination: Destination, spooled: SpooledBenchmark) -> Shown:
    """Look up the runs of a logged benchmark."""
    from mlflow import MlflowClient

    client = MlflowClient(destination.tracking_uri)
    logged = json.loads((spooled.directory / "logged.json").read_text())
    experiment = client.get_run(logged["run_id"]).info.experiment_id
    chosen = f"tags.mlflow.parentRunId = '{logged['run_id']}' AND tags.`tfexec.mode` = 'xla'"
    [xla] = client.search_runs([experiment], chosen)
    base = f"{destination.tracking_uri}/#/experiments/{experiment}"
    return Shown(
        xla.data.tags["tfexec.model"],
        f"{base}/runs",
        f"{base}/runs/{logged['run_id']}",
        f"{base}/runs/{xla.info.run_id}",
    )


class Camera:
    """Takes pictures of pages into one directory."""

    def __init__(self, browser: Any, directory: Path) -> None:
        self._browser = browser
        self._directory = directory

    @contextmanager
    def page(self, address: str, **options: Any) -> Iterator[Any]:
        """Open a page in a fresh profile."""
        context = self._browser.new_context(**{"viewport": DESK, "locale": "en-GB", "timezone_id": "UTC", **options})
        context.set_default_timeout(60_000)
        context.add_init_script(f"Object.entries({json.dumps(CHOICES)}).forEach(item => localStorage.setItem(...item))")
        page = context.new_page()
        page.goto(address)
        yield page
        context.close()

    def shoot(self, page: Any, name: str, **options: Any) -> None:
        """Take a picture of what the window shows now."""
        path = self._directory / f"{name}.png"
        page.wait_for_timeout(1500)
        page.screenshot(path=path, animations="disabled", **options)
        print(f"{path}: {path.stat().st_size / 1024:.0f} KB")


def shoot_mlflow(camera: Camera, shown: Shown) -> None:
    """Take the pictures of MLflow's UI."""
    with camera.page(shown.runs, viewport={"width": 1360, "height": 560}) as page:
        choose_columns(page)
        unfold(page, shown)
        camera.shoot(page, "mlflow-runs")
    chosen = quote(ONE_MODEL.format(model=shown.model))
    with camera.page(f"{shown.runs}?searchFilter={chosen}&compareRunsMode=CHART") as page:
        unfold(page, shown)
        page.get_by_placeholder("Search metric charts").fill("latency_ms/median")
        page.get_by_text("latency_ms", exact=True).wait_for()
        camera.shoot(page, "mlflow-charts")
    with camera.page(shown.parent, viewport={"width": 1360, "height": 1180}) as page:
        page.get_by_text("Show more", exact=True).click()
        camera.shoot(page, "mlflow-description")
    with camera.page(f"{shown.xla}/model-metrics", viewport={"width": 1360, "height": 1020}) as page:
        page.get_by_placeholder("Search metric charts").fill("latency_ms/me|samples")
        page.get_by_text("samples", exact=True).wait_for()
        camera.shoot(page, "mlflow-metrics")
    with camera.page(f"{shown.parent}/artifacts/tfexec/report.html", viewport={"width": 1360, "height": 900}) as page:
        page.frame_locator("iframe").locator("main").wait_for()
        camera.shoot(page, "mlflow-report")


def unfold(page: Any, shown: Shown) -> None:
    """Show the modes below their benchmark."""
    page.get_by_role("row").filter(has_text=f"tfexec {shown.model}").first.get_by_role("button").first.click()
    page.get_by_role("link", name="xla", exact=True).wait_for()


def choose_columns(page: Any) -> None:
    """Show the columns that tell most about benchmarks, instead of MLflow's first choice."""
    page.get_by_role("button", name="Columns", exact=True).click()
    search = page.get_by_placeholder("Search columns")
    for name in (*HIDDEN_COLUMNS, *SHOWN_COLUMNS):
        search.fill(name)
        page.locator("[class*=tree-treenode]").filter(has_text=name).last.locator(
            "[class*=tree-checkbox]"
        ).first.click()
    page.keyboard.press("Escape")
    page.mouse.click(DESK["width"] - 40, 30)
    for name in SHOWN_COLUMNS:
        page.locator(".ag-header-cell").filter(has_text=name).locator(".ag-header-cell-resize").dblclick()


def shoot_report(camera: Camera, path: Path, directory: Path) -> None:
    """Take the pictures of the HTML report in a window of its own."""
    recording = load_recording(path)
    html = directory / "report.html"
    html.write_text(reports.formats()["html"].render(reports.table([(recording, judge(recording))])), encoding="utf-8")
    for scheme in ("light", "dark"):
        with camera.page(html.as_uri(), color_scheme=scheme, viewport={"width": 1200, "height": 1400}) as page:
            camera.shoot(page, f"report-{scheme}")
    with camera.page(html.as_uri(), viewport={"width": 820, "height": 1090}) as page:
        page.locator("figure").first.evaluate("figure => figure.previousElementSibling.scrollIntoView()")
        camera.shoot(page, "report-pictures")
    with camera.page(html.as_uri(), viewport=PHONE, device_scale_factor=1.5) as page:
        camera.shoot(page, "report-phone")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", type=Path, nargs="+")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    executable = chromium.find()
    if executable is None:
        sys.exit(chromium.ABSENT)
    with tempfile.TemporaryDirectory() as temporary, chromium.launched(executable) as browser:
        camera = Camera(browser, options.output)
        directory = Path(temporary)
        shoot_report(camera, options.recordings[-1], directory)
        with serving(directory, directory / "mlflow.db") as uri:
            shown = log(options.recordings, uri, directory / "spool")
            shoot_mlflow(camera, shown)


if __name__ == "__main__":
    main()
