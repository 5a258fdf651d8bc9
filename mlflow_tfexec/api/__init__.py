"""The Python interface: `mlflow_tfexec.benchmark`, its result, and logging it to MLflow."""
