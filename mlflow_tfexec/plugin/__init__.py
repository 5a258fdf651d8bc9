"""What MLflow loads by itself, through the entry points of this package. The first `import mlflow` runs this file."""
