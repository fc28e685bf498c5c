"""Notebooks for a browser, where cells that need a compiler or processes show recorded outputs.

A source says it of a cell: `# %% needs a compiler`.  There the cell is prose: one sentence, its program, and
what it showed when the lesson ran for this site.  Cells of exercises, which use a learner's answer, have no
outputs.
"""

import re
from base64 import b64encode
from html import escape, unescape
from pathlib import Path

from nbjudge.authoring.percent import parse
from nbjudge.files import ROOT

NEEDS = "needs "  # begins the title of such a cell
DRAWING = re.compile(r"<svg\b.*?</svg>", re.S)  # Markdown shows none, but a picture that holds one
LABEL = re.compile(r'aria-label="([^"]*)"')
BETWEEN_LINES = "\n~~~\n\n~~~text\n"  # that were printed one after the other
together = "\n\n".join


def needs(notebook: Path) -> dict[str, str]:
    """{program of a cell: "needs a compiler"} of a lesson's notebook, or of its exercises."""
    folder = "notebooks" if notebook.parent.name == "notebooks" else "solutions"
    source = ROOT / folder / "source" / f"{notebook.stem}.py"
    cells = parse(source.read_text(encoding="utf-8"), source.name)
    return {cell.text: cell.title for cell in cells if cell.title.startswith(NEEDS)}


def for_browser(notebook: Path) -> str:
    """The text of a notebook without cells that a browser cannot run."""
    import nbformat  # tests ask for `needs` alone, in a Python that lacks it

    from pages.run import run_lesson

    marks = needs(notebook)
    book = nbformat.read(notebook, as_version=4)
    if not marks:
        return notebook.read_text(encoding="utf-8")
    run = run_lesson(notebook) if notebook.parent.name == "notebooks" else None
    shown = {cell.source: cell.outputs for cell in run.book.cells if "outputs" in cell} if run else {}
    where = f" Its output was recorded on {run.machine}, {run.date}." if run else " Run it at home."
    for number, cell in enumerate(book.cells):
        if cell.cell_type == "code" and cell.source in marks:
            outputs = together(filter(None, map(shown_as_prose, shown.get(cell.source, ()))))
            end = where if outputs or not run else ""  # a cell may define and show nothing
            sentence = f"*This cell {marks[cell.source]}, which a browser does not have.{end}*"
            parts = sentence, fenced(cell.source, "python"), outputs.replace(BETWEEN_LINES, "\n")
            book.cells[number] = nbformat.v4.new_markdown_cell(together(parts).rstrip(), id=cell.id)
    return nbformat.writes(book)


def fenced(text: str, language: str = "text") -> str:
    """Markdown of lines that are shown as they are."""
    return f"~~~{language}\n{text.rstrip()}\n~~~"


def shown_as_prose(output: dict) -> str:
    """Markdown of one output of a cell."""
    data = output.get("data", {})
    if "text/html" in data:
        return re.sub(r"\s*\n\s*", " ", DRAWING.sub(picture, data["text/html"]))
    if "text/markdown" in data:
        return data["text/markdown"]
    text = output.get("text", "") if output.get("name") == "stdout" else data.get("text/plain", "")
    return fenced(text) if text.strip() else ""


def picture(drawing: re.Match) -> str:
    """A drawing as a picture with its alternative text."""
    code = b64encode(drawing[0].encode()).decode()
    label = LABEL.search(drawing[0])
    return f'<img alt="{escape(unescape(label[1])) if label else ""}" src="data:image/svg+xml;base64,{code}">'
