"""MLflow's entry point `mlflow.run_context_provider`: tags on every run that the fluent interface starts.

Every `import mlflow` loads this module while MLflow is half imported, and an error here would break that import for
everybody: so it imports the one module of MLflow that stands alone, and the rest of ours when the first run starts.
"""

from mlflow.tracking.context.abstract_context import RunContextProvider  # noqa: TID253 - loaded by MLflow itself


class EnvironmentContext(RunContextProvider):  # type: ignore[misc]  # MLflow is Any to mypy
    """Says in `tfexec.*` tags what a TensorFlow program runs on, in the words that benchmarks use.

    In context is every process where TensorFlow is installed, imported or not: tags are set when a run begins, which in
    many programs is before `import tensorflow`, and what they say is true of the machine in any case.
    """

    def in_context(self) -> bool:
        """Say whether there are tags to put: MLFLOW_TFEXEC_CONTEXT does not forbid it and TensorFlow is installed."""
        import os

        from mlflow_tfexec.tracking.environment_tags import environment_tags, is_switched_on

        return is_switched_on(os.environ) and bool(environment_tags())

    def tags(self) -> dict[str, str]:
        """Give the tags, the same throughout a process. What is not known is left out; there is no `mlflow.*` tag."""
        from mlflow_tfexec.tracking.environment_tags import environment_tags

        return dict(environment_tags())
