"""What a CMU record says: its sizes, the seconds of an epoch, and what the project published."""

import statistics
from typing import NamedTuple

PUBLISHED = {  # seconds of an epoch on a Xeon Phi with 61 cores, from the project's report
    "halide serial": 143.5,
    "halide tiled": 128.7,
    "halide parallel": 17.8,
    "halide parallel_tiled": 22.2,
    "halide vectorised": 43.2,
    "halide vectorised_tiled": 16.8,
    "halide parallel_vectorised": 5.7,
    "halide all": 3.7,
    "numpy theirs": 0.95,
}
THEIRS = "numpy theirs"  # with which all contestants are compared


class Size(NamedTuple):
    """Steps, sequences and units of an epoch."""

    T: int = 10
    B: int = 1000
    units: int = 1000  # inputs, hidden units and outputs alike

    @property
    def flops(self) -> int:
        """FLOP of the products: forward three a step, backward two, and three weight gradients."""
        return 8 * 2 * self.T * self.B * self.units**2


def heading(record: dict) -> str:
    """What was measured, where and when."""
    T, B, units = size(record)
    machine = record["machine"]["processor"]
    threads = record["settings"]["threads"]
    day = record["date"][:10]
    return (
        f"One epoch: {B} sequences of {T} pictures, {units}-{units}-{units}, float32."
        f" {machine}, {threads} threads, {day}"
    )


def size(record: dict) -> Size:
    """Sizes of the epoch that was measured."""
    return Size(*(record["settings"][key] for key in Size._fields))


def timed(record: dict) -> list[str]:
    """Contestants with a time, in the order of the record."""
    return [name for name, seconds in record["seconds"].items() if seconds]


def median(record: dict, name: str) -> float:
    """Seconds of an epoch."""
    return statistics.median(record["seconds"][name])
