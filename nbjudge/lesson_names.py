"""Which lesson a person means: 2, 02, bptt, 02_bptt and 02_bptt.ipynb are one; what people call it."""

import json
from collections.abc import Iterable
from difflib import get_close_matches

from nbjudge.course import current
from nbjudge.files import ROOT


class UnknownLesson(ValueError):
    """No lesson has this name or number; the message offers the nearest one and lists all."""


def find_lesson(text: str, titles: Iterable[str]) -> str:
    """The one of "00_start_here", "01_rnn_forward", ... that a text names. Raises UnknownLesson."""
    titles = list(titles)
    wanted = text.strip().lower().removesuffix(".ipynb")
    for title in titles:
        number, _, name = title.partition("_")
        if wanted in (title, title.lstrip("0"), name, number, number.lstrip("0") or "0"):
            return title
    near = get_close_matches(wanted, [*titles, *(title.partition("_")[2] for title in titles)], 1, 0.6)
    meant = f"did you mean {near[0]}? The lessons are" if near else "there are"
    raise UnknownLesson(f"there is no lesson {text!r}; {meant} {', '.join(titles)}")


def lesson_named(text: str) -> str:
    """The course's lesson that a person means: bptt for 2, 02, bptt, 02_bptt. Raises UnknownLesson."""
    return find_lesson(text, current().lessons.values()).partition("_")[2]


def lesson_title(lesson: str) -> str:
    """ "02 · Back through time", the first line of its notebook; "02 bptt" where that is missing."""
    stem = current().lessons[lesson]
    try:
        first = json.loads((ROOT / "notebooks" / f"{stem}.ipynb").read_bytes())["cells"][0]
        return "".join(first["source"]).partition("\n")[0].removeprefix("# ")
    except FileNotFoundError:
        return stem.replace("_", " ", 1)
