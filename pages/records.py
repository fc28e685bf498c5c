"""Measurements as pages: where, when and by what each was made, its tables, its picture, its file."""

import shutil
from html import escape
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from pages.mend import mended
from rnncourse import records
from rnncourse.figures.picture import png

if TYPE_CHECKING:
    from pages.build import Site

INTRODUCTION = (
    "Measurements that were really made, each with machine, versions, commit and date. Only "
    "<code>rnnlab bench … --record</code> writes them, and a digest in the file shows whether it was edited."
)


def write_records(site: "Site") -> None:
    """One page a record, and the list of all, newest first."""
    entries = []
    for path in reversed(records.stored()):
        record = records.read(path)
        minute = record["date"][:16].replace("T", " ")  # a day has several records
        title = f"{record['kind']}, {minute}"
        page = f"records/{path.stem}.html"
        prose = site.prose(f"rnncourse/records/measured/{path.name}", page)
        parts = [f"# {title}", provenance(record), *tables(record)]
        body = mended(prose.html("\n\n".join(parts)), site.keep(page), prose.relink)
        body += picture(site, page, record)
        body += f'<p><a href="{path.name}" download>The record itself, as JSON</a></p>'
        site.write(page, title, body, prose)
        shutil.copyfile(path, site.folder / "records" / path.name)
        where = escape(f"{machine(record)}, {records.origin(record)}")
        entries.append(f'<li><a href="{path.stem}.html">{escape(title)}</a>: {where}</li>')
    (site.folder / "records").mkdir(exist_ok=True)
    body = f"<h1>Measurements</h1><p>{INTRODUCTION}</p><ul>{''.join(entries)}</ul>"
    site.write("records/index.html", "Measurements", body)


def machine(record: dict) -> str:
    """The measured GPU, or the processor with its cores."""
    facts = record["machine"]
    return facts.get("gpu", {}).get("name") or f"{facts['processor']}, {facts['cores']} cores"


def provenance(record: dict) -> str:
    """Facts of every record as a list."""
    facts = record["machine"]
    return "\n".join(
        (
            f"- machine: {machine(record)}; {facts['system']}; Python {facts.get('python', 'not recorded')}",
            f"- date: {record['date']}",
            f"- code: {records.origin(record)}",
        )
    )


def tables(record: dict) -> list[str]:
    """Markdown of what a record says; its text for a terminal where its report makes no tables."""
    report = part_of_kind(record["kind"], "report")
    if report is None:
        return []
    if record["kind"] == "bench cpu":
        cells = [f"## {cell}\n\n{report.markdown(record, cell)}" for cell in report.cells(record)]
        return [
            *cells,
            "## Means",
            listed(report.means(record)),
            "## First calls",
            report.first_calls(record),
        ]
    if record["kind"] == "bench cmu":
        return ["## Times", report.markdown(record), "## Notes", listed(report.notes(record))]
    return [f"## Report\n\n```text\n{report.page(record)}\n```"]


def listed(sentences: list[str]) -> str:
    """A Markdown list."""
    return "\n".join(f"- {sentence}" for sentence in sentences)


def picture(site: "Site", page: str, record: dict) -> str:
    """The picture that a kind of record has, with its finding; empty for other kinds."""
    module = part_of_kind(record["kind"], "picture")
    if module is None:
        return ""
    figure: Figure = module.draw(record)
    address, alt = site.keep(page)(png(figure), "png"), escape(module.finding(record))
    return f'<p><img class="picture" src="{address}" alt="{alt}" loading="lazy"></p>'


def part_of_kind(kind: str, part: str) -> ModuleType | None:
    """Module such as rnncourse.records.cpu_report; None where a kind has no such part."""
    name = f"rnncourse.records.{kind.removeprefix('bench ').replace(' ', '_')}_{part}"
    return import_module(name) if find_spec(name) else None
