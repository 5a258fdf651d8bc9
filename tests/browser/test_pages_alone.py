"""The HTML of `report` and `compare`, opened from a file."""

from functools import cache

import across_cases
import pytest
import report_cases
from watched import Watched

from mlflow_tfexec.reports._across import across_formats

pytestmark = pytest.mark.browser

# Page → how many pictures it has: per benchmark that was timed one of every call and three drawings; per comparison
# one matrix, where there is something to draw.
PICTURES = {
    "report normal": 4,
    "report troubled": 4,
    "report hostile": 4,
    "report nothing_measured": 0,
    "report several": 8,
    "compare upgrade": 1,
    "compare three": 1,
    "compare hostile": 1,
}
HOSTILE_NAME = "<img src=x onerror=alert(1)>"

# Of every piece of text outside of pictures: its contrast with what lies behind it, as WCAG 2.2 defines it.
# https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
CONTRASTS = """() => {
  const channels = color => color.match(/[\\d.]+/g).map(Number);
  const luminance = color => {
    const linear = c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = channels(color).map(c => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const isOpaque = color => channels(color).length === 3 || channels(color)[3] === 1;
  const behind = element => {
    for (let one = element; one; one = one.parentElement) {
      const color = getComputedStyle(one).backgroundColor;
      if (isOpaque(color)) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest('svg, style')) continue;
    const pair = [luminance(getComputedStyle(element).color), luminance(behind(element))].sort((a, b) => b - a);
    found.push([(pair[0] + 0.05) / (pair[1] + 0.05), walker.currentNode.data.trim()]);
  }
  return found;
}"""
SIZES = "all => all.map(one => [one.getBoundingClientRect().width, one.getBoundingClientRect().height])"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
TWO_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"


@cache
def html(name):
    kind, case = name.split()
    if kind == "report":
        return report_cases.render("html", case)
    return across_formats()["html"].render(across_cases.make(case))


@pytest.fixture(scope="module")
def opened(profile, tmp_path_factory):
    """Give a function that opens a page from a file, once for all tests of this file."""
    pages = {}

    def opened(name):
        if name not in pages:
            path = tmp_path_factory.mktemp("page") / "page.html"
            path.write_text(html(name), encoding="utf-8")
            pages[name] = Watched(profile().new_page())
            pages[name].page.goto(path.as_uri())
        return pages[name]

    return opened


@pytest.fixture(params=PICTURES)
def name(request):
    return request.param


@pytest.fixture
def watched(opened, name):
    """Give a page as it looks on a screen, by day."""
    watched = opened(name)
    watched.page.set_viewport_size({"width": 1200, "height": 800})
    watched.page.emulate_media(media="screen", color_scheme="light")
    return watched


@pytest.fixture
def save(tmp_path):
    """Give a function that writes a page to a file and returns its address."""

    def save(text):
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8")
        return path.as_uri()

    return save


def test_page_asks_for_nothing_but_itself_and_the_browser_has_no_complaint(watched):
    watched.page.evaluate(TWO_FRAMES)

    assert watched.requests == [watched.page.url]
    assert watched.complaints == []
    assert watched.dialogs == []


def test_every_picture_is_there_and_takes_up_room(watched, name):
    sizes = watched.page.eval_on_selector_all("svg, img", SIZES)

    assert len(sizes) == PICTURES[name]
    assert [size for size in sizes if min(size) < 100] == []
    assert watched.page.eval_on_selector_all("img", "all => all.filter(one => one.naturalWidth === 0)") == []


@pytest.mark.parametrize("name", ["report hostile", "compare hostile"])
def test_model_name_that_is_markup_is_read_as_text(watched):
    watched.page.evaluate(TWO_FRAMES)

    assert HOSTILE_NAME in watched.page.locator("main").inner_text()
    assert watched.page.locator("img[src='x'], script, b, [onerror]").count() == 0
    assert watched.dialogs == []


SMUGGLED = "<script>window.ran = true</script><img src=x onerror='window.ran = true'></main>"
POLICY = "Content-Security-Policy"


@pytest.mark.parametrize("name", ["report normal", "compare upgrade"])
def test_script_that_was_smuggled_in_does_not_run(watch, save, name):
    watched = watch(save(html(name).replace("</main>", SMUGGLED)))
    watched.page.evaluate(TWO_FRAMES)

    assert watched.page.evaluate("window.ran") is None
    assert any("Content Security Policy" in text for text, _ in watched.complaints)


def test_script_that_was_smuggled_in_would_run_without_the_policy(watch, save):
    """The test above can fail."""
    text = html("report nothing_measured").replace("</main>", SMUGGLED)
    watched = watch(save(text.replace(POLICY, "X-Not-A-Policy")))

    assert watched.page.evaluate("window.ran") is True


@pytest.mark.parametrize("width", [360, 1600])
def test_page_is_no_wider_than_the_window(watched, width):
    watched.page.set_viewport_size({"width": width, "height": 800})

    assert watched.page.evaluate("innerWidth") == width
    assert watched.page.evaluate(OVERFLOW) <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(watched, scheme):
    watched.page.emulate_media(color_scheme=scheme)

    contrasts = watched.page.evaluate(CONTRASTS)
    assert len(contrasts) > 20
    assert [found for found in contrasts if found[0] < 4.5] == []


@pytest.mark.parametrize("name", ["report normal", "compare upgrade"])
@pytest.mark.parametrize(("scheme", "paper"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(22, 24, 27)")])
def test_page_is_as_light_or_dark_as_its_reader_wants_it(watched, scheme, paper):
    watched.page.emulate_media(color_scheme=scheme)

    assert watched.page.evaluate("getComputedStyle(document.body).backgroundColor") == paper


def test_pictures_are_printed_and_fit_the_paper(watched, name):
    a4 = {"width": 794, "height": 1123}
    watched.page.set_viewport_size(a4)
    watched.page.emulate_media(media="print")

    sizes = watched.page.eval_on_selector_all("svg, img", SIZES)
    assert watched.page.locator("svg:visible, img:visible").count() == PICTURES[name]
    assert [width for width, height in sizes if not 100 < width <= a4["width"] or height < 100] == []
