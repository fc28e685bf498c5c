"""Measurements as pages: where, when and by what each was made, its tables, its picture, its file."""

import shutil
from html import escape

from matplotlib.figure import Figure

from bench import cmu_tables, cpu_tables
from pages.mend import mended
from pages.site import Site
from rnncourse import records
from rnncourse.figures.picture import png
from rnncourse.records import cmu_picture, cpu_picture, cpu_report, gpu_report

INTRODUCTION = (
    "Measurements that were really made, each with machine, versions, commit and date. Only "
    "<code>rnnlab bench … --record</code> writes them, and a digest in the file shows whether it was edited."
)


def write_records(site: Site) -> None:
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
    computer = record["machine"]
    return computer.get("gpu", {}).get("name") or f"{computer['processor']}, {computer['cores']} cores"


def provenance(record: dict) -> str:
    """Properties of every record as a list."""
    computer = record["machine"]
    python = computer.get("python", "not recorded")
    return "\n".join(
        (
            f"- machine: {machine(record)}; {computer['system']}; Python {python}",
            f"- date: {record['date']}",
            f"- code: {records.origin(record)}",
        )
    )


def tables(record: dict) -> list[str]:
    """Markdown of what a record says; its text for a terminal where its report makes no tables."""
    if record["kind"] == "bench cpu":
        return [
            *(f"## {cell}\n\n{cpu_tables.markdown(record, cell)}" for cell in cpu_report.cells(record)),
            *("## Means", listed(cpu_tables.means(record))),
            *("## First calls", cpu_tables.first_calls(record)),
        ]
    if record["kind"] == "bench cmu":
        return ["## Times", cmu_tables.markdown(record), "## Notes", listed(cmu_tables.notes(record))]
    if record["kind"] == "bench gpu":
        return [f"## Report\n\n```text\n{gpu_report.page(record)}\n```"]
    return []


def listed(sentences: list[str]) -> str:
    """A Markdown list."""
    return "\n".join(f"- {sentence}" for sentence in sentences)


def picture(site: Site, page: str, record: dict) -> str:
    """The picture that a kind of record has, with its finding; empty for other kinds."""
    module = {"bench cpu": cpu_picture, "bench cmu": cmu_picture}.get(record["kind"])
    if module is None:
        return ""
    figure: Figure = module.draw(record)
    address = site.keep(page)(png(figure), "png")
    alt = escape(module.finding(record))
    return f'<p><img class="picture" src="{address}" alt="{alt}" loading="lazy"></p>'
