"""Markdown to HTML as the site shows it: headings with anchors, mathematics as MathML, code with colours.

MathML needs no script and no font of another computer, every current browser draws it, and a screen reader
reads it as mathematics.
"""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import mistune
from latex2mathml.converter import convert
from nbconvert.filters.markdown_mistune import MarkdownWithMath
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

LONG_FORMULA = 24  # letters of TeX that a telephone shows in one line


@dataclass
class Section:
    """A heading of a page and the words below it, as the search finds them."""

    title: str
    anchor: str
    level: int
    lines: list[str] = field(default_factory=list)


class Prose(mistune.HTMLRenderer):
    """Renderer of one page; `sections` fills as headings come, `relink` says where a link leads."""

    def __init__(self, relink: Callable[[str], str | None], base: str | PurePosixPath = ""):
        """`base` is the folder of the source file in the clone."""
        super().__init__(escape=False)
        self.relink = relink
        self.base = base
        self.sections = []

    def html(self, markdown: str) -> str:
        """HTML of a Markdown text of this page."""
        self._collect(markdown)
        return MarkdownWithMath(renderer=self).render(markdown)

    def heading(self, text: str, level: int, **attributes: object) -> str:
        title = html.unescape(re.sub(r"<[^>]*>", "", text))
        anchor = self._anchor(title)
        section = next((s for s in self.sections if not s.anchor and s.title == title), None)
        if section is None:
            self.sections.append(section := Section(title, "", level))
        section.anchor = anchor
        section.title = title
        return f'<h{level} id="{anchor}">{text}</h{level}>\n'

    def block_code(self, code: str, info: str | None = None) -> str:
        return coloured(code, (info or "text").split()[0])

    def inline_math(self, body: str) -> str:
        return mathml(body, "inline")

    def block_math(self, body: str) -> str:
        return mathml(body, "block")

    def link(self, text: str, url: str, title: str | None = None) -> str:
        target = self.relink(url)
        return text if target is None else f'<a href="{html.escape(target)}">{text}</a>'

    def _anchor(self, title: str) -> str:
        """An anchor of letters, digits and hyphens that no other heading of the page has."""
        plain = re.sub(r"[^\w]+", "-", title.lower(), flags=re.ASCII).strip("-") or "section"
        used = {section.anchor for section in self.sections}
        number = 1
        anchor = plain
        while anchor in used:
            number += 1
            anchor = f"{plain}-{number}"
        return anchor

    def _collect(self, markdown: str) -> None:
        """Note the words below each heading, before the headings get their anchors."""
        for line in markdown.splitlines():
            if heading := re.match(r"^(#{1,6}) (.*)$", line):
                title = re.sub(r"[`*]|\[(.*?)\]\(.*?\)", r"\1", heading[2]).strip()
                self.sections.append(Section(title, "", len(heading[1])))
            elif self.sections and line.strip():
                self.sections[-1].lines.append(plain_text(line))


def plain_text(line: str) -> str:
    """A line of Markdown without links, tags and marks."""
    line = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"<[^>]*>", " ", line))
    return re.sub(r"[*`#|$]+|^\s*[-\d.]+\s", " ", line).strip()


def mathml(body: str, display: str) -> str:
    """MathML of a TeX formula; ValueError with the formula where it cannot be read."""
    try:
        text = convert(body.strip(), display=display)
    except Exception as error:  # the library has no common error of its own
        raise ValueError(f"the formula {body!r} cannot be drawn as mathematics: {error}") from error
    text = text.replace("<math ", f'<math data-tex="{html.escape(body.strip())}" ', 1)
    if len(body) <= LONG_FORMULA:
        return text
    reach = 'class="formula" tabindex="0" role="group" aria-label="Formula, scrolls sideways"'
    return f"<span {reach}>{text}</span>"


def coloured(code: str, language: str) -> str:
    """Program text with colours; a line that is too long continues below itself, further in than it began."""
    try:
        lexer = get_lexer_by_name({"ipython3": "python"}.get(language, language), stripnl=False)
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    body = highlight(code.strip("\n"), lexer, HtmlFormatter(nowrap=True)).rstrip("\n")
    lines = "".join(hanging(line) for line in body.split("\n"))
    return f'<pre class="code"><code>{lines}</code></pre>\n'


def hanging(line: str) -> str:
    """One coloured line as a block that knows its indentation, in letters."""
    plain = re.sub(r"<[^>]*>", "", line)
    spaces = len(plain) - len(plain.lstrip(" "))
    return f"<span class=line{f' style=--i:{spaces}' if spaces else ''}>{line}\n</span>"
