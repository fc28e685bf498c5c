"""Every picture that a view with sliders can show, drawn by the kernel that runs a lesson for the site.

The view then moves on the page without Python.  A view of few settings has a frame for each combination; of
one with many, one slider at a time is moved and the others stay where they start.
"""

import io
import math
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from PIL import Image

from rnncourse.figures.picture import Slider, View

MEDIA = "application/vnd.rnnlab.frames+json"
MOST_FRAMES = 64  # that are drawn for all combinations of a view's sliders
MOST_VALUES = 60
FEWER = 25  # of a slider with more values than most, about as many as fewer are kept
QUALITY = 82  # of 100: letters stay sharp
PNG = re.compile(r'(?<=src=")data:image/png;base64,([^"]*)')
STARTUP = """import sys
sys.path.insert(0, {root!r})
from pages.frames import install
install(get_ipython())
"""


def install(shell: Any) -> None:
    """Let each view of this kernel give its frames beside its still picture."""
    shell.display_formatter.mimebundle_formatter.for_type(View, with_frames)


def with_frames(view: View, include: object = None, exclude: object = None) -> dict:
    """The outputs of a view, and its frames where it has sliders."""
    bundle = view._repr_mimebundle_()
    return bundle | ({MEDIA: frames(*view.moves)} if view.moves else {})


def frames(show_at: Any, sliders: Mapping[str, Slider]) -> dict:
    """Sliders with the labels of their values, and frames (HTML, finding) by the places of all sliders.

    {"sliders": [{"label", "labels", "start", "play"}], "shown": {"2,0": 5}, "frames": [[html, finding]]}
    """
    chosen = [kept_places(slider) for slider in sliders.values()]
    starts = [places.index(slider.start) for places, slider in zip(chosen, sliders.values(), strict=True)]
    shown = {}
    numbers = {}
    for key in combinations([len(places) for places in chosen], starts):
        values = {
            name: slider.values[places[place]]
            for (name, slider), places, place in zip(sliders.items(), chosen, key, strict=True)
        }
        html, finding = show_at(**values)
        shown[",".join(map(str, key))] = numbers.setdefault((html, finding), len(numbers))
    return {
        "sliders": [
            {
                "label": slider.label,
                "labels": [label_of(slider, place) for place in places],
                "start": start,
                "play": slider.play,
            }
            for slider, places, start in zip(sliders.values(), chosen, starts, strict=True)
        ],
        "shown": shown,
        "frames": [[PNG.sub(_as_webp, html), finding] for html, finding in numbers],
    }


def kept_places(slider: Slider) -> list[int]:
    """Places of the values that have frames: all of few, of many the start and others at equal distances."""
    count = len(slider.values)
    step = 1 if count <= MOST_VALUES else math.ceil(count / FEWER)
    return sorted({*range(0, count, step), slider.start, count - 1})


def combinations(counts: list[int], starts: list[int]) -> Iterator[tuple[int, ...]]:
    """Places of all sliders: each combination of few, else all values of one slider at a time."""
    if math.prod(counts) <= MOST_FRAMES:
        yield from product(*map(range, counts))
        return
    for moved, count in enumerate(counts):
        for place in range(count):
            yield (*starts[:moved], place, *starts[moved + 1 :])


def label_of(slider: Slider, place: int) -> str:
    """The value of a slider as a reader sees it."""
    value = slider.values[place]
    return ("off", "on")[value] if isinstance(value, bool) else slider.format.format(value)


def _as_webp(match: re.Match) -> str:
    """The same picture in about a quarter of the bytes."""
    file = io.BytesIO()
    with Image.open(io.BytesIO(b64decode(match[1]))) as picture:
        picture.convert("RGB").save(file, "WEBP", quality=QUALITY, use_sharp_yuv=True)
    return f"data:image/webp;base64,{b64encode(file.getvalue()).decode()}"
