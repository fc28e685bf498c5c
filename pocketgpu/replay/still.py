"""A picture of a replay where no script runs: a finding's accesses, or what the dearest request moves."""

import textwrap
from html import escape
from string import Template

WIDTH, LINE, LETTERS, CODE = 720, 20, 96, 36  # pixels; letters that fit into a line of text, of code
MOST_SQUARES = 32  # for sectors or turns


def still(data: dict, template: str) -> tuple[str, str]:
    """(SVG, text alternative) of a replay's data; template: the text of still.svg."""
    sentences, boxes = in_words(data), _boxes(data)
    wrapped, top = [line for text in sentences for line in textwrap.wrap(text, LETTERS)], 144 if boxes else 44
    height = top + LINE * (len(wrapped) + 1)
    svg = Template(template).substitute(
        height=height, inner=height - 2, kernel=escape(data["kernel"]),
        boxes="".join(_box(place, rows) for place, rows in enumerate(boxes)),
        lines="".join(_text("", 16, top + LINE * row, line) for row, line in enumerate(wrapped, 1)),
    )  # fmt: skip
    return svg, " ".join([f"Replay of {data['kernel']}.", *sentences])


def in_words(data: dict) -> list[str]:
    """What a replay shows, in sentences."""
    sentences = [
        sentence for finding in data["findings"] for sentence in (finding["message"], finding["remedy"])
    ]
    if not sentences:
        dearest = _dearest(data)[2:] if data["requests"] else ()
        sentences = [f"{data['total']:,} events, no findings", *dearest]
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
        return [(f"{a['verb']} by {a['name']}", _code(data, a["line"]), remark(**a)) for a in accesses]
    line, count, _ = _dearest(data) if data["requests"] else (0, 0, "")
    return [(f"line {line}", _code(data, line), "■" * min(count, MOST_SQUARES))] if count else []


def _dearest(data: dict) -> tuple[int, int, str]:
    """Line of the dearest request, how many sectors or turns, and a sentence."""
    sectors, turns = data["requests"][data["dearest"]]
    line = data["sites"][data["events"]["site"][data["events"]["request"].index(data["dearest"])]][1]
    what = "turn of the banks" if turns else "sector of 32 bytes"
    count = turns or sectors
    what = what if count == 1 else what.replace(" of", "s of", 1)
    return line, count, f"A warp's request on line {line} takes {count} {what}"


def _code(data: dict, line: int) -> str:
    source = data["sources"][0]
    at = line - source["first"]
    return source["lines"][at].strip()[:CODE] if 0 <= at < len(source["lines"]) else ""


def _box(place: int, rows: tuple[str, str, str]) -> str:
    left, wide = 16 + place * (WIDTH // 2 - 8), WIDTH // 2 - 24
    texts = [
        _text(kind, left + 12, 70 + 26 * row, text)
        for row, (kind, text) in enumerate(zip(("strong", "code", ""), rows, strict=True))
    ]
    return f'<rect class="box" x="{left}" y="46" rx="6" width="{wide}" height="90"/>{"".join(texts)}'


def _text(kind: str, x: int, y: int, text: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(text)}</text>'
