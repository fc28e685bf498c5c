"""A CMU record as a table: seconds of an epoch, each beside what the project published."""

import statistics

from rnncourse.records import gpu_report
from rnncourse.records.cmu_report import PUBLISHED, THEIRS, heading, median, size, timed

HEAD = ("contestant", "seconds", "GFLOP/s", "of numpy theirs", "epochs", "first", "published, 61 cores")


def page(record: dict) -> str:
    """Everything a record says, for a terminal."""
    return "\n".join(
        [heading(record), "", gpu_report.aligned([HEAD, *rows(record)], texts=1), "", *notes(record)]
    )


def markdown(record: dict) -> str:
    """The table for a page of the documentation."""
    table = [HEAD, tuple("---:" if column else ":---" for column in range(len(HEAD))), *rows(record)]
    return "\n".join("| " + " | ".join(row) + " |" for row in table)


def rows(record: dict) -> list[list[str]]:
    """One for each contestant that was timed, slowest first."""
    flops = size(record).flops
    names = sorted(timed(record), key=lambda name: -median(record, name))
    return [_row(record, name, flops) for name in names]


def _row(record: dict, name: str, flops: int) -> list[str]:
    seconds = median(record, name)
    published = PUBLISHED.get(name)
    speed = over_theirs(record, name)
    return [
        name,
        _digits(seconds),
        _digits(1e-9 * flops / seconds),
        f"{speed:.2f}" if speed else "",
        str(len(record["seconds"][name])),
        _digits(record["first"][name]),
        f"{published:g}" if published else "",
    ]


def notes(record: dict) -> list[str]:
    """What a reader must know beside the table."""
    lines = [f"{name} is left out: {why}" for name, why in record["left_out"].items()]
    if record["missing"]:
        lines.append(f"not installed here: {', '.join(record['missing'])} (`make peers` installs peers)")
    once = [name for name, seconds in record["seconds"].items() if len(seconds) == 1]
    if once:
        lines.append(f"timed once, being slow: {', '.join(once)}; of all others, the median")
    lines.append("first: made ready, compiled and run once, in seconds; never part of the other columns")
    lines.append(f"other programs used {record['other_load']:.0%} of the cores meanwhile")
    return lines


def over_theirs(record: dict, name: str) -> float | None:
    """How many times as fast as the project's NumPy, the median over rounds; None where that is missing.

    Both ran in every round, so that a round in which the machine was busy slowed both.
    """
    mine, theirs = (record["seconds"].get(contestant) or [] for contestant in (name, THEIRS))
    if not mine or not theirs:
        return None
    if len(mine) != len(theirs):
        return statistics.median(theirs) / statistics.median(mine)
    return statistics.median(b / a for a, b in zip(mine, theirs, strict=True))


def _digits(value: float) -> str:
    """Three significant digits, and no exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
