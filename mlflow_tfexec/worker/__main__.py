"""Run one worker: `python -m mlflow_tfexec.worker`, started by the session only."""

from mlflow_tfexec.worker.channel import Channel


def main() -> None:
    """Serve the parent on the channel that was this process's standard input and output."""
    # Taken over before anything else is imported: a library that prints on import must not reach the parent.
    channel = Channel.take_over()
    from mlflow_tfexec.worker.serve import serve

    serve(channel)


if __name__ == "__main__":
    main()
