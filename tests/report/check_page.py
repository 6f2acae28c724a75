"""Checks the form of a page of `voltcheck report` or `voltcheck diff`, without a browser.

usage: check_page.py PAGE.html

Elements are closed in order, no attribute runs code, nothing is loaded from anywhere, the content
policy names exactly the scripts and the style that are in the page, the data is JSON, every label and
link leads somewhere, and tables have captions and headers.
"""

import base64
import hashlib
import html.parser
import json
import sys

VOID = {"meta", "input", "br", "img", "link", "hr"}
KNOWN = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "h1", "h2", "span", "p", "code", "div", "small",
    "ul", "li", "nav", "main", "section", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "details",
    "summary", "button", "b", "i", "br", "sup", "fieldset", "legend", "figure", "figcaption", "strong", "canvas", "form",
    "label", "input", "select", "option", "output", "noscript", "script",
}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.scripts, self.styles = [], [], [], [], []
        self.in_script = False
        self.policy = self.data = None
        self.tables = self.captions = 0

    def handle_starttag(self, tag, attributes):
        assert tag in KNOWN, f"element {tag} is none of the page's own"
        self.in_script = False
        if tag not in VOID:
            self.open.append((tag, dict(attributes)))
        for name, value in attributes:
            assert not name.startswith("on"), f"{tag} has {name}"
            assert name not in ("src", "style", "action"), f"{tag} has {name}"
            if name == "href":
                assert value.startswith("#"), f"a link leads to {value}"
                self.links.append(value[1:])
            if name == "id":
                self.ids.append(value)
        values = dict(attributes)
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]
        self.tables += tag == "table"
        self.captions += tag == "caption"
        if tag == "th":
            assert values.get("scope") in ("row", "col"), "a header without scope"
        if tag == "button":
            assert values.get("type") == "button"

    def handle_endtag(self, tag):
        assert self.open and self.open[-1][0] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_comment(self, text):
        raise AssertionError("a comment: " + text)

    def handle_data(self, text):
        if not self.open:
            assert not text.strip()
            return
        tag, attributes = self.open[-1]
        if tag == "style":
            self.styles.append(text)
        elif tag == "script":
            if attributes.get("type") == "application/json":
                self.data = (self.data or "") + text
            elif self.in_script:
                self.scripts[-1] += text
            else:
                self.scripts.append(text)
                self.in_script = True


def source(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def main(path):
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    assert text.startswith("<!DOCTYPE html>\n<html lang=\"en\">")
    page = Page()
    page.feed(text)
    page.close()
    assert not page.open, page.open
    assert len(page.ids) == len(set(page.ids)), "an id occurs twice"
    for link in page.links:
        assert link in page.ids or link.startswith("case-") or link == "cases", "a link leads nowhere: " + link
    assert page.tables == page.captions, "a table without caption"
    scripts = page.scripts
    assert len(page.styles) == 1 and len(scripts) == (1 if page.data is None else 2)
    allowed = {part.strip().split(" ")[0]: set(part.split()[1:]) for part in page.policy.split(";")}
    assert allowed["default-src"] == {"'none'"}, allowed
    assert allowed["style-src"] == {source(page.styles[0])}
    assert allowed["script-src"] == {source(script) for script in scripts}, (allowed, [len(s) for s in scripts])
    assert "prefers-color-scheme: dark" in page.styles[0]
    if page.data is not None:
        data = json.loads(page.data)
        columns = {len(column) for name, column in data["cases"].items() if name not in ("parts", "reasons", "stages")}
        assert len(columns) == 1, columns
        count = columns.pop()
        assert all(len(figures) == count for stage in data["cases"]["stages"] for figures in stage)
        for parts in data["cases"]["descriptor"]:
            assert all(0 <= part < len(data["cases"]["parts"]) for part in parts)


if __name__ == "__main__":
    main(sys.argv[1])
