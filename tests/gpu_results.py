"""Results of arithmetic on a GPU that differ from Python's: the table in gpu_results.toml."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ARRAYS = {"a", "b"}  # arguments that are arrays; the others are numbers of Python
POWERS = (31, 32, 40, 60, 62, 63, 64)  # that are shown as such


@dataclass(frozen=True)
class GpuResult:
    """One expression with its results; the file says what the fields are."""

    expression: str
    arguments: dict[str, list]
    results: list
    rule: str
    source: str
    out: str
    types: str = ""
    instruction: str = ""
    by_document: bool = False

    def kernel_text(self) -> str:
        """A kernel with the expression, in which arrays are indexed by the thread."""
        body = self.expression
        if "atomic" not in body:
            for name in ARRAYS & self.arguments.keys():
                body = re.sub(rf"\b{name}\b", f"{name}[i]", body)
        names = ", ".join(self.arguments)
        return f"def kernel({names}, out):\n    i = cuda.grid(1)\n    out[i] = {body}\n"

    def markdown(self) -> str:
        """The row of the documentation's table."""
        names = [*self.arguments]
        cases = []
        for values in zip(*self.arguments.values(), strict=True):
            pairs = zip(names, map(_shown, values), strict=True)
            cases.append(", ".join(map(" = ".join, pairs)))
        arguments = "; ".join(cases)
        if self.types:
            arguments += f" ({self.types})"
        source = self.source
        if self.by_document:
            source += " *"
        results = "; ".join(map(_shown, self.results))
        return f"| `{self.expression}` | {arguments} | {results} | {self.rule} | {source} |"


def _shown(value: float) -> str:
    """A number, large ones as a power of two."""
    if isinstance(value, float):
        return f"{value:.10g}"
    sign = ""
    if value < 0:
        sign = "-"
    for power in POWERS:
        rest = abs(value) - 2**power
        if rest == 0:
            return f"{sign}2^{power}"
        if abs(rest) < 3:
            return f"{sign}2^{power} {rest:+}"
    return str(value)


def read_rows() -> list[GpuResult]:
    """The table's rows."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return [GpuResult(**row) for row in tomllib.loads(text)["row"]]


def markdown() -> str:
    """The table of docs/simulator.md; a star marks the rows that only a document proves."""
    head = ["| expression | arguments | on a GPU | rule | source |", "| --- | --- | --- | --- | --- |"]
    return "\n".join(head + [row.markdown() for row in read_rows()])
