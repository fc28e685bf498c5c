"""Drawings of the lessons, as SVG files beside this one: `show("unrolled_network")` displays one.

`python -m rnncourse.build` derives the files from the scripts in the clone's folder drawings/.
"""

import html
import json
import re
from pathlib import Path

from rnncourse.figures.picture import Page, Slider, display, slider_view

FOLDER = Path(__file__).parent
ALT = re.compile(r'aria-label="([^"]*)"')


def show(name: str) -> None:
    """Displays a drawing, with a slider where time passes in it; its alternative text states the finding.

    Raises ValueError for an unknown name.
    """
    steps = json.loads((FOLDER / "steps.json").read_text(encoding="utf-8")).get(name)
    if steps is None:
        display(load(name))
        return
    label = steps["label"]
    now = steps["now"]
    slider = Slider(label, range(len(now)), steps["start"])
    draw = lambda **step: load(f"{name}_{step[label]}")
    describe = lambda **step: now[step[label]]
    display(slider_view(draw, describe, **{label: slider}))


def load(stem: str) -> Page:
    """The drawing in STEM.svg with its alternative text; ValueError if there is no such file."""
    path = FOLDER / f"{stem}.svg"
    if not path.is_file():
        raise ValueError(f"no drawing is called {stem!r}; the files *.svg in {FOLDER} have the names")
    svg = path.read_text(encoding="utf-8")
    return Page(svg, html.unescape(ALT.search(svg)[1]))
