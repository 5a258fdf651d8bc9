"""Do what the parent asks, and turn whatever goes wrong into an answer."""

from collections.abc import Callable

from mlflow_tfexec.protocol import Action, Failure, Finished, Message, Request
from mlflow_tfexec.worker.channel import Channel
from mlflow_tfexec.worker.failures import describe_failure
from mlflow_tfexec.worker.mode_worker import ModeWorker


def serve(channel: Channel) -> None:
    """Answer requests until `finish` or a failure; one worker never outlives its first failure."""
    first = channel.receive()
    if first.start is None:
        channel.reply(Failure(status="run_failed", reason="the first request must be `start`"))
        return
    worker = ModeWorker(first.start)
    reply = _answer(worker, first)
    channel.reply(reply)
    while not isinstance(reply, Failure | Finished):
        reply = _answer(worker, channel.receive())
        channel.reply(reply)


def _answer(worker: ModeWorker, request: Request) -> Message:
    """Fulfil one request, or say why not."""
    actions: dict[Action, Callable[[], Message]] = {
        "start": worker.start,
        "build": worker.build,
        "first_call": worker.first_call,
        "pilot": worker.pilot,
        "block": lambda: worker.block(request.calls or 1, request.input_set),
        "finish": worker.finish,
    }
    try:
        return actions[request.do]()
    except BaseException as error:  # noqa: BLE001 - a model may raise anything, and all of it is an answer
        failure = describe_failure(error, stage=worker.stage)
        return failure.model_copy(update=worker.last_facts(failure))
