"""Views that move on a page: sliders under the still picture, and frames as small files, loaded when used.

The list of a view's frames, and each frame that is a drawing in HTML, are scripts, since a page that is
opened from a disk may load nothing else.  assets/moves.js switches frames; without it
the picture stands still.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path

import jinja2
import nbformat
from bs4 import BeautifulSoup

from pages.frames import MEDIA
from pages.mend import mended

SCRIPT = "assets/moves.js"
SHORT = 2000  # letters of a frame that stands in the list itself, as a picture's tag
TEMPLATE = Path(__file__).with_name("template") / "moves.html.j2"
Keep = Callable[[bytes, str], str]


def add_controls(book: nbformat.NotebookNode, keep: Keep) -> bool:
    """Put sliders under each view of a lesson that has frames; whether there is one.

    `keep` stores the bytes of a file of a kind, such as "js", and answers with its address on the page.
    """
    views = [
        output.data
        for cell in book.cells
        for output in cell.get("outputs", ())
        if MEDIA in output.get("data", {})
    ]
    for number, data in enumerate(views):
        data["text/html"] = controls(data["text/html"], data.pop(MEDIA), keep, f"view-{number}")
    return bool(views)


def controls(still: str, view: dict, keep: Keep, name: str) -> str:
    """HTML of a view: its still picture, its sliders, a line with its finding, and the tables below it."""
    soup = BeautifulSoup(still, "html.parser")
    sliders = view["sliders"]
    tables = [table.extract() for table in soup.find_all("details", recursive=False)]
    frames = [[kept_frame(html, keep), finding] for html, finding in view["frames"]]
    template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"), trim_blocks=True, autoescape=True)
    return template.render(
        still=str(soup),
        tables="".join(map(str, tables)),
        sliders=sliders,
        name=name,
        frames=keep(script({"shown": view["shown"], "frames": frames}), "js"),
        is_alone=len(view["shown"]) < math.prod(len(slider["labels"]) for slider in sliders),
    )


def kept_frame(html: str, keep: Keep) -> str:
    """A frame's HTML if it is short, otherwise the address of its script."""
    if "<img" in html or "<table" in html:
        html = mended(html, keep, lambda url: url)
    return html if len(html) < SHORT else keep(script(html), "js")


def script(content: object) -> bytes:
    """A script that hands its content over to assets/moves.js."""
    return f"rnnlabTake({json.dumps(content, ensure_ascii=False)});\n".encode()
