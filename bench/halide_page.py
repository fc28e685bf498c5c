"""docs/halide.md: its table and picture are made from the latest record of an epoch, its prose is written.

python -m bench.halide_page, or `rnnlab bench cmu --record` when done; a test says what is stale.
"""

from pathlib import Path

from bench import cmu_tables
from bench.cmu.problem import Size
from bench.performance_page import with_measured
from bench.provenance import ROOT
from rnncourse import records
from rnncourse.records import cmu_picture, cmu_report

PAGE = ROOT / "docs" / "halide.md"
PICTURE = ROOT / "docs" / "cmu_epoch.png"
KIND = "bench cmu"
NO_RECORD = "No record of a whole epoch is kept yet; `rnnlab bench cmu --record` makes one.\n"


def latest() -> tuple[Path, dict] | None:
    """The newest record of every contestant at the project's size."""
    for path in reversed(records.stored(KIND)):
        record = records.read(path)
        if cmu_report.size(record) == Size() and {*cmu_report.PUBLISHED} <= {*cmu_report.timed(record)}:
            return path, record
    return None


def page(text: str) -> str:
    """The page's text with its measured part made anew."""
    newest = latest()
    return with_measured(text, _measured(*newest) if newest else NO_RECORD)


def _measured(path: Path, record: dict) -> str:
    link = f"[{path.name}](../{path.relative_to(ROOT).as_posix()})"
    parts = [cmu_report.heading(record) + f", from {link}"]
    parts += [f"![{cmu_picture.finding(record)}]({PICTURE.name})", cmu_tables.markdown(record)]
    return "\n\n".join([*parts, "\n".join(f"- {note}" for note in cmu_tables.notes(record))]) + "\n"


def refresh() -> None:
    """Write page and picture; the picture carries the digest of the record it shows."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    if newest := latest():
        _, record = newest
        cmu_picture.draw(record).savefig(PICTURE, dpi=110, metadata={"Description": record["digest"]})


if __name__ == "__main__":
    refresh()
