"""A picture of a replay where no script runs: the first finding's accesses, or what the dearest request moves."""

import textwrap
from html import escape

from pocketgpu.simulator.threads import thread_name

WIDTH, LINE, LETTERS, CODE = 720, 20, 96, 36  # pixels; letters that fit into a line of text, of code
CELL = 18  # pixels, of a sector or a bank
STYLE = """
text { font: 14px system-ui, sans-serif; fill: #1b2733 } .code { font-family: ui-monospace, monospace }
.card { fill: #fff; stroke: #c9d1da } .box { fill: #f2f5f8; stroke: #66717e } .full { fill: #0072b2 }
.strong { font-weight: 600 }
@media (prefers-color-scheme: dark) { text { fill: #e8edf2 } .card { fill: #12181f; stroke: #3a4653 }
.box { fill: #1b242d; stroke: #a8b3bf } .full { fill: #56b4e9 } }
"""


def still(data: dict) -> tuple[str, str]:
    """(SVG, text alternative) of a replay's data."""
    title = f"{data['kernel']}[{_size(data['grid'])}, {_size(data['block'])}]"
    found = data["findings"][0] if data["findings"] else None
    sentences = in_words(data)
    if found and len(found["accesses"]) == 2:
        picture, top = _two_accesses(data, found["accesses"]), 144
    else:
        picture, top = "", 44
    lines = [line for sentence in sentences for line in textwrap.wrap(sentence, LETTERS)]
    texts = "".join(
        f'<text x="16" y="{top + LINE * row}">{escape(line)}</text>' for row, line in enumerate(lines, 1)
    )
    bottom = top + LINE * (len(lines) + 1)
    if not found and data["requests"]:
        picture, bottom = _strip(*data["requests"][data["dearest"]], bottom), bottom + CELL + 40
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom}" width="{WIDTH}" '
        f'height="{bottom}"><style>{STYLE}</style><rect class="card" x="1" y="1" rx="8" width="{WIDTH - 2}" '
        f'height="{bottom - 2}"/><text class="strong" x="16" y="30">{escape(title)}</text>{picture}{texts}</svg>'
    )
    return svg, " ".join([f"A launch of {title}.", *sentences])


def in_words(data: dict) -> list[str]:
    """What a replay shows, in sentences."""
    sentences = [sentence for found in data["findings"] for sentence in (found["message"], found["remedy"])]
    if not data["findings"] and data["requests"]:
        sentences.append(_dearest_in_words(data))
    shown = len(data["events"]["kind"])
    if shown < data["total"]:
        sentences.append(
            f"A replay has at most {shown:,} events: it shows the first of {data['total']:,}. Launch fewer "
            "threads, or fewer steps, to see them all."
        )
    return [f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}" for text in sentences if text] or [
        f"{data['total']} events, no findings."
    ]


def name_of(data: dict, thread: int) -> str:
    """Name of a thread that is counted through the grid."""
    wide, high, deep = data["block"]
    block, local = divmod(thread, wide * high * deep)
    return thread_name(_index(block, data["grid"]), _index(local, data["block"]), data["grid"], data["block"])


def _dearest_in_words(data: dict) -> str:
    sectors, turns = data["requests"][data["dearest"]]
    site = data["events"]["site"][data["events"]["request"].index(data["dearest"])]
    cost = f"takes {_count(turns, 'turn')} of the banks" if turns else f"moves {_count(sectors, 'sector')} of 32 bytes"
    return f"A warp's request on line {data['sites'][site][1]} {cost}"


def _two_accesses(data: dict, accesses: list[dict]) -> str:
    """Two boxes side by side: who, what, where, behind how many barriers."""
    boxes = []
    for place, access in enumerate(accesses):
        left = 16 + place * (WIDTH // 2 - 8)
        source = data["sources"][0]
        at = access["line"] - source["first"]
        code = source["lines"][at].strip()[:CODE] if 0 <= at < len(source["lines"]) else ""
        rows = (
            ("strong", f"{access['verb']} by {name_of(data, access['thread'])}"),
            ("code", code),
            ("", f"line {access['line']}; {_count(access['barriers'], 'barrier')} behind it"),
        )
        texts = "".join(
            f'<text class="{kind}" x="{left + 12}" y="{70 + 26 * row}">{escape(text)}</text>'
            for row, (kind, text) in enumerate(rows)
        )
        boxes.append(
            f'<rect class="box" x="{left}" y="46" rx="6" width="{WIDTH // 2 - 24}" height="90"/>{texts}'
        )
    return "".join(boxes)


def _strip(sectors: int, turns: int, top: int) -> str:
    """A box for every sector that moves, or for every turn of the banks; at most 32."""
    count = min(turns or sectors, 32)
    return "".join(
        f'<rect class="full" x="{16 + (CELL + 3) * k}" y="{top}" width="{CELL}" height="{CELL}"/>'
        for k in range(count)
    ) + (
        f'<text x="16" y="{top + CELL + 18}">{"turns of the banks, one after another" if turns else "sectors"}'
        "</text>"
    )


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _index(number: int, size: list[int]) -> tuple[int, int, int]:
    return number % size[0], number // size[0] % size[1], number // (size[0] * size[1])


def _size(size: list[int]) -> str:
    """A grid or a block as one writes it: 4, or (4, 8)."""
    sizes = [*size]
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return str(sizes[0]) if len(sizes) == 1 else str(tuple(sizes))
