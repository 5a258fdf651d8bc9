"""What attaching would write, and what it would lose, on made-up targets."""

import copy
import json

import pytest
from jsonschema import Draft202012Validator
from recordings import make_recording

from mlflow_tfexec.statistics.judge import judge
from mlflow_tfexec.tracking import attachment, content
from mlflow_tfexec.tracking.attachment import Change, describe, document, parse, plan

TIMES_MS = {"eager": 10.0, "graph": 8.0, "xla": 5.0, "graph_control": 8.0}
NOW, LATER = "2026-02-01T00:00:00Z", "2026-02-02T00:00:00Z"
SCHEMA = Draft202012Validator(attachment.schema())
NOTHING = Change(deleted=(), tags={}, metrics={}, replaced={}, left=())


def described(times_ms=TIMES_MS, **fields):
    recording = make_recording(times_ms, **fields)
    return describe(recording, judge(recording))


def planned(one, tags=None, metrics=None, *, now=NOW, run_id="r1", takes_metrics=True):
    held = (metrics or {}) if takes_metrics else None
    return plan(one, "tfexec", run_id=run_id, now=now, held_tags=tags or {}, held_metrics=held)


def test_the_control_and_modes_that_are_not_ranked_are_no_headline():
    one = described(statuses={"xla": "outputs_differ"})

    assert [mode.mode for mode in one.modes] == ["eager", "graph", "xla"]
    assert set(attachment.metrics(one, "tfexec")) == {
        "tfexec/latency_ms/eager",
        "tfexec/latency_ms/graph",
        "tfexec/speedup/graph_vs_eager",
    }
    assert attachment.tags(one, "tfexec", run_id=None)["tfexec.fastest"] == "graph"


def test_what_is_not_known_is_an_absent_tag_and_null_in_json():
    one = described()
    tags = attachment.tags(one, "p", run_id=None)

    assert all(tags.values())
    assert "p.benchmark_run_id" not in tags
    assert document(one, target="t", run_id=None, attached=None)["device"]["gpu"] is None


def test_the_tag_that_holds_all_is_set_last_and_removed_first():
    first = planned(described())
    second = planned(described(benchmark_id="b" * 32), dict(first.tags), dict(first.metrics), now=LATER)

    assert list(first.tags)[-1] == list(second.tags)[-1] == "tfexec.attachment"
    assert second.deleted[0] == "tfexec.attachment"
    assert second.tags["tfexec.attached"] == LATER


def test_the_same_again_changes_nothing():
    first = planned(described())

    assert planned(described(), dict(first.tags), dict(first.metrics), now=LATER) == NOTHING
    assert planned(described(), dict(first.tags), dict(first.metrics), now=LATER, run_id=None) == NOTHING


@pytest.mark.parametrize("written", range(9))
def test_what_broke_off_is_completed_without_losing_anything(written):
    whole = planned(described())
    held = dict(list(whole.tags.items())[:written])
    rest = planned(described(), held, dict(whole.metrics), now=LATER)

    assert rest.replaced == {}
    assert rest.deleted == ()
    assert set(held) | set(rest.tags) == set(whole.tags)
    assert not set(held) & set(rest.tags)


def test_one_tag_that_was_changed_is_found_and_put_back_with_all_that_goes_with_it():
    whole = planned(described())
    change = planned(described(), whole.tags | {"tfexec.fastest": "eager"}, dict(whole.metrics), now=LATER)

    assert change.replaced == {"tfexec.fastest": "eager"}
    assert set(change.deleted) == set(change.tags) == {"tfexec.fastest", "tfexec.attached", "tfexec.attachment"}


def test_a_target_without_metrics_is_given_none():
    assert planned(described(), takes_metrics=False).metrics == {}


def test_metrics_of_others_are_neither_counted_nor_named():
    evaluated = {"tfexec/latency_ms/median/old": 1.0, "tfexec/speedup/vs_eager/old": 1.0}
    others = {"loss": 0.5, "latency_ms/xla": 3.0, **evaluated}
    change = planned(described(), metrics={**others, "tfexec/latency_ms/old": 1.0})

    assert change.replaced == {}
    assert change.left == ("tfexec/latency_ms/old",)


def test_long_texts_from_outside_are_cut_so_that_the_json_stays_whole():
    one = described(model="ü" * 5000, environment={"cpu": {"name": "c" * 7000}})
    text = attachment.tags(one, "tfexec", run_id=None)["tfexec.attachment"]

    assert len(text) <= content.TAG_LIMIT
    assert parse(text).modes == one.modes


def test_text_from_outside_comes_back_as_it_was():
    one = described(model='live:/a "b"\n\x1b[2J ü \u202e')

    assert parse(attachment.tags(one, "tfexec", run_id=None)["tfexec.attachment"]) == one


def valid():
    return json.loads(json.dumps(document(described(launches=1), target="runs:/a", run_id=None, attached=NOW)))


def test_the_schema_is_one_and_takes_what_is_written():
    Draft202012Validator.check_schema(attachment.schema())
    SCHEMA.validate(valid())


@pytest.mark.parametrize("key", sorted(valid()))
def test_the_schema_asks_for_every_key(key):
    incomplete = valid()
    del incomplete[key]

    assert not SCHEMA.is_valid(incomplete)
    assert not SCHEMA.is_valid(valid() | {f"{key}_": 1})


@pytest.mark.parametrize("place", ["device", "versions", "modes"])
def test_the_schema_asks_for_every_key_inside(place):
    inner = valid()[place][0] if place == "modes" else valid()[place]
    for key in inner:
        incomplete = copy.deepcopy(valid())
        del (incomplete[place][0] if place == "modes" else incomplete[place])[key]
        assert not SCHEMA.is_valid(incomplete), key
