import re
from html.parser import HTMLParser

import pytest

VOID = {"meta", "img", "br", "hr", "link", "input"}


class Page(HTMLParser):
    """A page as a list of (tag, attributes) and its text; fails where tags are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.texts = []
        self.open = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def named(self, wanted):
        return [attributes for tag, attributes in self.tags if tag == wanted]


@pytest.fixture
def text(case, html_of):
    return html_of(case)


@pytest.fixture
def page(text):
    return Page(text)


def test_every_tag_is_closed_in_order(page):
    assert page.open == []


def test_page_needs_nothing_from_outside(page):
    sources = [value for _, attributes in page.tags for key, value in attributes.items() if key in {"src", "href"}]

    # A drawing refers to its own shapes by `#`.
    assert [source for source in sources if not source.startswith(("data:image/png;base64,", "#b"))] == []
    assert {tag for tag, _ in page.tags} & {"script", "link", "iframe", "object", "embed", "form", "base"} == set()


def test_style_loads_nothing(text):
    [style] = re.findall(r"<style>(.*?)</style>", text, flags=re.DOTALL)

    assert "url(" not in style
    assert "@import" not in style


def test_page_forbids_scripts_by_its_own_policy(page):
    policies = [meta["content"] for meta in page.named("meta") if meta.get("http-equiv") == "Content-Security-Policy"]

    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_no_element_carries_an_event_handler(page):
    assert [key for _, attributes in page.tags for key in attributes if key.startswith("on")] == []


def test_text_from_outside_stays_text(html_of):
    text = html_of("hostile")

    assert "<img src=x" not in text
    assert "<script" not in text
    assert "<b>|</b>" not in text
    assert "&lt;img src=x onerror=alert(1)&gt; |pipe|" in text


def test_page_is_accessible(page):
    assert [attributes.get("lang") for attributes in page.named("html")] == ["en"]
    assert len(page.named("title")) == 1
    assert {attributes.get("scope") for attributes in page.named("th")} == {"col", "row"}
    assert all(picture["role"] == "img" and picture["aria-label"] for picture in page.named("svg"))


def test_every_picture_of_the_page_is_a_drawing_in_the_page(page):
    assert page.named("img") == []
    assert len(page.named("figure")) == len(page.named("svg"))


def test_each_benchmark_that_was_timed_has_its_drawings_and_each_drawing_its_table(html_of):
    page = Page(html_of("several"))

    assert len(page.named("svg")) == len(page.named("figcaption")) == 8
    assert page.texts.count("The same as a table") == 8
    assert Page(html_of("nothing_measured")).named("svg") == []


def test_no_two_elements_share_an_id(page):
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]

    assert len(ids) == len(set(ids))


def test_title_names_the_model(html_of):
    assert "<title>EfficientNetV2S: execution modes compared</title>" in html_of("normal")


def test_failed_mode_shows_its_status_and_reason_and_no_number(html_of):
    row = re.search(r'<th scope="row">xla</th>\n(.*?)</tr>', html_of("troubled"), flags=re.DOTALL)

    assert row[1].strip() == '<td class="text" colspan="7">crashed: xla ended as crashed</td>'
