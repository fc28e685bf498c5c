"""Targets of the CPU ladder beside what a record reached, for two kinds of machine.  One line a target."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bench import cpu_tables
from rnncourse.records.cpu_report import PYTORCH, gflops, speed_over
from rnncourse.records.workload import CELLS, SHAPES

Value = Callable[[dict], float | None]
KINDS = "any x86-64", "Zen 5"
ZEN5 = re.compile(r"EPYC 9..5|Ryzen.* 9\d{3}")  # names of its processors
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Target:
    """A figure, computed from a record, and its bound on each kind of machine."""

    sentence: str
    bounds: tuple[float | None, float | None]  # in the order of KINDS; None where the kind has no such target
    value: Value
    is_ceiling: bool = False  # to stay below the bound, not above it

    def row(self, record: dict) -> list[str]:
        """The sentence, then target and reached for each kind; only the record's own kind is reached."""
        own = kind(record)
        pairs = [
            self._pair(bound, self.value(record) if name == own else None)
            for name, bound in zip(KINDS, self.bounds, strict=True)
        ]
        return [self.sentence, *(column for pair in pairs for column in pair)]

    def bound(self, record: dict) -> float | None:
        """What the record's kind of machine should reach."""
        return self.bounds[KINDS.index(kind(record))]

    def _pair(self, bound: float | None, got: float | None) -> tuple[str, str]:
        if bound is None:
            return "–", "–"
        target = f"{'≤' if self.is_ceiling else '≥'} {bound:g}"
        if got is None:
            return target, NOT_MEASURED
        reached = bound / got if self.is_ceiling else got / bound
        if reached >= 1:
            return target, f"{got:.2f}, met"
        more = 2 * (reached > 0.995)  # digits, where a target that is missed by a hair would look met
        return target, f"{got:.{2 + more}f}, missed: {100 * reached:.{more}f} % of it"


def kind(record: dict) -> str:
    """The kind of machine that a record was made on, one of KINDS."""
    return KINDS[bool(ZEN5.search(record["machine"]["processor"]))]


def table(record: dict) -> str:
    """All targets as a table for a page."""
    head = ["best rung, in one run, equal threads", *(part for name in KINDS for part in (name, "reached"))]
    lines = [head, ["---", *["---:"] * 4], *(target.row(record) for target in TARGETS)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cases(record: dict, cell: str | None, shapes: Iterable) -> list[dict]:
    wanted = {tuple(shape) for shape in shapes}
    size = lambda case: tuple(case["workload"][letter] for letter in "TBIH")
    cases = [case for case in record["cases"] if size(case) in wanted]
    return [case for case in cases if cell in (None, case["workload"]["cell"])]


def least(cell: str, shapes: Iterable) -> Value:
    """The smallest speed over PyTorch's; unknown as long as one of these shapes is."""

    def value(record: dict) -> float | None:
        cases = _cases(record, cell, shapes)
        ratios = [speed_over(record, case, PYTORCH) for case in cases]
        return min(ratios) if len(ratios) == len(set(shapes)) and None not in ratios else None

    return value


def mean(peer: str, cell: str | None = None) -> Value:
    """The geometric mean of the speed over a peer's, of one cell or of all."""
    return lambda record: cpu_tables.mean_speed_over(record, peer, cell)


def part_of_gemm(record: dict) -> float | None:
    """The least part of the large product's rate at WIDE_STEPS; unknown as long as one of them is."""
    parts = [cpu_tables.part_of_gemm(record, case) for case in _cases(record, None, WIDE_STEPS)]
    return min(parts) if len(parts) == len(WIDE_STEPS) * len(CELLS) and None not in parts else None


def most_memory(record: dict) -> float | None:
    """The highest memory over PyTorch's, where PyTorch's step needs enough to be measured."""
    ratios = [cpu_tables.memory_over_pytorch(record, case) for case in record["cases"]]
    return max((ratio for ratio in ratios if ratio is not None), default=None)


NARROW = [shape for shape in SHAPES if shape[3] <= 256]
WIDE = [shape for shape in SHAPES if shape[3] > 256]
WIDE_STEPS = [shape for shape in SHAPES if shape[1] >= 32 and shape[3] >= 256]
TARGETS = (
    Target("rnn_tanh over PyTorch, at every shape", (1.2, 2.5), least("rnn_tanh", SHAPES)),
    Target("rnn_tanh over PyTorch, at 100×16, 64×128", (None, 4), least("rnn_tanh", SHAPES[1:2])),
    Target("rnn_tanh over PyTorch, at B = 1", (None, 12), least("rnn_tanh", SHAPES[::6])),
    Target("gru over PyTorch, up to H = 256", (1.2, 3), least("gru", NARROW)),
    Target("gru over PyTorch, above H = 256", (1.2, 2.3), least("gru", WIDE)),
    Target("lstm over PyTorch, at every shape", (1, 1.15), least("lstm", SHAPES)),
    Target("lstm over PyTorch, geometric mean", (None, 1.5), mean(PYTORCH, "lstm")),
    Target("part of the large GEMM's rate, H ≥ 256, B ≥ 32", (0.8, 0.85), part_of_gemm),
    Target("over JAX, geometric mean", (1.5, 1.8), mean("jax")),
    Target("over PyTensor, geometric mean", (4, 5), mean("pytensor")),
    Target("memory of a step over PyTorch's, at every shape", (1, 1), most_memory, is_ceiling=True),
)
FACTORS = {  # over PyTorch, the strictest at one shape
    "any x86-64": lambda cell, shape: {"rnn_tanh": 1.2, "gru": 1.2, "lstm": 1.0}.get(cell),
    "Zen 5": lambda cell, shape: {
        "rnn_tanh": 12 if shape[1] == 1 else 4 if shape == SHAPES[1] else 2.5,
        "gru": 3 if shape in NARROW else 2.3,
        "lstm": 1.15,
    }.get(cell),
}


def required_rates(record: dict) -> str:
    """Rate that a target over PyTorch requires at each size, beside those this machine's BLAS reaches."""
    head = ["cell, T×B, I×H", "PyTorch, GFLOP/s", "target", "required", "bare products", "large GEMM"]
    lines = [head, ["---", *["---:"] * 5]]
    for case in record["cases"]:
        cell, *size = (case["workload"][key] for key in ("cell", "T", "B", "I", "H"))
        factor, theirs = FACTORS[kind(record)](cell, tuple(size)), gflops(case, PYTORCH)
        if factor and theirs:
            rates = [f"{gflops(case, name):.0f}" for name in ("gemm_step", "gemm_large")]
            T, B, I, H = size
            where = f"{cell}, {T}×{B}, {I}×{H}"
            lines.append([where, f"{theirs:.0f}", f"{factor:g}×", f"{factor * theirs:.0f}", *rates])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
