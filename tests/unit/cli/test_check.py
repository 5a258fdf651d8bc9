"""`check`: exit codes, the one line, JUnit, and what `latest` is."""

import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest
from recordings import SEED_TABLE_MS, make_recording, write_recording

from mlflow_tfexec.cli import app, latest
from mlflow_tfexec.errors import RecordingError, RequestError
from mlflow_tfexec.records.recording import End
from mlflow_tfexec.tracking import keys

TENTH_SLOWER = {mode: time_ms * 1.1 for mode, time_ms in SEED_TABLE_MS.items()}
NOISY = {"launch_noise": 0.08}


@pytest.fixture
def check(capsys):
    """Run `check` and return its exit code, standard output and standard error."""

    def run(*arguments):
        code = app.run(["check", *map(str, arguments)])
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def written(tmp_path):
    """Write a recording named by one letter and return its path."""

    def write(name, times_ms=SEED_TABLE_MS, **more):
        recording = make_recording(times_ms, **{"benchmark_id": name * 32, "seed": ord(name), **more})
        return write_recording(recording, tmp_path / name)

    return write


def test_a_tenth_slower_is_3_and_one_line(check, written):
    code, out, err = check(written("b", TENTH_SLOWER), "--against", written("a"))

    assert code == 3
    assert "mlflow-tfexec: Every mode is slower in B than in A: 1." in err
    assert out.startswith("regression: eager slower, 1.")
    assert out.endswith(f". EfficientNetV2S, against benchmark {'a' * 32}, margin 0.05\n")
    assert out.count("\n") == 1


def test_the_same_build_is_0(check, written):
    code, out, err = check(written("b", launches=5), "--against", written("a", launches=5))

    assert (code, err) == (0, "")
    assert out.startswith("passed: eager equivalent, ")


@pytest.mark.parametrize("seed", range(20))
def test_the_same_build_is_never_3_however_noisy(check, written, seed):
    new, base = written("b", seed=2 * seed, **NOISY), written("a", seed=2 * seed + 1, **NOISY)

    assert check(new, "--against", base)[0] == 0


def test_undecided_passes_unless_it_is_to_fail(check, written):
    pair = written("b", **NOISY), "--against", written("a", **NOISY)

    code, out, err = check(*pair)
    assert code == 0
    assert out.startswith("undecided: eager undecided, ")
    assert check(*pair, "--undecided", "pass") == (0, out, err)
    assert check(*pair, "--undecided", "FAIL") == (3, out, err)


def test_a_margin_lets_a_slow_down_through(check, written):
    pair = written("b", TENTH_SLOWER), "--against", written("a")

    assert check(*pair, "--margin", "0.2")[0] == 0


def test_only_the_modes_named_are_checked(check, written):
    pair = written("b", SEED_TABLE_MS | {"xla": 15.0}), "--against", written("a")

    assert check(*pair)[0] == 3
    assert check(*pair, "--mode", "eager", "--mode", "graph")[0] == 0


def test_a_mode_that_has_crashed_since_is_3(check, written):
    code, out, _ = check(written("b", statuses={"xla": "crashed"}), "--against", written("a"))

    assert code == 3
    assert out.startswith("regression: xla was ok before and is crashed now (xla ended as crashed). ")


def test_relative_to_a_mode_a_slower_machine_is_let_through(check, written, tmp_path):
    pair = written("b", TENTH_SLOWER, launches=5), "--against", written("a", launches=5)

    code, out, err = check(*pair, "--relative-to", "eager", "--junit", tmp_path / "results.xml")

    assert (code, err) == (0, "")
    assert out.startswith("passed: graph equivalent, ")
    assert out.endswith(", margin 0.05, relative to eager\n")
    properties = ET.parse(tmp_path / "results.xml").getroot().iter("property")
    assert {"name": "relative_to", "value": "eager"} in [one.attrib for one in properties]


def test_another_machine_is_refused_and_checked_when_asked(check, written):
    pair = written("b", environment={"cpu": {"name": "Other"}}), "--against", written("a")

    code, out, err = check(*pair)
    assert (code, out) == (2, "")
    assert "differ in machine (CPU)" in err
    assert check(*pair, "--allow-mixed")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "refused"),
    [
        (["--undecided", "maybe"], "No outcome for --undecided named 'maybe'. Known: pass, fail."),
        (["--margin", "-1"], "--margin '-1' is out of range."),
        (["--mode", "xlla"], "Mode 'xlla' cannot be checked (before: not asked for, now: not asked for)."),
        (["--junit", "nowhere/at/all.xml"], "Cannot write 'nowhere/at/all.xml': No such file or directory."),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(check, written, arguments, refused):
    code, out, err = check(written("b"), "--against", written("a"), *arguments)

    assert (code, out) == (2, "")
    assert err.startswith(f"mlflow-tfexec: {refused}")
    assert len(err.splitlines()) == 1


def test_without_against_nothing_is_checked(check, written):
    code, _, err = check(written("a"))

    assert code == 2
    assert "--against" in err


def junit(check, written, tmp_path, *arguments, new, base=None):
    path = tmp_path / "results.xml"
    code, _, _ = check(written("b", **new), "--against", written("a", **(base or {})), "--junit", path, *arguments)
    return code, ET.parse(path).getroot()


def test_junit_has_a_case_for_each_mode(check, written, tmp_path):
    slower = {"times_ms": SEED_TABLE_MS | {"xla": 15.0}, "launches": 5}

    code, root = junit(check, written, tmp_path, new=slower, base={"launches": 5})

    suite = root.find("testsuite")
    assert code == 3
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "1",
        "errors": "0",
        "skipped": "0",
    }
    assert [case.get("name") for case in suite.iter("testcase")] == ["eager", "graph", "graph_nojit", "xla"]
    [failure] = suite.iter("failure")
    assert failure.get("type") == "regression"
    assert failure.get("message").startswith("slower, 1.29")
    assert {p.get("name"): p.get("value") for p in suite.iter("property")} == {
        "benchmark": "b" * 32,
        "against": "a" * 32,
        "margin": "0.05",
    }


def test_junit_skips_what_is_undecided_and_fails_it_when_asked(check, written, tmp_path):
    code, root = junit(check, written, tmp_path, new=NOISY, base=NOISY)
    assert (code, root.get("failures"), root.get("skipped")) == (0, "0", "4")
    assert len(list(root.iter("skipped"))) == 4

    code, root = junit(check, written, tmp_path, "--undecided", "fail", new=NOISY, base=NOISY)
    assert (code, root.get("failures"), root.get("skipped")) == (3, "4", "0")
    assert {failure.get("type") for failure in root.iter("failure")} == {"undecided"}


def test_text_from_outside_is_only_text_in_junit(check, written, tmp_path):
    hostile = "<a>&\"'\x1b[2J\ufffe\uffff]]>\n=1"

    _, root = junit(check, written, tmp_path, new={"model": hostile}, base={"model": hostile})

    assert root.find("testsuite").get("name") == "<a>&\"' [2J]]> =1"


# What `latest` is.


@pytest.fixture
def store(monkeypatch):
    """Stand in for a tracking store that holds the given recordings, newest first; returns what was asked of it."""

    def hold(*recordings, gone=()):
        asked = []
        runs = {f"run-{place}": recording for place, recording in enumerate(recordings)}

        def find_benchmarks(query, *, tracking_uri):
            asked.append((query, tracking_uri))
            return [found(run_id, recording) for run_id, recording in runs.items()]

        def read_recording(one, *, tracking_uri):
            asked.append(one.run_id)
            if one.run_id in gone:
                raise RecordingError("gone")
            return runs[one.run_id]

        monkeypatch.setattr(latest, "find_benchmarks", find_benchmarks)
        monkeypatch.setattr(latest, "read_recording", read_recording)
        return asked

    return hold


def found(run_id, recording):
    facts = {keys.CPU_NAME: recording.header.environment.get("cpu", {}).get("name")}
    return SimpleNamespace(
        run_id=run_id,
        benchmark_id=recording.header.benchmark_id,
        status=recording.end.status if recording.end else "partial",
        tags={tag: fact for tag, fact in facts.items() if fact is not None},
    )


def recording(name, **more):
    environment = {"cpu": {"name": "One"}, **more.pop("environment", {})}
    return make_recording(**{"benchmark_id": name * 32, "environment": environment, **more})


def test_latest_is_the_first_that_is_another_complete_and_like(store):
    like = recording("f")
    asked = store(
        recording("n"),
        recording("c", end=End(status="interrupted")),
        recording("d", environment={"cpu": {"name": "Other"}}),
        recording("e", batch_size=8),
        like,
        recording("g"),
    )

    assert latest.latest_before(recording("n"), tracking_uri="uri", any_machine=False) is like
    (query, uri), *downloaded = asked
    assert (query.model, query.task, query.until_ms, uri) == ("EfficientNetV2S", "inference", 1769860800000, "uri")
    assert downloaded == ["run-3", "run-4"]


def test_latest_passes_over_recordings_that_are_gone(store):
    store(recording("e"), recording("f"), gone=["run-0"])

    assert latest.latest_before(recording("n"), tracking_uri=None, any_machine=False).header.benchmark_id == "f" * 32


def test_latest_of_any_machine_is_the_newest(store):
    store(recording("d", environment={"cpu": {"name": "Other"}}), recording("f"))

    assert latest.latest_before(recording("n"), tracking_uri=None, any_machine=True).header.benchmark_id == "d" * 32


def test_without_an_earlier_benchmark_latest_is_refused(store):
    store(recording("n"))

    with pytest.raises(RequestError, match="No earlier benchmark of 'EfficientNetV2S' with the same inputs"):
        latest.latest_before(recording("n"), tracking_uri=None, any_machine=False)


def test_a_time_that_cannot_be_read_asks_for_any_time(store):
    asked = store(recording("f"))
    new = recording("n")
    object.__setattr__(new, "header", new.header.model_copy(update={"created": "yesterday"}))

    latest.latest_before(new, tracking_uri=None, any_machine=False)

    assert asked[0][0].until_ms is None


def test_against_latest_asks_the_store(check, store, tmp_path):
    store(recording("f"))
    path = write_recording(recording("n", times_ms=TENTH_SLOWER), tmp_path)

    code, out, _ = check(path, "--against", "latest")

    assert code == 3
    assert f"against benchmark {'f' * 32}" in out
