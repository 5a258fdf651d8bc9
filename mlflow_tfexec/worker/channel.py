"""The worker's end of the channel to its parent."""

import os
import queue
import threading
from typing import BinaryIO

from mlflow_tfexec.protocol import Message, Request, read_request, send

EXIT_PARENT_GONE = 3


class Channel:
    """Requests come in, replies go out; standard input and output are nobody's any more."""

    def __init__(self, requests: BinaryIO, replies: BinaryIO) -> None:
        self._replies = replies
        self._incoming: queue.SimpleQueue[Request] = queue.SimpleQueue()
        threading.Thread(target=self._listen, args=(requests,), daemon=True).start()

    @classmethod
    def take_over(cls) -> "Channel":
        """Move the channel from descriptors 0 and 1 to private ones.

        From then on whatever is printed, by Python or by C++, goes to standard error, which is the worker's log.
        """
        requests, replies = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        _make_binary(requests, replies)
        return cls(os.fdopen(requests, "rb"), os.fdopen(replies, "wb"))

    def receive(self) -> Request:
        """Wait for the next request."""
        return self._incoming.get()

    def reply(self, message: Message) -> None:
        """Answer the parent. Ends the process when the parent is gone."""
        try:
            send(self._replies, message)
        except OSError:
            os._exit(EXIT_PARENT_GONE)

    def _listen(self, requests: BinaryIO) -> None:
        """Read requests in a thread of its own, so that a parent's death ends us even inside a long call.

        The thread sleeps in a read while anything is timed.
        """
        for line in requests:
            request = read_request(line)
            if request is not None:
                self._incoming.put(request)
        os._exit(EXIT_PARENT_GONE)


def _make_binary(*descriptors: int) -> None:
    """Stop Windows from translating line ends."""
    if os.name == "nt":  # pragma: no cover - Windows only
        import msvcrt

        for descriptor in descriptors:
            msvcrt.setmode(descriptor, os.O_BINARY)  # type: ignore[attr-defined]  # exists on Windows only
