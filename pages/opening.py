"""What the first cell of a lesson says: title, minutes, claim, and what a reader can do afterwards.

Every list, link and heading of the site takes a lesson's name from here: a reader meets "Back through
time", never the name of a file.
"""

import json
import re
from dataclasses import dataclass
from functools import cache

from nbjudge.files import ROOT

TITLE = re.compile(r"^# \d+ · (.+)$", re.M)
MINUTES = re.compile(r"\*\*Time:\*\* (\d+) minutes")
CLAIM = re.compile(r"\*\*Claim to test: (.*?)\*\*", re.S)
AFTERWARDS = re.compile(r"\*\*Afterwards you can\*\* (.*)")


@dataclass(frozen=True)
class Opening:
    """A lesson in its own words; claim and afterwards are Markdown, "" where a lesson has none."""

    stem: str  # of its files, such as 02_bptt
    title: str
    minutes: int
    claim: str
    afterwards: str

    @property
    def number(self) -> str:
        return self.stem.partition("_")[0]

    @property
    def name(self) -> str:
        """The name of the lesson in code, such as bptt: it stays when lessons are numbered anew."""
        return self.stem.partition("_")[2]

    def __str__(self) -> str:
        return f"{self.number} · {self.title}"


@cache
def openings() -> tuple[Opening, ...]:
    """Every lesson of the clone, in order."""
    return tuple(opening(stem) for stem in sorted(path.stem for path in ROOT.glob("notebooks/*.ipynb")))


@cache
def opening(stem: str) -> Opening:
    """The opening of one lesson; ValueError where it lacks its title or its time."""
    book = json.loads((ROOT / f"notebooks/{stem}.ipynb").read_text(encoding="utf-8"))
    return read_opening(stem, "".join(book["cells"][0]["source"]))


def read_opening(stem: str, text: str) -> Opening:
    """The opening that a lesson's first cell, as Markdown, holds."""
    title = TITLE.search(text)
    minutes = MINUTES.search(text)
    if not title or not minutes:
        lacking = "a line '**Time:** N minutes'" if title else "a title '# NN · Title'"
        raise ValueError(f"the first cell of notebooks/{stem}.ipynb lacks {lacking}")
    claim = CLAIM.search(text)
    afterwards = AFTERWARDS.search(text)
    return Opening(
        stem,
        title[1].strip(),
        int(minutes[1]),
        " ".join(claim[1].split()) if claim else "",
        afterwards[1] if afterwards else "",
    )
