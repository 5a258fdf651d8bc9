"""The MLflow edge: where a benchmark goes, how it is written, how it is found again."""
