"""The table of every timed call, as CSV and as Parquet."""

import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from recordings import make_recording

from mlflow_tfexec.exports import formats
from mlflow_tfexec.exports._calls import CallRow, call_rows
from mlflow_tfexec.records.recording import Block, Health
from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.statistics.rounds import read_rounds

ROOT = Path(__file__).parents[3]
SMALL = make_recording({"eager": 2.0, "graph": 1.0}, launches=2, rounds=6, calls=3)


def exported(name, *recordings):
    stream = io.BytesIO()
    formats()[name].write(recordings, stream)
    return stream.getvalue()


def read_csv(content):
    import pandas as pd

    return pd.read_csv(io.BytesIO(content))


def read_parquet(content):
    import pandas as pd

    return pd.read_parquet(io.BytesIO(content))


def frame_of(rows):
    import pandas as pd

    return pd.DataFrame(rows)


def assert_alike(one, other):
    from pandas.testing import assert_frame_equal

    # Whether a text is of kind object or string is the reader's choice.
    assert_frame_equal(one, other, check_dtype=False)


READERS = {"csv": read_csv, "parquet": read_parquet}


def with_lines(recording, *lines):
    return replace(recording, lines=(*recording.lines, *lines))


def block(**facts):
    place = {"launch": 0, "round": 0, "position": 0, "mode": "eager", "metric": "latency"}
    return Block(**(place | facts))


def test_formats_are_found_by_name():
    assert {name: (found.extension, found.is_text) for name, found in formats().items()} == {
        "csv": (".csv", True),
        "json": (".json", True),
        "parquet": (".parquet", False),
        "pyperf": (".json", True),
    }


def test_first_lines_of_a_csv_are_these():
    lines = [
        block(calls_ns=(5, 7), warmup=True),
        block(calls_ns=(4,), mode="=1+1"),
        block(metric="throughput", calls=9),
    ]
    whole = block(metric="throughput", calls=9, total_ns=30, round=1, position=1, launch=1)
    recording = replace(SMALL, lines=(*lines, whole))

    assert exported("csv", recording).decode() == (
        "benchmark_id,mode,launch,round,position,metric,warmup,valid,counted,call,calls,duration_ns\n"
        "0123456789abcdef0123456789abcdef,eager,0,0,0,latency,true,true,false,0,1,5\n"
        "0123456789abcdef0123456789abcdef,eager,0,0,0,latency,true,true,false,1,1,7\n"
        "0123456789abcdef0123456789abcdef,'=1+1,0,0,0,latency,false,true,true,0,1,4\n"
        "0123456789abcdef0123456789abcdef,eager,1,1,1,throughput,false,true,true,0,9,30\n"
    )


@pytest.mark.parametrize("name", READERS)
def test_pandas_reads_every_call_with_its_type(name):
    frame = READERS[name](exported(name, SMALL))

    # 2 launches × (2 warm-up + 6) rounds × 2 modes × (3 latencies + 3 dispatches + 1 throughput)
    assert len(frame) == 2 * 8 * 2 * 7
    assert list(frame.columns) == list(CallRow._fields)
    assert {column: frame[column].dtype.kind for column in ("launch", "round", "position", "call", "calls")} == {
        "launch": "i",
        "round": "i",
        "position": "i",
        "call": "i",
        "calls": "i",
    }
    assert {frame[column].dtype.kind for column in ("warmup", "valid", "counted")} == {"b"}
    assert frame["duration_ns"].dtype == "int64"
    assert not frame.isna().any().any()


def test_csv_and_parquet_hold_the_same_table():
    assert_alike(read_csv(exported("csv", SMALL)), read_parquet(exported("parquet", SMALL)))


@pytest.mark.parametrize("name", READERS)
def test_median_of_the_judgement_follows_from_the_counted_rows(name):
    recording = with_lines(
        SMALL, block(round=1, calls_ns=(1,), valid=False), Health(launch=0, round=2, bad="throttled")
    )
    frame = READERS[name](exported(name, recording))

    rows = frame[frame["counted"] & (frame["metric"] == "latency")]
    rounds = rows.groupby(["mode", "launch", "round"])["duration_ns"].median()
    launches = rounds.groupby(["mode", "launch"]).median()
    judged = judge(recording)
    for mode in ("eager", "graph"):
        first, second = launches[mode]
        assert (first * second) ** 0.5 / 1e6 == pytest.approx(judged.mode(mode).latency_ms.median, rel=1e-12)


def test_what_the_statistics_leave_out_is_not_counted():
    recording = with_lines(
        make_recording({"eager": 2.0}, launches=1, rounds=6, calls=1), Health(launch=0, round=3, bad="throttled")
    )

    rows = [row for row in call_rows(recording) if row.metric == "latency"]
    assert {row.round for row in rows if row.counted} == {0, 1, 2, 4, 5}
    assert [row.counted for row in rows if row.warmup] == [False, False]


def test_of_two_blocks_of_one_round_the_later_counts():
    recording = replace(SMALL, lines=(block(calls_ns=(5,)), block(calls_ns=(6,)), block(calls_ns=(0,), round=1)))

    assert [(row.duration_ns, row.counted) for row in call_rows(recording)] == [(5, False), (6, True), (0, False)]


def test_counted_calls_are_those_of_the_statistics():
    counted = [
        row.duration_ns for row in call_rows(SMALL) if row.counted and (row.mode, row.metric) == ("eager", "latency")
    ]

    assert counted == read_rounds(SMALL).all_calls_ns("eager").tolist()


@pytest.mark.parametrize("name", READERS)
def test_several_benchmarks_share_one_table(name):
    other = make_recording({"eager": 2.0, "graph": 1.0}, launches=1, benchmark_id="f" * 32)

    frame = READERS[name](exported(name, SMALL, other))

    assert list(frame["benchmark_id"].unique()) == ["0123456789abcdef0123456789abcdef", "f" * 32]


@pytest.mark.parametrize("name", READERS)
def test_a_benchmark_without_timings_is_an_empty_table(name):
    nothing = replace(SMALL, lines=())

    frame = READERS[name](exported(name, nothing))

    assert (len(frame), list(frame.columns)) == (0, list(CallRow._fields))


@pytest.mark.parametrize("name", sorted(formats()))
def test_same_recording_gives_the_same_bytes(name):
    assert exported(name, SMALL) == exported(name, SMALL)


def test_a_large_table_is_written_in_parts(monkeypatch):
    monkeypatch.setattr("mlflow_tfexec.exports.parquet._ROWS_AT_ONCE", 10)

    assert_alike(read_parquet(exported("parquet", SMALL)), frame_of(call_rows(SMALL)))


def test_finding_every_format_imports_nothing_heavy():
    heavy = ["pandas", "pyarrow", "pyperf", "matplotlib", "tensorflow", "mlflow"]
    code = f"import sys, mlflow_tfexec.exports as e; e.formats(); print(sorted({{*{heavy}}} & set(sys.modules)))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)

    assert done.stdout == "[]\n"
