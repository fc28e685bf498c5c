"""A replay as one piece of HTML: data, still and front end, with no request to anywhere.

view.js is a module in anywidget's format, `export default {render}`: its render({model, el}) draws what
model.get("trace") returns.  Here a model of one line takes the place of a kernel's, so that the same module
moves in a notebook, and on a static page without a kernel.
"""

import hashlib
import html
import json
from base64 import b64encode
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path

from pocketgpu.replay.record import EVENTS, record
from pocketgpu.replay.still import in_words, still
from pocketgpu.simulator.report import Report, observe

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>:root {{ color-scheme: light dark }} body {{ margin: 16px auto; max-width: 1100px; padding: 0 12px;
font: 15px/1.5 system-ui, sans-serif }} h1 {{ font-size: 19px }}</style></head>
<body><main><h1>{title}</h1>
{body}
</main></body>
</html>
"""
# a module's script runs once, after the page: it fills every place for this replay that is still empty
START = """
for (const el of document.querySelectorAll('[data-replay="%s"]:not([data-shown])')) {
  el.dataset.shown = "";
  render({model: {get: () => trace}, el});
}
"""


@dataclass(frozen=True, repr=False)
class Replay:
    """One launch, to be looked at step by step; `trace` is its data, `report` what cuda.observe returns."""

    report: Report
    events: int = EVENTS  # at most

    @cached_property
    def trace(self) -> dict:
        return record(self.report, self.events)

    def __repr__(self) -> str:
        return "\n".join([f"replay of {self.report.kernel}: {self.trace['total']} events", *in_words(self.trace)])

    def _repr_html_(self) -> str:
        svg, alternative = still(self.trace)
        data = json.dumps(self.trace, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
        mark = hashlib.sha256(data.encode()).hexdigest()[:16]
        picture = b64encode(svg.encode()).decode()
        return (
            f'<div data-replay="{mark}"><img alt="{html.escape(alternative)}" style="max-width:100%" '
            f'src="data:image/svg+xml;base64,{picture}"></div>\n<script type="module">\n{front_end()}\n'
            f"const trace = {data};\n{START % mark}</script>"
        )

    def html(self) -> str:
        """A whole page, which needs nothing else."""
        title = html.escape(f"Replay of {self.report.kernel}")
        return PAGE.format(title=title, body=self._repr_html_())

    def save(self, path: str | Path) -> None:
        """Write that page into a file."""
        Path(path).write_text(self.html(), encoding="utf-8")


def front_end() -> str:
    """The text of view.js."""
    return resources.files(__package__).joinpath("view.js").read_text(encoding="utf-8")


def replay(launch: object, arguments: tuple) -> Replay:
    """Launch kernel[grid, block] once with checks on, and keep what it did."""
    grid, block = getattr(launch, "grid", None), getattr(launch, "block", None)
    if grid is None or block is None:
        raise TypeError("cuda.replay takes a kernel with its grid and block: cuda.replay(kernel[4, 32], x, y)")
    return Replay(observe(launch, grid, block, arguments, launch.shared, with_flops=False))
