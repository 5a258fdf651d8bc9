"""A mode that runs out of memory is tried on smaller batches, once all measuring is over, and the recording says so."""

import pytest
from sessions import Bench, Witness, make_spec

from mlflow_tfexec.errors import Interrupted
from mlflow_tfexec.statistics.failure_advice import SMALLER_BATCH


def told(recording):
    """Give the findings on smaller batches by mode."""
    return {finding.mode: finding for finding in recording.findings if finding.code == SMALLER_BATCH}


@pytest.fixture(scope="module")
def lacking(tmp_path_factory):
    """Thirty-two items of which one mode can take nine, another none, beside one that takes any."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        bench = Bench(tmp_path_factory.mktemp("lacking"), monkeypatch)
        bench.behave(graph={"fits": 9}, xla={"fits": 0})
        witness = Witness()
        recording = bench.measure(make_spec("eager", "graph", "xla", batch_size=32), witness)
        yield bench, witness, recording


def test_a_batch_that_fits_is_told_with_its_peak_and_that_it_was_tried(lacking):
    _, _, recording = lacking

    found = told(recording)["graph"]
    assert found.what == "Out of memory with batch 16 as well. Batch 8 fits (peak 1 MiB), tried."
    assert found.what_to_try == "Measure with --batch-size 8."


def test_where_no_batch_fits_all_that_were_tried_are_listed(lacking):
    _, _, recording = lacking

    found = told(recording)["xla"]
    assert found.what == "No smaller batch fits, tried: 16, 8, 4, 2, 1."
    assert found.what_to_try is None


def test_a_mode_that_fits_is_not_tried(lacking):
    _, witness, recording = lacking

    assert set(told(recording)) == {"graph", "xla"}
    assert witness.trials == [("graph", 16), ("graph", 8), *(("xla", batch) for batch in (16, 8, 4, 2, 1))]


def test_tries_come_after_every_block_and_before_the_end(lacking):
    _, _, recording = lacking

    kinds = [line.kind for line in recording.lines]
    last_block = max(place for place, kind in enumerate(kinds) if kind == "block")
    tries = [
        place
        for place, line in enumerate(recording.lines)
        if line.kind == "finding" and line.finding.code == SMALLER_BATCH
    ]
    assert last_block < min(tries)
    assert kinds[-1] == "end"
    assert recording.end.status == "complete"


def test_every_try_is_a_process_of_its_own_with_a_log_of_its_own(lacking):
    bench, _, _ = lacking

    assert [name for name in bench.started() if name.startswith("graph")] == ["graph.0", "graph.1", "graph.2"]
    logs = {path.name for path in bench.spool.worker_log(0, "graph").parent.iterdir()}
    assert {"batch-16-graph.log", "batch-8-graph.log"} <= logs


def test_the_time_of_the_tries_is_a_phase_of_no_launch(lacking):
    _, _, recording = lacking

    (phase,) = (phase for phase in recording.phases if phase.name == "smaller_batch")
    assert phase.launch is None


def test_a_benchmark_that_lost_every_mode_to_memory_still_tells_a_batch_that_fits(bench):
    bench.behave(eager={"fits": 2}, graph={"fits": 2})

    recording = bench.measure(make_spec(batch_size=4))

    assert recording.end.status == "failed"
    assert [found.what for found in told(recording).values()] == ["Batch 2 fits (peak 1 MiB), tried."] * 2


def test_given_inputs_have_their_batch_and_nothing_is_tried(bench):
    bench.behave(graph={"fits": 2})

    recording = bench.measure(make_spec(batch_size=4, inputs="x.npz"))

    assert told(recording)["graph"].what == (
        "Smaller batches were not tried: the inputs were given (--inputs x.npz), and their batch with them."
    )
    assert bench.started() == ["eager.0", "graph.0"]


def test_a_model_built_for_one_batch_says_so(bench):
    lacking = {"raises": {"first_call": ["MemoryError", "no"]}, "only_launch": 0}
    bench.behave(eager={"batch_size": 4}, graph={"batch_size": 4, **lacking})

    recording = bench.measure(make_spec())

    assert told(recording)["graph"].what == ("Smaller batches could not be tried: batch size 2 does not fit the model.")


def test_a_single_item_has_no_smaller_batch(bench):
    bench.behave(graph={"fits": 0})

    assert told(bench.measure(make_spec(batch_size=1))) == {}


def test_a_try_that_crashes_shows_nothing_and_is_told_as_it_ended(bench):
    bench.behave(graph={"fits": 4, "exits": {"start": 77}, "only_launch": 1})

    recording = bench.measure(make_spec(batch_size=8))

    assert told(recording)["graph"].what == "Batch 4 ended as crashed: ended with exit code 77."


def test_nothing_is_tried_once_the_time_budget_is_used_up(bench):
    bench.behave(graph={"fits": 4})

    # No launch takes less than a microsecond.
    recording = bench.measure(make_spec(batch_size=8, time_budget_s=1e-6))

    assert told(recording)["graph"].what == ("Batch 4 and smaller ones were not tried: the time for it had run out.")
    assert bench.started() == ["eager.0", "graph.0"]


def test_ten_tries_are_the_most(bench):
    bench.behave(graph={"fits": 0})

    recording = bench.measure(make_spec(batch_size=2**12))

    assert told(recording)["graph"].what.endswith("Batch 2 and smaller ones were not tried: 10 had been.")


def test_an_interruption_of_the_tries_leaves_a_whole_benchmark(bench):
    bench.behave(graph={"fits": 2})
    witness = Witness(raises=Interrupted("Interrupted by SIGINT."), at=("trying", 1))

    with pytest.raises(Interrupted):
        bench.measure(make_spec(batch_size=8), witness)

    recording = bench.spool.load()
    assert recording.end.status == "complete"
    assert told(recording) == {}
    assert not bench.spool.scratch.exists()
