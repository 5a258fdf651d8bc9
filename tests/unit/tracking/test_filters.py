"""What is asked for, in MLflow's search grammar."""

import dataclasses

import pytest

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.tracking.filters import Query, benchmark_filter, mode_filter, since_ms, until_ms

KIND = "tags.`tfexec.kind` = 'benchmark'"
JAN_31_MS = 1_769_817_600_000
DAY_MS = 86_400_000


def test_nothing_asked_is_every_benchmark():
    assert benchmark_filter(Query()) == KIND


def test_a_sweep_is_found_by_its_family():
    assert benchmark_filter(Query(family="ab12")) == f"{KIND} AND tags.`tfexec.family` = 'ab12'"


def test_every_condition_is_in_the_filter_and_what_the_user_wrote_comes_last():
    query = Query(
        model="EfficientNetV2S",
        gpu="NVIDIA T4",
        tf_version="2.21.0",
        task="inference",
        since_ms=5,
        until_ms=7,
        extra="tags.`tfexec.fastest` = 'xla'",
    )

    assert benchmark_filter(query) == (
        f"{KIND} AND tags.`tfexec.model` = 'EfficientNetV2S' AND tags.`tfexec.gpu.name` = 'NVIDIA T4' "
        "AND tags.`tfexec.tf.version` = '2.21.0' AND tags.`tfexec.task` = 'inference' "
        "AND attributes.start_time >= 5 AND attributes.start_time <= 7 AND tags.`tfexec.fastest` = 'xla'"
    )


def test_a_mode_is_looked_for_among_nested_runs_without_the_parents_own_conditions():
    query = Query(model="m", mode="xla", since_ms=5, until_ms=7, extra="tags.`tfexec.fastest` = 'xla'")

    assert mode_filter(query) == (
        "tags.`tfexec.kind` = 'mode' AND tags.`tfexec.model` = 'm' AND tags.`tfexec.mode` = 'xla' "
        f"AND attributes.start_time >= 5 AND attributes.start_time <= {7 + DAY_MS}"
    )
    assert "tfexec.mode`" not in benchmark_filter(query)


def test_parents_of_nested_runs_are_looked_up_all_at_once():
    assert benchmark_filter(Query(extra="x"), ["a1", "b2"]) == f"{KIND} AND attributes.run_id IN ('a1', 'b2') AND x"


def test_a_run_id_that_could_end_the_list_is_refused():
    with pytest.raises(RequestError, match="cannot be looked up"):
        benchmark_filter(Query(), ["a') OR ('"])


@pytest.mark.parametrize(
    ("value", "quoted"),
    [
        ("it's", '"it\'s"'),
        ('a "b"', "'a \"b\"'"),
        ("100 %_", "'100 %_'"),
        ("a\\b", "'a\\b'"),
        ("a'' b", "\"a'' b\""),
        ("größe 模型", "'größe 模型'"),
        ("x' OR 'a' = 'a", "\"x' OR 'a' = 'a\""),
        ("x' -- ", '"x\' -- "'),
        ("", "''"),
    ],
)
def test_a_value_is_quoted_and_otherwise_untouched(value, quoted):
    assert benchmark_filter(Query(model=value)) == f"{KIND} AND tags.`tfexec.model` = {quoted}"


def test_a_value_that_ends_in_a_backslash_takes_quotes_that_do_not_occur_behind_it():
    assert benchmark_filter(Query(model="a\\")).endswith("tags.`tfexec.model` = 'a\\'")
    assert benchmark_filter(Query(model="a\\", task="b")).endswith("= \"a\\\" AND tags.`tfexec.task` = 'b'")


@pytest.mark.parametrize("option", ["model", "gpu", "tf_version", "task", "family", "mode"])
def test_a_value_with_both_kinds_of_quotes_is_refused_in_one_line_that_names_it(option):
    query = dataclasses.replace(Query(mode="x"), **{option: 'it\'s "x"'})

    with pytest.raises(RequestError) as caught:
        mode_filter(query)

    assert str(caught.value).startswith(f"--{option.replace('_', '-')} 'it\\'s \"x\"' has both kinds of quotes")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (Query(model="a\\", task="b'", gpu='c"'), "ends in a backslash"),
        (Query(model="a\\", extra="tags.x = 'y' AND tags.z = \"w\""), "ends in a backslash"),
        (Query(model="a\0b"), "not text that a tracking store can hold"),
        (Query(model="a\udc80"), "not text that a tracking store can hold"),
        (Query(model="m" * 8001), "has 8001 characters, and a tag at most 8000"),
    ],
)
def test_what_cannot_be_said_is_refused_in_a_short_line(query, why):
    with pytest.raises(RequestError, match=why) as caught:
        benchmark_filter(query)

    assert len(str(caught.value)) < 300
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-31", JAN_31_MS),
        (" 2026-01-31 ", JAN_31_MS),
        ("2026-01-31T12:00", JAN_31_MS + DAY_MS // 2),
        ("2026-01-31 12:00:30", JAN_31_MS + DAY_MS // 2 + 30_000),
        ("2026-01-31T12:00Z", JAN_31_MS + DAY_MS // 2),
        ("2026-01-31T12:00+02:00", JAN_31_MS + DAY_MS // 2 - 7_200_000),
        ("1970-01-01", 0),
        ("7d", JAN_31_MS - 7 * DAY_MS),
        ("12h", JAN_31_MS - DAY_MS // 2),
        ("90 MIN", JAN_31_MS - 5_400_000),
        ("2w", JAN_31_MS - 14 * DAY_MS),
        ("999999w", 0),
    ],
)
def test_times_are_days_times_in_utc_and_spans(text, expected):
    assert since_ms(text, now_ms=JAN_31_MS) == expected


def test_until_a_day_is_until_its_end_and_until_a_time_is_that_time():
    assert until_ms("2026-01-31", now_ms=0) == JAN_31_MS + DAY_MS - 1
    assert until_ms("2026-01-31T00:00", now_ms=0) == JAN_31_MS
    assert until_ms("1d", now_ms=JAN_31_MS) == JAN_31_MS - DAY_MS


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-02-30", "2026-1-3", "31.01.2026", "7", "7x", "-7d", "1.5d", "20260131", "2026-01-31T25:00",
     "2026-01-31T12:00+99:99", "٣d", "2026-01-31T12:00' OR", "9" * 5000],
)  # fmt: skip
def test_what_is_no_time_is_refused_in_one_line(text):
    with pytest.raises(RequestError, match=r"^--since .* is no time\. Give a day such as") as caught:
        since_ms(text, now_ms=0)

    assert len(str(caught.value)) < 300
    assert len(str(caught.value).splitlines()) == 1


def test_a_time_before_1970_is_refused():
    with pytest.raises(RequestError, match=r"^--until '1969-12-31T23:59' is before 1970"):
        until_ms("1969-12-31T23:59", now_ms=0)
