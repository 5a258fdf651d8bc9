"""What every HTML page is made with."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template


def page_template(name: str) -> "Template":
    """Open a template of ours: text from outside is escaped, and a name that is not given is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("mlflow_tfexec.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # Our own markup, in which every text from outside is escaped already.
    environment.filters["svg"] = lambda drawing, prefix: Markup(drawing.svg(prefix=prefix))  # noqa: S704 - as said
    return environment.get_template(name)
