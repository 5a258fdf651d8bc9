"""Where a model came from that no path on this machine names."""

from mlflow_tfexec.records.line import Line


class ModelOrigin(Line):
    """What a reference into MLflow meant when the benchmark began: an alias may move later."""

    uri: str
    """A reference that will always mean the same model."""
    flavor: str
    """MLflow's flavor that it was loaded by."""
    model_id: str | None = None
    run_id: str | None = None
    """The run that logged the model."""


class LiveObject(Line):
    """What a benchmark from Python measured: an object of the calling program, which nothing on disk names."""

    kind: str
    """`Keras model`, `tf.Module`, `tf.function` or `callable`."""
    type: str
    """Qualified name of its class; of a function, its own."""
