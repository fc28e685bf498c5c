"""The race on the front page: lesson 00's kernel, replayed with its missing barrier in each possible place.

One module of JavaScript shows all replays; without a script the page has the still picture of the first.
"""

import json
import linecache
from base64 import b64encode
from collections.abc import Iterator
from html import escape
from pathlib import Path

import jinja2
import numpy as np

from nbjudge.authoring.percent import parse
from nbjudge.files import ROOT
from pocketgpu.replay.page import Replay, text_of
from pocketgpu.replay.record import VERBS
from pocketgpu.replay.still import still
from pocketgpu.simulator.trace import SHARED
from rnnlab import cuda

LESSON = ROOT / "notebooks/source/00_start_here.py"
NAME = "reverse"  # the kernel there
MISSING = "# a line is missing here"
BARRIER = "    cuda.syncthreads()"
THREADS = 8
TEMPLATE = Path(__file__).with_name("template") / "race.html.j2"


def kernel_lines() -> list[str]:
    """The lines of the lesson's kernel, its decorator first."""
    cells = parse(LESSON.read_text(encoding="utf-8"), LESSON.name)
    text = next(cell.text for cell in cells if f"def {NAME}(" in cell.text)
    return text[text.index("@cuda.jit") : text.index("cuda.replay(")].strip().splitlines()


def choices() -> Iterator[tuple[str, list[str]]]:
    """(label, lines of the kernel) of each place for the barrier, the first without one."""
    lines = kernel_lines()
    gap = next(place for place, line in enumerate(lines) if MISSING in line)
    write, read = lines[gap - 1], lines[gap + 1]
    before, after = lines[: gap - 1], lines[gap + 2 :]
    yield "nowhere", lines
    yield f"before {write.strip()}", [*before, BARRIER, write, read, *after]
    yield "between the two lines", [*before, write, BARRIER, read, *after]
    yield f"after {read.strip()}", [*before, write, read, BARRIER, *after]


def replays() -> Iterator[tuple[str, Replay, np.ndarray]]:
    """(label, replay, x after the launch) of each choice."""
    for label, lines in choices():
        x = np.arange(THREADS, dtype="float32")
        yield label, cuda.replay(kernel_of(lines)[1, THREADS], x), x


def first_read(trace: dict) -> int:
    """The step behind the first read of shared memory, at which the page opens."""
    events = trace["events"]
    for step, (kind, array) in enumerate(zip(events["kind"], events["array"], strict=True), start=1):
        if array >= 0 and VERBS[kind] == "read" and trace["arrays"][array]["space"] == SHARED:
            return step
    return 0


def asked(trace: dict) -> dict:
    """The trace as the page shows it: from its first read on, without the remedy, which is the question."""
    findings = [finding | {"remedy": ""} for finding in trace["findings"]]
    return trace | {"opens": first_read(trace), "findings": findings}


def kernel_of(lines: list[str]) -> object:
    """The kernel with those lines; its replay shows them, numbered from 1."""
    text = "\n".join(lines) + "\n"
    name = f"<race {hash(text)}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    names = {"cuda": cuda, "np": np}
    exec(compile(text, name, "exec"), names)
    return names[NAME]


def draw() -> str:
    """HTML of the race: the question, the choices, and the replay of the one that is chosen."""
    shown = [(label, asked(replay.trace)) for label, replay, _ in replays()]
    svg, alternative = still(shown[0][1], text_of("still.svg"))
    template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"), trim_blocks=True)
    return template.render(
        choices=[escape(label) for label, _ in shown],
        alternative=escape(alternative),
        still=b64encode(svg.encode()).decode(),
        module=text_of("view.js"),
        traces=json.dumps([trace for _, trace in shown], separators=(",", ":")).replace("<", "\\u003c"),
    )
