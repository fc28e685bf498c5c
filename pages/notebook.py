"""A notebook to the HTML of a page's main part, by nbconvert with the course's own template.

Cells become plain sections: prose as it is, code with colours and a name for screen readers, each output in
the richest form that needs no script.
"""

from collections.abc import Callable
from pathlib import Path

import nbformat
from nbconvert.exporters import TemplateExporter
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from traitlets import default
from traitlets.config import Config

from pages.mend import mended
from pages.prose import Prose, coloured
from pages.quiz import add_quizzes, guess_attribute

TEMPLATES = Path(__file__).with_name("template")
SHOWN_FIRST = ["text/html", "image/svg+xml", "image/png", "text/markdown", "image/jpeg", "text/plain"]


class LessonExporter(TemplateExporter):
    """nbconvert's exporter with the template `lesson` and no other computer's scripts."""

    @default("template_name")
    def _template(self) -> str:
        return "lesson"

    @default("file_extension")
    def _extension(self) -> str:
        return ".html"

    @property
    def default_config(self) -> Config:
        config = Config({"NbConvertBase": {"display_data_priority": SHOWN_FIRST}})
        return config.merge(super().default_config) or config


def main_part(
    book: nbformat.NotebookNode, prose: Prose, keep: Callable[[bytes, str], str], has_quizzes: bool = False
) -> str:
    """HTML of all cells; `keep` stores a picture's bytes and answers with its address on the page."""
    exporter = LessonExporter(
        extra_template_basedirs=[str(TEMPLATES)],
        filters={
            "markdown2html": prose.html,
            "highlight_code": lambda code: coloured(code, "python"),
            "guess_attribute": guess_attribute,
        },
    )
    exporter.register_preprocessor(CoalesceStreamsPreprocessor, enabled=True)  # one loop prints into one box
    body, _ = exporter.from_notebook_node(book, resources={"has_quizzes": has_quizzes})
    body = mended(body, keep, prose.relink)
    return add_quizzes(body) if has_quizzes else body
