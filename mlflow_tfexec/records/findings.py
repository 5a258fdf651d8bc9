"""A warning as data, so that every report can show it and a program can test for it."""

from pydantic import BaseModel, ConfigDict


class Finding(BaseModel):
    """Something the reader must know before believing a number."""

    model_config = ConfigDict(frozen=True, extra="allow")

    code: str
    """Stable identifier, such as `cpu_only`; one word per kind of finding."""
    what: str
    """What was seen, with its figures."""
    why: str | None = None
    """Why it matters, or why it may have happened."""
    what_to_try: str | None = None
    mode: str | None = None
    """None when it concerns the whole benchmark."""

    def sentence(self) -> str:
        """Put the finding into one line of plain text."""
        parts = [f"{self.mode}: {self.what}" if self.mode else self.what, self.why, self.what_to_try]
        return " ".join(part for part in parts if part)
