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
    svg = Template(template).substitute(
        height=height, inner=height - 2, kernel=escape(data["kernel"]),
        boxes="".join(_box(place, rows) for place, rows in enumerate(boxes)),
        lines="".join(_text("", 16, top + LINE * row, line) for row, line in enumerate(wrapped, 1)),
    )  # fmt: skip
    return svg, " ".join([f"Replay of {data['kernel']}.", *sentences])


def sentences_of(data: dict) -> list[str]:
    """What a replay shows, in sentences."""
    sentences = [
        sentence for finding in data["findings"] for sentence in (finding["message"], finding["remedy"])
    ]
    if not sentences:
        dearest = _dearest(data)[2:] if data["requests"] else ()
        sentences = [f"{quantity(data['total'], 'event')}, no findings", *dearest]
    if (shown := len(data["events"]["kind"])) < data["total"]:
        sentences.append(
            f"A replay has at most {shown:,} events: it shows the first of {data['total']:,}. Launch fewer "
            "threads, or fewer steps, to see them all"
        )
    return [f"{text[0].upper()}{text[1:]}." for text in sentences if text]


def _boxes(data: dict) -> list[tuple[str, str, str]]:
    """Heading, line of source and remark: of each access of the first finding, or of the dearest request."""
    if data["findings"]:
        accesses = [access for access in data["findings"][0]["accesses"] if access["verb"]]
        remark = "line {line}; barriers before: {barriers}".format
        return [(f"{a['verb']} by {a['name']}", _code(data, a["site"]), remark(**a)) for a in accesses]
    site, count, _ = _dearest(data) if data["requests"] else (0, 0, "")
    return [(data["kernel"], _code(data, site), "■" * min(count, SQUARES))] if count else []


def _dearest(data: dict) -> tuple[int, int, str]:
    """Site of the dearest request, how many sectors or turns, and a sentence."""
    sectors, turns = data["requests"][data["dearest"]]
    site = data["events"]["site"][data["events"]["request"].index(data["dearest"])]
    count = turns or sectors
    nouns = ("turn", "the banks") if turns else ("sector", "32 bytes")
    takes = f"takes {quantity(count, nouns[0])} of {nouns[1]}"
    return site, count, f"A warp's request on line {data['sites'][site][1]} {takes}"


def _code(data: dict, site: int) -> str:
    """The source at a place of the program, empty where it is not available."""
    place, line = data["sites"][site]
    source = data["sources"][place]
    return "".join(source["lines"][line - source["first"] :][:1]).strip()[:CODE]


def _box(place: int, rows: tuple[str, str, str]) -> str:
    left = 16 + place * (WIDTH // 2 - 8)
    wide = WIDTH // 2 - 24
    texts = [
        _text(kind, left + 12, 70 + 26 * row, text)
        for row, (kind, text) in enumerate(zip(("strong", "code", ""), rows, strict=True))
    ]
    return f'<rect class="box" x="{left}" y="46" rx="6" width="{wide}" height="90"/>{"".join(texts)}'


def _text(kind: str, x: int, y: int, text: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(text)}</text>'
