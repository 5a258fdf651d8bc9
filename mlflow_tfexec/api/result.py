"""What a benchmark from Python returns."""

import html
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlflow_tfexec.records.judgement import Judgement
from mlflow_tfexec.records.recording import Recording

if TYPE_CHECKING:
    from mlflow_tfexec.reports import Table


@dataclass(frozen=True, repr=False)
class Benchmark:
    """A benchmark that has been measured and judged. Printed it is the report; in a notebook it shows as one."""

    recording: Recording
    """Everything raw."""
    judgement: Judgement
    """What is claimed of it."""
    recording_path: Path
    """The recording on disk, `recording.jsonl` in the benchmark's directory of the spool."""
    run_id: str | None = None
    """The benchmark's own MLflow run. None: MLflow does not have it."""
    url: str | None = None
    """The run's page on the tracking server. None: it is not there, or there is no server."""
    logging_error: str | None = None
    """Why MLflow did not take it. None: it did, or was not asked to."""
    where: tuple[tuple[str, str], ...] = ()
    """(label, text): where it is kept, as reports say it."""

    @property
    def benchmark_id(self) -> str:
        """What the runs and the directory of this benchmark are named by."""
        return self.recording.header.benchmark_id

    @property
    def sync_command(self) -> str | None:
        """The command that logs it to MLflow. None: MLflow has it."""
        return None if self.run_id is not None else f"mlflow-tfexec sync {self.recording_path.parent}"

    def report(self, format: str = "markdown") -> str:  # noqa: A002 - what `report --format` is called
        """Give the report that the command `report` prints: "console", "markdown", "html", "json" or "csv".

        Raises:
            RequestError: there is no such format.
        """
        from mlflow_tfexec.benchmarking.request import one_of
        from mlflow_tfexec.reports import formats

        known = formats()
        return known[one_of("format", format, tuple(known))].render(self._table())

    def to_dict(self) -> dict[str, Any]:
        """Give what `report --format json` prints for one benchmark, as a dictionary. What is not known is None."""
        import json

        [one] = json.loads(self.report("json"))["benchmarks"]
        return dict(one)

    def __str__(self) -> str:
        return self.report("console").rstrip("\n")

    def __repr__(self) -> str:
        kept = f"run {self.run_id}" if self.run_id is not None else str(self.recording_path)
        return f"<Benchmark {self.judgement.model}: {self.judgement.ordering or 'not measured'}; {kept}>"

    def _repr_html_(self) -> str:
        """Show the HTML report in a notebook's cell.

        In a frame of its own: its styles touch nothing around it, and it can run no script and reach nothing.
        """
        page = html.escape(self.report("html"), quote=True)
        title = html.escape(self.judgement.model, quote=True)
        return (
            f'<iframe title="Benchmark of {title}" sandbox="" srcdoc="{page}" '
            'style="width: 100%; height: 40em; border: 0; resize: vertical; overflow: auto"></iframe>'
        )

    def _table(self) -> "Table":
        from mlflow_tfexec import reports

        return reports.table([(self.recording, self.judgement)], where={self.benchmark_id: list(self.where)})
