"""A picture beside a table that says the same, as SVG to lay into a page and as PNG to keep."""

import io
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from mlflow_tfexec.reports._look import GREY, GRID, INK, NOTE_SIZE, SOFT, VARIABLES, fitted
from mlflow_tfexec.text import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SVG = "http://www.w3.org/2000/svg"
_HREF = "{http://www.w3.org/1999/xlink}href"
_DOTS_PER_INCH = 250

# Of what is pixels in an SVG: as fine as a page is printed or a good screen shows it.
_SVG_DOTS_PER_INCH = 180

_HEADING_SIZE = 10.5

# In letters, before its numbers are shortened.
_LONG_PATH = 400

# Of a PNG's notes, at the width of a picture.
_LETTERS_PER_INCH = 19
_LINE_IN = 0.14

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
        whatever fonts there are; a reader for the blind gets title and caption. Every colour is a variable that the
        page's style sheet may set, as for the dark; `--inches` is the picture's width.

        Args:
            prefix: begins every id, and must differ between the pictures of one page.
        """
        with own_style():
            text = _saved(self._figure(self.height_in), "svg").decode("utf-8")
        return _inline(text, label=f"{self.title}. {self.caption}", prefix=prefix, width_in=self.width_in)

    def png(self, *, heading: str, context: str = "") -> bytes:
        """Draw the content of a PNG file. Same recording, same bytes (with the same matplotlib).

        Args:
            heading: beside the title above the picture, such as the model.
            context: before the caption below it, such as the machine.
        """
        width = round(self.width_in * _LETTERS_PER_INCH)
        lines = [*textwrap.wrap(plain(context), width, max_lines=2, placeholder=" …")]
        lines += textwrap.wrap(plain(self.caption), width)
        with own_style():
            figure = self._figure(self.height_in + 0.3 + _LINE_IN * len(lines))
            head = fitted(
                f"{self.title}: {plain(heading)}", room_in=self.width_in * 0.97, size=_HEADING_SIZE, weight="bold"
            )
            # Not as math: a dollar sign in a name is a dollar sign.
            figure.suptitle(head, x=0.01, ha="left", fontsize=_HEADING_SIZE, fontweight="bold", parse_math=False)
            notes = "\n".join(lines)
            figure.supxlabel(notes, x=0.01, ha="left", fontsize=NOTE_SIZE, color=SOFT, parse_math=False)
            return _saved(figure, "png")

    def _figure(self, height_in: float) -> "Figure":
        # The object API instead of pyplot: no global figure list, no backend chosen for the whole process.
        from matplotlib.figure import Figure

        figure = Figure(figsize=(self.width_in, height_in), dpi=_DOTS_PER_INCH, layout="constrained")
        self.draw(figure)
        return figure


def _saved(figure: "Figure", kind: str) -> bytes:
    content = io.BytesIO()
    if kind == "svg":
        figure.savefig(content, format=kind, dpi=_SVG_DOTS_PER_INCH, metadata={"Date": None, "Creator": None})
    else:
        figure.savefig(content, format=kind, metadata={"Software": None})
    return content.getvalue()


@contextmanager
def own_style() -> Iterator[None]:
    """Keep the user's own style out, which could turn the paper black or send every text through TeX."""
    import matplotlib.style

    inked = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    fixed = {
        "svg.hashsalt": "mlflow-tfexec",
        "svg.fonttype": "path",
        "grid.color": GRID,
        "hatch.color": GREY,
        "hatch.linewidth": 0.4,
        **dict.fromkeys(inked, INK),
    }
    with matplotlib.style.context(["default", fixed]), warnings.catch_warnings():
        # A name may hold letters that the font lacks; a box in their place is no reason to warn.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def _inline(text: str, *, label: str, prefix: str, width_in: float) -> str:
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
        _name_colors(element)
        _say_once(element)
    # Without a width and a height of its own it takes those of its place in the page.
    root.attrib = {
        "xmlns": _SVG,
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-label": re.sub("[\ufffe\uffff]", "", label),
        "style": f"{_LINES}; --inches: {width_in:g}",
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
    """Write coordinates as exactly as anybody sees them, instead of to a millionth of a point."""
    # A long path runs over the whole picture. A short one may be a mark, of which a tenth of a point is a part.
    is_long = len(element.attrib.get("d", "")) > _LONG_PATH
    exact, shorten = (r"-?\d+\.\d{2,}", _to_tenths) if is_long else (r"-?\d+\.\d{3,}", _to_hundredths)
    for key in {"d", "x", "y"} & element.attrib.keys():
        value = re.sub(exact, shorten, element.attrib[key])
        # A letter and a minus set numbers apart as well as a space does.
        element.attrib[key] = re.sub(r"\s*([A-Za-z]|(?=-))\s*", r"\1", value).strip()
    if "transform" in element.attrib:
        # More digits here, for they may be multiplied.
        value = re.sub(r"-?\d+\.\d{5,}", _to_ten_thousandths, element.attrib["transform"])
        element.attrib["transform"] = " ".join(value.split())


def _to_tenths(found: re.Match[str]) -> str:
    return f"{float(found[0]):.1f}".removesuffix(".0")


def _to_hundredths(found: re.Match[str]) -> str:
    return f"{float(found[0]):.2f}".rstrip("0").rstrip(".")


def _to_ten_thousandths(found: re.Match[str]) -> str:
    return f"{float(found[0]):.4f}".rstrip("0").rstrip(".")


def _name_colors(element: ET.Element) -> None:
    """Put a variable before every colour, which stays as what to take where no style sheet sets the variable."""
    # As a style, where they are attributes: these know no variables in some browsers.
    own = [f"{key}: {element.attrib.pop(key)}" for key in ("fill", "stroke") if key in element.attrib]
    style = "; ".join([*own, *filter(None, [element.attrib.get("style", "").rstrip("; ")])])
    if style:
        element.attrib["style"] = re.sub("#[0-9a-f]{6}", _as_variable, style)


def _as_variable(found: re.Match[str]) -> str:
    color = found[0]
    return f"var({VARIABLES[color]}, {color})" if color in VARIABLES else color


def _say_once(group: ET.Element) -> None:
    """Move to the group the style that all its marks share: there may be thousands of them."""
    styles = {child.attrib.get("style") for child in group}
    if group.tag == "g" and "style" not in group.attrib and len(group) > 1 and len(styles) == 1:
        [style] = styles
        if style and all(child.tag == "use" for child in group):
            group.attrib["style"] = style
            for child in group:
                del child.attrib["style"]
