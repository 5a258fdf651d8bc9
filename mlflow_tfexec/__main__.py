"""Run as `python -m mlflow_tfexec`."""

from mlflow_tfexec.cli.app import main

main()
