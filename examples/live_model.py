"""Measure a model that lives in this program.

A small Keras model with a layer of our own, made here and saved nowhere. Within an active MLflow run the benchmark
becomes a child of it. These are the smallest settings that still are a benchmark, so that it ends within a minute;
leave them out for a result to rely on.
"""

import keras
import mlflow

import mlflow_tfexec


class Scale(keras.layers.Layer):
    """Multiply by a learned number."""

    def build(self, input_shape):
        """Make the number."""
        del input_shape
        self.factor = self.add_weight(name="factor", initializer="ones")

    def call(self, x):
        """Multiply."""
        return self.factor * x


def main():
    """Make the model, measure it, print the report."""
    model = keras.Sequential(
        [keras.Input((32, 32, 3)), keras.layers.Conv2D(8, 3, activation="relu"), Scale(), keras.layers.Flatten()],
        name="small_net",
    )
    with mlflow.start_run(run_name="my experiment") as run:
        result = mlflow_tfexec.benchmark(
            model, modes=["eager", "graph", "xla"], preset="quick", rounds=3, warmup_s=0.5, block_ms=10
        )
    print(result)
    print(f"run {result.run_id} is a child of {run.info.run_id}")
    print(f"fastest: {result.judgement.fastest or 'undecided'}")


if __name__ == "__main__":
    main()
