"""A replay as one piece of HTML: data, still and front end, with no request to anywhere.

view.js is a module in anywidget's format, `export default {render}`: its render({model, el}) draws what
model.get("trace") returns.  fragment.html puts a model of one line in the place of a kernel's, so that the
same module moves in a notebook, and on a static page without a kernel.
"""

import html
import json
from base64 import b64encode
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib import resources
from string import Template

from pocketgpu.replay.record import record
from pocketgpu.replay.still import sentences_of, still
from pocketgpu.simulator.report import Report, observe
from pocketgpu.simulator.settings import settings


@dataclass(frozen=True, repr=False)
class Replay:
    """One launch, to be looked at step by step; `trace` is its data, `report` what cuda.observe returns."""

    report: Report

    @cached_property
    def trace(self) -> dict:
        return record(self.report)

    def __repr__(self) -> str:
        return "\n".join([f"Replay of {self.report.kernel}.", *sentences_of(self.trace)])

    def _repr_html_(self) -> str:
        svg, alternative = still(self.trace, text_of("still.svg"))
        data = json.dumps(self.trace, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
        return Template(text_of("fragment.html")).substitute(
            mark=sha256(data.encode()).hexdigest()[:16],
            alternative=html.escape(alternative),
            still=b64encode(svg.encode()).decode(),
            module=text_of("view.js"),
            trace=data,
        )

    def html(self) -> str:
        """A whole page, which needs nothing else."""
        title = html.escape(f"Replay of {self.report.kernel}")
        return Template(text_of("page.html")).substitute(title=title, body=self._repr_html_())


def text_of(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def replay(launch: object, arguments: tuple) -> Replay:
    """One launch with checks on."""
    if getattr(launch, "grid", None) is None or not hasattr(launch, "shared"):
        raise TypeError("cuda.replay takes a kernel with grid and block: cuda.replay(kernel[4, 32], x, y)")
    with settings(lockstep=False, partial=True):  # the steps of one thread after another
        return Replay(observe(launch, launch.grid, launch.block, arguments, launch.shared, with_flops=False))
