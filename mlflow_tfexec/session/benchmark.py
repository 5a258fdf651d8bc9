"""One benchmark from its first launch to its last line."""

from collections.abc import Mapping
from typing import Literal

from mlflow_tfexec.measurement.environment import describe_host
from mlflow_tfexec.protocol import ModelSource
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.recording import End
from mlflow_tfexec.records.spec import Spec
from mlflow_tfexec.session.clock import utc_now
from mlflow_tfexec.session.launch import Launch
from mlflow_tfexec.session.look import look
from mlflow_tfexec.session.observer import Observer
from mlflow_tfexec.session.smaller_batch import try_smaller_batches
from mlflow_tfexec.session.state import BenchmarkState
from mlflow_tfexec.spool import SpooledBenchmark


def run_session(
    spec: Spec,
    spool: SpooledBenchmark,
    observer: Observer,
    *,
    variables: Mapping[str, Mapping[str, str]],
    findings: tuple[Finding, ...] = (),
    source: ModelSource | None = None,
    smaller_batches: bool = True,
) -> None:
    """Measure *spec* and write its recording into *spool*, line by line; end early once all is decided.

    Args:
        spec: what is to be measured.
        spool: a created, empty directory of the spool.
        observer: told of every step.
        variables: mode → environment variables that its process starts with.
        findings: what the request itself brought to light.
        source: where the model lies, if its reference names it elsewhere.
        smaller_batches: whether to try which batch fits, in the end, for modes that ran out of memory.

    Raises:
        RequestError: the model or the device cannot be had as asked; nothing was measured, the spool is removed.
        Interrupted: the recording holds what was measured until then.
        SpoolError: the disk is full.
    """
    state = BenchmarkState(
        spec=spec, spool=spool, observer=observer, environment=describe_host(), variables=variables, source=source
    )
    for finding in findings:
        state.add_finding(finding)
    status: Literal["complete", "interrupted", "failed"] = "failed"
    is_measured = False
    try:
        for number in range(spec.launches):
            Launch(state, number).run()
            if not state.modes() or look(state, number + 1):
                break
        status = "complete" if state.modes() else "failed"
        is_measured = True
        if smaller_batches:
            try_smaller_batches(state)
    except KeyboardInterrupt:
        if not is_measured:
            status = "interrupted"
        raise
    finally:
        if state.header is None:
            spool.discard()
        else:
            state.clock.write(spool)
            spool.append(End(status=status, ended=utc_now()))
            spool.close()
