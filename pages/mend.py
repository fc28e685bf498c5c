"""HTML of outputs and of Markdown, made fit for the site: pictures as files, tables with headings, links.

A picture becomes a file of its own, so that a page stays small and a browser loads it when it is scrolled to.
What scrolls sideways can be reached by the keyboard, and no table is without headings.
"""

import io
import re
from base64 import b64decode
from collections.abc import Callable

from bs4 import BeautifulSoup, Tag
from PIL import Image

WIDE_LINE = 30  # letters of printed text that a telephone shows in one line
WIDE_TABLE = 3  # columns that a telephone does not show beside each other
LONG_WORD = 24  # letters, as in a path: they widen a table
COLUMNS = re.compile(r"(?<=\S)  |^ ")  # of spaces: a longer line of them than NARROW must not be broken
NARROW = 36
COLOURS = 256  # of a palette: charts have fewer, photographs keep all of theirs


def mended(body: str, keep: Callable[[bytes, str], str], relink: Callable[[str], str | None]) -> str:
    """The HTML after all mends; `keep` stores bytes of a kind ("png") and answers with their address."""
    soup = BeautifulSoup(body, "html.parser")
    for image in soup.find_all("img"):
        mend_image(image, keep, relink)
    for table in soup.find_all("table"):
        mend_table(table, soup)
    for printed in soup.select("pre.printed"):
        columns = [line for line in printed.get_text().splitlines() if COLUMNS.search(line)]
        if all(len(line) <= NARROW for line in columns):
            printed["class"].append("wraps")
        elif any(len(line) > WIDE_LINE for line in printed.get_text().splitlines()):
            about = {"tabindex": "0", "role": "group", "aria-label": "Printed lines, scroll sideways"}
            printed.attrs |= about
            break_sentences(printed, soup)
    for link in soup.select("div.shown a[href]"):  # prose has its links already
        target = relink(link["href"])
        if target is None:
            link.unwrap()
        else:
            link["href"] = target
    return str(soup)


def break_sentences(printed: Tag, soup: BeautifulSoup) -> None:
    """Put an element around each long line of words, which a narrow page breaks; lines of columns scroll."""
    lines = printed.get_text().split("\n")
    printed.clear()
    for number, line in enumerate(lines):
        sentence = soup.new_tag("span", attrs={"class": "sentence"}, string=line)
        is_sentence = len(line) > NARROW and not COLUMNS.search(line)
        printed.extend([("\n" if number else ""), sentence if is_sentence else line])


def mend_image(image: Tag, keep: Callable[[bytes, str], str], relink: Callable[[str], str | None]) -> None:
    """Give an image a file, its size and the class that sets it on a light card."""
    source = image.get("src", "")
    if source.startswith("data:image/"):
        kind, _, data = source.removeprefix("data:image/").partition(";base64,")
        content = b64decode(data)
        if kind == "png":
            content = smaller_png(content)
            with Image.open(io.BytesIO(content)) as picture:
                image["width"], image["height"] = picture.size
        image["src"] = keep(content, "svg" if kind == "svg+xml" else kind)
    elif (target := relink(source)) is not None:
        image["src"] = target
    image.attrs.pop("style", None)
    image["class"] = "picture"
    image["loading"] = "lazy"


def smaller_png(content: bytes) -> bytes:
    """The same picture in fewer bytes: with a palette where its colours fit into one, compressed fully."""
    with Image.open(io.BytesIO(content)) as picture:
        opaque = picture.convert("RGB") if picture.getextrema()[-1] == (255, 255) else picture
        if opaque.mode == "RGB" and opaque.getcolors(COLOURS):
            opaque = opaque.quantize(COLOURS)
        file = io.BytesIO()
        opaque.save(file, "PNG", optimize=True)
    return min(file.getvalue(), content, key=len)


def mend_table(table: Tag, soup: BeautifulSoup) -> None:
    """Say of each heading what it heads; make a wide table a region that the keyboard can scroll."""
    rows = table.find_all("tr")
    for heading in table.find_all("th"):
        heads_column = (
            heading.find_parent("thead") is not None or heading.find_parent("tr").find("td") is None
        )
        heading["scope"] = "col" if heads_column else "row"
        if not heading.get_text(strip=True):
            heading.name = "td"
            heading.attrs.pop("scope")
    columns = max((len(row.find_all(["td", "th"])) for row in rows), default=0)
    if columns >= WIDE_TABLE or any(len(word) > LONG_WORD for word in table.get_text(" ").split()):
        around = {
            "class": "scroll",
            "tabindex": "0",
            "role": "group",
            "aria-label": "Table, scrolls sideways",
        }
        table.wrap(soup.new_tag("div", attrs=around))
