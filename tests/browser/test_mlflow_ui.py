"""Benchmarks as MLflow's own UI shows them, to somebody who opens it for the first time."""

from urllib.parse import urlsplit

import pytest
import report_cases
from mlflow_server import serving
from recordings import write_recording
from watched import Watched

from mlflow_tfexec.benchmarking.publish import publish
from mlflow_tfexec.spool import SpooledBenchmark
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking.destination import resolve

pytestmark = [pytest.mark.browser, pytest.mark.mlflow]

HOSTILE_NAME = "<img src=x onerror=alert(1)>"
MODES = ["eager", "graph", "graph_nojit", "xla", "graph_control"]
# How many lines the text of each cell takes.
LINES = """all => all.map(cell => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return new Set([...range.getClientRects()].map(box => box.top)).size;
})"""
TWO_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
SECTION = "experiment-view-compare-runs-section-header"
SMUGGLED = "<script>window.ran = true</script><p class='end'>end</p></main>"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("ui")


@pytest.fixture(scope="module")
def server(place):
    with serving(place, place / "mlflow.db") as uri:
        yield uri


@pytest.fixture(scope="module")
def log(server, place):
    """Give a function that logs a recording into an experiment of its own, as `run` and `sync` do."""

    def log(recording, experiment):
        spooled = SpooledBenchmark(place / experiment)
        write_recording(recording, spooled.directory)
        destination = resolve(tracking_uri=server, experiment=experiment, environ={})
        return publish(spooled, recording, judge(recording), destination)

    return log


@pytest.fixture(scope="module")
def normal(log):
    return log(report_cases.normal(), "normal")


@pytest.fixture(scope="module")
def hostile(server, log):
    """A benchmark with markup in every text, and beside its report one with a script smuggled in."""
    from mlflow import MlflowClient

    logged = log(report_cases.hostile(), "hostile")
    report = report_cases.render("html", "hostile").replace("</main>", SMUGGLED)
    MlflowClient(server).log_text(logged.run_id, report, "smuggled.html")
    return logged


@pytest.fixture(scope="module")
def visit(profile):
    """Give a function that opens an address and returns the page, watched; it stays open for all tests of this file."""

    def visit(address):
        watched = Watched(profile(viewport={"width": 1440, "height": 1000}).new_page())
        watched.page.goto(address)
        return watched

    return visit


@pytest.fixture(scope="module")
def normal_report(visit, normal):
    return visit(artifact(normal, "tfexec/report.html"))


@pytest.fixture(scope="module")
def hostile_report(visit, hostile):
    return visit(artifact(hostile, "tfexec/report.html"))


@pytest.fixture(scope="module")
def normal_page(visit, normal):
    return unfolded(visit(normal.url))


@pytest.fixture(scope="module")
def hostile_page(visit, hostile):
    return unfolded(visit(hostile.url))


def artifact(logged, path):
    return f"{logged.url}/artifacts/{path}"


def unfolded(watched):
    """Wait for a run's page, and open the whole of its description."""
    watched.page.get_by_text("Show more", exact=True).click()
    return watched


def description_of(watched):
    return watched.page.locator(".note-editor-preview-content")


def frame_of(watched):
    """Give MLflow's frame around an HTML artifact, once it shows something."""
    watched.page.frame_locator("iframe").locator("main").wait_for()
    [frame] = watched.page.frames[1:]
    return frame


def complaints_of_documents(watched):
    """Leave out what the UI complains of itself.

    Chromium says of each message which script or document it comes from. The UI is served over HTTP, and shows an
    artifact as a `blob:`; a document without scripts has nothing else that a message could come from.
    """
    return [text for text, source in watched.complaints if urlsplit(source).scheme not in {"http", "https"}]


def test_report_is_shown_in_mlflows_frame(normal_report):
    frame = frame_of(normal_report)

    assert frame.locator(".ordering").inner_text() == "eager > graph = graph_nojit > xla"
    assert frame.locator("h1").inner_text() == "EfficientNetV2S"


def test_pictures_take_up_room_in_mlflows_frame(normal_report):
    boxes = [picture.bounding_box() for picture in frame_of(normal_report).locator("img, svg").all()]

    assert len(boxes) == 4
    assert [box for box in boxes if min(box["width"], box["height"]) < 100] == []


@pytest.mark.parametrize("where", ["normal_report", "hostile_report", "normal_page", "hostile_page"])
def test_no_dialog_opens_and_nothing_is_asked_of_another_server(request, server, where):
    watched = request.getfixturevalue(where)
    watched.page.evaluate(TWO_FRAMES)

    assert [url for url in watched.requests if not url.removeprefix("blob:").startswith(server + "/")] == []
    assert watched.dialogs == []


@pytest.mark.parametrize("where", ["normal_report", "hostile_report"])
def test_browser_has_no_complaint_about_a_report_in_mlflow(request, where):
    watched = request.getfixturevalue(where)
    frame_of(watched).evaluate(TWO_FRAMES)

    assert complaints_of_documents(watched) == []


def test_script_smuggled_into_a_report_does_not_run_in_mlflow_and_its_refusal_is_heard(visit, hostile):
    """MLflow's frame lets scripts run; the page's own policy does not. And the test above hears complaints."""
    watched = visit(artifact(hostile, "smuggled.html"))
    frame = frame_of(watched)
    frame.locator(".end").wait_for()

    assert frame.evaluate("window.ran") is None
    assert any("Content Security Policy" in text for text in complaints_of_documents(watched))


def test_hostile_model_name_is_text_in_mlflows_frame(hostile_report):
    frame = frame_of(hostile_report)

    assert HOSTILE_NAME in frame.locator("h1").inner_text()
    assert frame.locator("img[src='x'], script").count() == 0


def test_run_list_has_one_line_for_a_benchmark_and_its_modes_below(visit, server, normal):
    page = visit(f"{server}/#/experiments/{normal.experiment_id}/runs").page
    parent = page.get_by_role("row").filter(has_text="tfexec EfficientNetV2S")
    parent.wait_for()
    before = page.get_by_role("link", name="xla", exact=True).count()
    parent.get_by_role("button").first.click()

    for mode in MODES:
        page.get_by_role("link", name=mode, exact=True).wait_for()
    assert before == 0


def test_metrics_of_a_mode_are_charts_in_sections(visit, normal):
    page = visit(f"{normal.url.replace(normal.run_id, normal.child_run_ids['xla'])}/model-metrics").page
    page.get_by_text("throughput", exact=True).wait_for()

    sections = [text.split() for text in page.get_by_test_id(SECTION).all_inner_texts()]
    assert {words[0]: words[1] for words in sections} == {
        "break_even": "(1)",
        "dispatch_ms": "(1)",
        "first_call_ms": "(2)",
        "latency_ms": "(10)",
        "memory": "(1)",
        "numerics": "(1)",
        "samples": "(1)",
        "speedup": "(3)",
        "throughput": "(1)",
        "Model": "metrics",
    }


def test_description_of_a_benchmark_is_its_report(normal_page):
    shown = description_of(normal_page)

    assert shown.locator("strong").first.inner_text() == "eager > graph = graph_nojit > xla"
    assert shown.locator("h3").all_inner_texts() == ["Pairs", "Where and how"]
    assert [name.strip() for name in shown.locator("table").first.locator("td:first-child").all_inner_texts()] == [
        *MODES[:4],
        "graph_control (A/A control, not ranked)",
    ]


def test_figures_of_a_description_stay_on_one_line(normal_page):
    """The page is narrow, and MLflow leaves tables without any style."""
    lines = description_of(normal_page).locator("table").first.locator("td:nth-child(n+2)").evaluate_all(LINES)

    assert len(lines) == 5 * 7
    assert set(lines) == {1}


def test_findings_are_a_list_in_a_description(hostile_page):
    findings = description_of(hostile_page).locator("h3:text('Findings') + ul > li")

    assert [text.split(":")[0] for text in findings.all_inner_texts()] == ["strange", "mode_failed"]


def test_hostile_text_is_text_in_a_description(hostile_page):
    shown = description_of(hostile_page)

    assert HOSTILE_NAME in shown.locator("h2").inner_text()
    assert "<script>alert(3)</script>" in shown.locator("table").first.inner_text()
    assert "strange: a | b <script>alert(5)</script>" in shown.inner_text()
    assert shown.locator("img, a, script, h1").count() == 0
