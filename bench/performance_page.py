"""docs/performance.md: tables and picture are made from the latest full record, its prose is written.

python -m bench.performance_page, or `rnnlab bench cpu --record` when done; a test says what is stale.
"""

import sys
from pathlib import Path

from bench import cpu_bounds, cpu_tables, cpu_targets, parallel_times, step_report
from bench.cpu_record import KIND
from bench.provenance import ROOT
from rnncourse import records
from rnncourse.records import cpu_picture, cpu_report
from rnncourse.records.workload import CELLS, SHAPES, Workload

PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "cpu_ladder.png"
BEGIN = "<!-- measured: begin -->\n"
END = "<!-- measured: end -->\n"
PREDICTED = "<!-- predicted: begin -->\n"
END_PREDICTED = "<!-- predicted: end -->\n"
NO_RECORD = "No full record is kept yet; `rnnlab bench cpu --record` makes one.\n"


def latest(emulates: str | None = None) -> tuple[Path, dict] | None:
    """The newest record that has every cell at every shape, of this machine as it is or emulating another."""
    full = {Workload(cell, *shape) for cell in CELLS for shape in SHAPES}
    for path in reversed(records.stored(KIND)):
        record = records.read(path)
        if record["settings"].get("emulates") == emulates and full <= {
            Workload(**case["workload"]) for case in record["cases"]
        }:
            return path, record
    return None


def measured(path: Path, record: dict) -> str:
    """The part of the page that a record makes."""
    heading = "\n".join(f"- {line}" for line in cpu_report.heading(record).splitlines())
    link = f"[{path.name}](../{path.relative_to(ROOT).as_posix()})"
    source = f"- from {link}; `rnnlab record show {path.stem}` prints all of it"
    alt = cpu_picture.finding(record)
    masked = latest("avx2")
    both = {"reached": record} | ({"reached, AVX-512 masked": masked[1]} if masked else {})
    parts = [f"{heading}\n{source}", f"![{alt}]({PICTURE.name})", "### Targets", cpu_targets.table(both)]
    parts += ["### What bounds what is missed", cpu_bounds.missed(record)]
    parts += ["### What they require", cpu_targets.required_rates(record)]
    for cell in cpu_report.cells(record):
        parts += [f"### {cell}", cpu_tables.markdown(record, cell)]
    if steps := step_report.steps(record):
        parts += ["### One step of one sequence", *steps]
    if scans := step_report.scans(record):
        parts += ["### One long sequence, by a loop and by a scan", *scans]
    parts += ["### Means", "\n".join(f"- {line}" for line in cpu_tables.means(record))]
    parts += ["### First call", cpu_tables.first_calls(record)]
    if absent := _absent(record):
        parts += ["### Not in the tables", absent]
    if masked:
        parts += ["### AVX-512 masked", *_masked(*masked)]
    return "\n\n".join(parts) + "\n"


def _masked(path: Path, record: dict) -> list[str]:
    """What a record says that emulates an AVX2 machine."""
    tables = [cpu_tables.markdown(record, cell) for cell in cpu_report.cells(record)]
    bounds = f"What bounds what is missed there:\n\n{cpu_bounds.missed(record)}"
    source = f"`rnnlab record show {path.stem}` prints all of it"
    heading = cpu_report.heading(record).replace("\n", "; ")
    parts = [heading, source, bounds, *tables, *step_report.steps(record)]
    if absent := _absent(record):
        parts += ["Not in the tables:", absent]
    return parts


def _absent(record: dict) -> str:
    """Contestants that are not in the tables, and why, as a list."""
    return "\n".join(f"- {line}" for line in cpu_tables.absent(record))


def page(text: str) -> str:
    """The page's text with its measured part, and what is only predicted, made anew."""
    newest = latest()
    text = with_measured(text, measured(*newest) if newest else NO_RECORD)
    return with_measured(text, f"{parallel_times.table()}\n", PREDICTED, END_PREDICTED)


def with_measured(text: str, tables: str, begin: str = BEGIN, end: str = END) -> str:
    """A page's text with what stands between its two marks made anew."""
    if begin not in text:
        return text
    before, _, rest = text.partition(begin)
    return f"{before}{begin}{tables}{end}{rest.partition(end)[2]}"


def refresh() -> None:
    """Write page and picture; the picture carries the digest of the record it shows."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    if newest := latest():
        _, record = newest
        cpu_picture.draw(record).savefig(PICTURE, dpi=110, metadata={"Description": record["digest"]})


if __name__ == "__main__":
    sys.exit(refresh())
