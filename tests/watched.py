"""A page in a browser, and a record of all that it does there."""

from dataclasses import dataclass, field


@dataclass
class Watched:
    """A page with the address of every request, every complaint (text, where it comes from) and every dialog."""

    page: object
    requests: list[str] = field(default_factory=list)
    complaints: list[tuple[str, str]] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append((str(error), self.page.url)))
        self.page.on("dialog", self._dismiss)

    def _hear(self, message):
        if message.type in {"error", "warning"}:
            self.complaints.append((message.text, message.location["url"]))

    def _dismiss(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()
