"""What is wrong with a launch, in the words of whoever wrote the kernel."""

from dataclasses import dataclass

KINDS = (
    "out_of_bounds",
    "misaligned",
    "uninitialised",
    "barrier_divergence",
    "deadlock",
    "race",
    "missing_fence",
    "whole_array",  # work on many elements in one word, which is neither counted nor watched
    "undefined_lane",  # a value from a lane that took no part
    "limit",  # more than a GPU has: shared memory
    "endless",  # stopped, because it ran too long or wrote down too much
    "does_not_compile",
    "float64",
)


@dataclass(frozen=True)
class Finding:
    """One fault; line, block and thread say where, the other three with whom."""

    kind: str  # of KINDS
    message: str
    line: int | None = None
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None
    other_line: int | None = None
    other_block: tuple[int, int, int] | None = None
    other_thread: tuple[int, int, int] | None = None

    def __str__(self) -> str:
        return f"{self.kind.replace('_', ' ')}: {self.message}"


class Findings(RuntimeError):
    """A launch that a GPU may get wrong; `findings` says why.  What the kernel wrote is in its arrays."""

    def __init__(self, kernel: str, findings: tuple[Finding, ...]):
        self.findings = findings
        super().__init__("\n".join([f"{kernel}: {len(findings)} finding(s)", *map(str, findings)]))
