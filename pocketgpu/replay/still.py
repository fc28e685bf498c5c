"""A picture of a replay where no script runs: a finding's accesses, or what the dearest request moves."""

import textwrap
from html import escape
from string import Template

from pocketgpu.quantities import quantity

WIDTH = 720
LINE = 20  # pixels
LETTERS = 96
CODE = 36
SQUARES = 32  # most in a line of text, of code, of sectors or turns


def still(data: dict, template: str) -> tuple[str, str]:
    """(SVG, text alternative) of a replay's data; template: the text of still.svg."""
    sentences = sentences_of(data)
    boxes = _boxes(data)
    wrapped = [line for text in sentences for line in textwrap.wrap(text, LETTERS)]
    top = 144 if boxes else 44
    height = top + LINE * (len(wrapped) + 1)
    drawn_boxes = [_box(place, rows) for place, rows in enumerate(boxes)]
    drawn_lines = [_text("", 16, top + LINE * row, line) for row, line in enumerate(wrapped, 1)]
    svg = Template(template).substitute(
        height=height,
        inner=height - 2,
        kernel=escape(data["kernel"]),
        boxes="".join(drawn_boxes),
        lines="".join(drawn_lines),
    )
    title = f"Replay of {data['kernel']}."
    return svg, " ".join([title, *sentences])


def sentences_of(data: dict) -> list[str]:
    """What a replay shows, in sentences."""
    sentences = []
    total = data["total"]
    shown = len(data["events"]["kind"])
    for finding in data["findings"]:
        sentences += [finding["message"], finding["remedy"]]
    if not data["findings"]:
        sentences.append(f"{quantity(total, 'event')}, no findings")
        if data["requests"]:
            _, _, dearest = _dearest(data)
            sentences.append(dearest)
    if shown < total:
        sentences.append(
            f"A replay has at most {shown:,} events: it shows the first of {total:,}. Launch fewer "
            "threads, or fewer steps, to see them all"
        )
    return [f"{text[0].upper()}{text[1:]}." for text in sentences if text]


def _boxes(data: dict) -> list[tuple[str, str, str]]:
    """Heading, line of source and remark: of each access of the first finding, or of the dearest request."""
    if data["findings"]:
        accesses = data["findings"][0]["accesses"]
        return [_access_box(data, access) for access in accesses if access["verb"]]
    if not data["requests"]:
        return []
    site, count, _ = _dearest(data)
    squares = "■" * min(count, SQUARES)
    return [(data["kernel"], _code(data, site), squares)] if count else []


def _access_box(data: dict, access: dict) -> tuple[str, str, str]:
    heading = "{verb} by {name}".format_map(access)
    remark = "line {line}; barriers before: {barriers}".format_map(access)
    return heading, _code(data, access["site"]), remark


def _dearest(data: dict) -> tuple[int, int, str]:
    """Site of the dearest request, how many sectors or turns, and a sentence."""
    dearest = data["dearest"]
    sectors, turns = data["requests"][dearest]
    event = data["events"]["request"].index(dearest)
    site = data["events"]["site"][event]
    _, line = data["sites"][site]
    count = turns or sectors
    if turns:
        moved = f"{quantity(turns, 'turn')} of the banks"
    else:
        moved = f"{quantity(sectors, 'sector')} of 32 bytes"
    return site, count, f"A warp's request on line {line} takes {moved}"


def _code(data: dict, site: int) -> str:
    """The source at a place of the program, empty where it is not available."""
    place, line = data["sites"][site]
    source = data["sources"][place]
    row = line - source["first"]
    text = "".join(source["lines"][row : row + 1])
    return text.strip()[:CODE]


def _box(place: int, rows: tuple[str, str, str]) -> str:
    left = 16 + place * (WIDTH // 2 - 8)
    wide = WIDTH // 2 - 24
    heading, code, remark = rows
    texts = [
        _text("strong", left + 12, 70, heading),
        _text("code", left + 12, 96, code),
        _text("", left + 12, 122, remark),
    ]
    drawn_texts = "".join(texts)
    return f'<rect class="box" x="{left}" y="46" rx="6" width="{wide}" height="90"/>{drawn_texts}'


def _text(kind: str, x: int, y: int, text: str) -> str:
    escaped = escape(text)
    return f'<text class="{kind}" x="{x}" y="{y}">{escaped}</text>'
