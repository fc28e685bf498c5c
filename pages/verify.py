"""What a built site must hold to: links that lead somewhere, pictures with words, no outside request, sizes.

`problems(folder)` reads every page as a browser would without running it; each problem is one sentence.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

MB = 10**6
SITE_MB = 40  # of all files
PAGE_MB = 0.6  # of one page with what it loads
SEARCH_MB = 1.5  # of the page that loads the words of all others
ALT_LETTERS = 20  # a finding is a sentence
LOADS = {"img": "src", "script": "src", "link": "href", "source": "src", "iframe": "src", "object": "data"}
HEADINGS = re.compile(r"^h[1-6]$")


def problems(folder: Path) -> list[str]:
    """Sentences about all that is wrong with the site in a folder; empty if nothing is."""
    folder = folder.resolve()
    pages = {
        path: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser") for path in pages_of(folder)
    }
    anchors = {path: {tag["id"] for tag in page.find_all(id=True)} for path, page in pages.items()}
    sentences = []
    for path, page in pages.items():
        name = path.relative_to(folder).as_posix()
        checks = (
            broken_links(path, page, anchors, folder), outside_requests(page), wordless(page),
            headings(page), repeated_ids(page), size_of_page(path, page),
        )  # fmt: skip
        sentences += [f"{name}: {sentence}" for check in checks for sentence in check]
    files = (
        file for file in folder.rglob("*") if "lite" not in file.relative_to(folder).parts
    )  # has its own budget
    total = sum(file.stat().st_size for file in files if file.is_file())
    if total > SITE_MB * MB:
        sentences.append(f"the site has {total / MB:.1f} MB, more than {SITE_MB}")
    return sentences


def pages_of(folder: Path) -> list[Path]:
    """The site's own pages; lite/ and its like are programs of others."""
    return [path for path in sorted(folder.rglob("*.html")) if "lite" not in path.relative_to(folder).parts]


def broken_links(path: Path, page: BeautifulSoup, anchors: dict, folder: Path) -> Iterator[str]:
    """Links of a page to files or anchors that are not there."""
    for tag in page.find_all(href=True) + page.find_all(src=True):
        address = tag.get("href") or tag["src"]
        parts = urlsplit(address)
        if parts.scheme in ("http", "https", "mailto", "data"):
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.is_relative_to(folder) or not target.exists() or target.is_dir():
            yield f"the link {address!r} leads nowhere"
        elif parts.fragment and target in anchors and unquote(parts.fragment) not in anchors[target]:
            yield f"the link {address!r} names an anchor that {target.name} lacks"


def outside_requests(page: BeautifulSoup) -> Iterator[str]:
    """What a browser would load from another computer when it shows the page."""
    for name, attribute in LOADS.items():
        for tag in page.find_all(name):
            if re.match(r"(https?:)?//", tag.get(attribute) or ""):
                yield f"<{name}> loads {tag[attribute]} from another computer"
    for style in [*page.find_all("style"), *page.find_all(style=True)]:
        if re.search(r"@import|url\((?!['\"]?data:)", style.get("style") or style.string or ""):
            yield "a style loads a file"


def wordless(page: BeautifulSoup) -> Iterator[str]:
    """Pictures whose alternative text is missing or no sentence."""
    for image in page.find_all("img"):
        if len(image.get("alt") or "") < ALT_LETTERS and image.get("alt") != "":
            yield f"the picture {image.get('src')} has no sentence as its alternative text"
    for drawing in page.find_all("svg"):
        if drawing.get("aria-hidden") != "true" and len(drawing.get("aria-label") or "") < ALT_LETTERS:
            yield "a drawing has no sentence as its alternative text"


def headings(page: BeautifulSoup) -> Iterator[str]:
    """Headings that skip a level, and a page with no or several first ones."""
    levels = [int(tag.name[1]) for tag in page.find_all(HEADINGS)]
    if levels.count(1) != 1:
        yield f"the page has {levels.count(1)} headings of level 1"
    for above, below in pairwise(levels):
        if below > above + 1:
            yield f"a heading of level {below} follows one of level {above}"


def repeated_ids(page: BeautifulSoup) -> Iterator[str]:
    """Identifiers that two elements of a page share."""
    ids = [tag["id"] for tag in page.find_all(id=True)]
    yield from (f"the id {name!r} stands twice" for name in sorted({i for i in ids if ids.count(i) > 1}))


def size_of_page(path: Path, page: BeautifulSoup) -> Iterator[str]:
    """A page that is too large together with the files of the site that it loads."""
    size = path.stat().st_size
    for name, attribute in LOADS.items():
        files = {tag.get(attribute) for tag in page.find_all(name)} - {None}
        local = [path.parent / unquote(urlsplit(file).path) for file in files if "//" not in file]
        size += sum(file.stat().st_size for file in local if file.is_file())
    most = SEARCH_MB if path.name == "search.html" else PAGE_MB
    if size > most * MB:
        yield f"{size / MB:.2f} MB with all that it loads, more than {most}"
