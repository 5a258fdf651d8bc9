"""A picture beside a table that says the same, as SVG to lay into a page and as PNG to keep."""

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from mlflow_tfexec.reports._text import plain, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SVG = "http://www.w3.org/2000/svg"
_HREF = "{http://www.w3.org/1999/xlink}href"
_DOTS_PER_INCH = 150
_MAX_HEADING = 80

# What matplotlib says once for the whole picture with a rule for `*`, which in a page would be a rule for the page.
_LINES = "stroke-linejoin: round; stroke-linecap: butt"


@dataclass(frozen=True)
class Drawing:
    """One picture of a benchmark, not yet drawn. Every text is one line and free of control characters."""

    name: str
    """One word, fit for a file."""
    title: str
    caption: str
    """What it shows and how to read it."""
    width_in: float
    height_in: float
    draw: Callable[["Figure"], None]
    heads: tuple[str, ...]
    """Of the table that says the same."""
    rows: tuple[tuple[str, ...], ...]
    """The first cell of each names it."""

    def svg(self, *, prefix: str) -> str:
        """Draw an `<svg>` element for a page: no script, no style sheet, nothing from outside, no date.

        Same recording, same text (with the same matplotlib). Texts are drawn as shapes, so that they look alike
        whatever fonts there are; a reader for the blind gets title and caption.

        Args:
            prefix: begins every id, and must differ between the pictures of one page.
        """
        return _inline(
            self._saved("svg", heading=None).decode("utf-8"), label=f"{self.title}. {self.caption}", prefix=prefix
        )

    def png(self, *, heading: str) -> bytes:
        """Draw the content of a PNG file under a heading. Same recording, same bytes (with the same matplotlib)."""
        return self._saved("png", heading=shortened(plain(heading), _MAX_HEADING))

    def _saved(self, kind: str, *, heading: str | None) -> bytes:
        from matplotlib.figure import Figure

        content = io.BytesIO()
        with own_style():
            # The object API instead of pyplot: no global figure list, no backend chosen for the whole process.
            figure = Figure(figsize=(self.width_in, self.height_in), dpi=_DOTS_PER_INCH, layout="constrained")
            self.draw(figure)
            if heading is not None:
                # Not as math: a dollar sign in a name is a dollar sign.
                figure.suptitle(heading, x=0.01, ha="left", fontsize=11, fontweight="bold", parse_math=False)
            metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
            figure.savefig(content, format=kind, metadata=metadata)
        return content.getvalue()


@contextmanager
def own_style() -> Iterator[None]:
    """Keep the user's own style out, which could turn the paper black or send every text through TeX."""
    import matplotlib.style

    fixed = {"svg.hashsalt": "mlflow-tfexec", "svg.fonttype": "path"}
    with matplotlib.style.context(["default", fixed]), warnings.catch_warnings():
        # A name may hold letters that the font lacks; a box in their place is no reason to warn.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def _inline(text: str, *, label: str, prefix: str) -> str:
    """Make an SVG document into an element of a page."""
    # matplotlib writes each text into a comment, with `>` escaped; some characters are no XML even there.
    root = ET.fromstring(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL))  # noqa: S314 - our own document
    # Metadata, and the rule for `*`.
    for parent in [root, *root.iter(f"{{{_SVG}}}defs")]:
        for child in list(parent):
            if child.tag.rpartition("}")[2] in {"metadata", "style"}:
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.text = element.tail = None
        _prefix_ids(element, prefix)
        _shorten_numbers(element)
    # Without a width and a height of its own it takes those of its place in the page.
    root.attrib = {
        "xmlns": _SVG,
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-label": re.sub("[\ufffe\uffff]", "", label),
        "style": _LINES,
    }
    return ET.tostring(root, encoding="unicode")


def _prefix_ids(element: ET.Element, prefix: str) -> None:
    """Put *prefix* before every id and every reference to one: pictures of one page must not share any."""
    if _HREF in element.attrib:
        element.attrib["href"] = element.attrib.pop(_HREF)
    for key, value in element.attrib.items():
        if key == "id":
            element.attrib[key] = f"{prefix}{value}"
        elif key == "href":
            element.attrib[key] = value.replace("#", f"#{prefix}", 1)
        else:
            element.attrib[key] = value.replace("url(#", f"url(#{prefix}")


def _shorten_numbers(element: ET.Element) -> None:
    """Write coordinates to a thousandth of a point, which nobody sees, instead of a millionth."""
    for key in {"d", "x", "y", "transform"} & element.attrib.keys():
        value = re.sub(
            r"-?\d+\.\d{4,}", lambda found: f"{float(found[0]):.3f}".rstrip("0").rstrip("."), element.attrib[key]
        )
        element.attrib[key] = " ".join(value.split())
