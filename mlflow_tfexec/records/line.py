"""What every line of a recording, and every part of one, has in common."""

from pydantic import BaseModel, ConfigDict


class Line(BaseModel):
    """One line of a recording. Unknown keys are kept, so that later versions lose nothing when copied."""

    model_config = ConfigDict(frozen=True, extra="allow", protected_namespaces=())
