"""What the CPU ladder was meant to reach, against what a record says it did.  One line a target."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rnnlab.records import cpu_report as report
from rnnlab.records.workload import SHAPES

Value = Callable[[dict], float | None]


@dataclass(frozen=True)
class Target:
    """A figure, computed from a record, and the bound it was to keep."""

    sentence: str
    bound: float
    value: Value
    is_ceiling: bool = False  # to stay below the bound, not above it

    def row(self, record: dict) -> list[str]:
        """What was meant, what is measured, whether it is met and else by how much it is missed."""
        got, sign = self.value(record), "≤" if self.is_ceiling else "≥"
        meant = f"{sign} {self.bound:g}"
        if got is None:
            return [self.sentence, meant, "–", "not measured"]
        reached = self.bound / got if self.is_ceiling else got / self.bound
        verdict = "met" if reached >= 1 else f"missed: {100 * reached:.0f} % of it"
        return [self.sentence, meant, f"{got:.2f}", verdict]


def table(record: dict) -> str:
    """All targets as a table for a page."""
    head = ["best rung, in one run, equal threads", "target", "measured", ""]
    lines = [head, ["---", "---:", "---:", "---"], *(target.row(record) for target in TARGETS)]
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
        ratios = [report.speed_over(record, case, report.PYTORCH) for case in cases]
        return min(ratios) if len(ratios) == len(set(shapes)) and None not in ratios else None

    return value


def mean(peer: str, cell: str | None = None) -> Value:
    """The geometric mean of the speed over a peer's, of one cell or of all."""
    return lambda record: report.mean_speed_over(record, peer, cell)


def part_of_gemm(cell: str, shape: tuple) -> Value:
    """The part of the large product's rate that is reached at one shape."""

    def value(record: dict) -> float | None:
        cases = _cases(record, cell, [shape])
        return report.part_of_gemm(record, cases[0]) if cases else None

    return value


def most_memory(record: dict) -> float | None:
    """The highest memory over PyTorch's, where PyTorch's step needs enough to be measured."""
    ratios = [report.memory_over_pytorch(record, case) for case in record["cases"]]
    return max((ratio for ratio in ratios if ratio is not None), default=None)


NARROW = [shape for shape in SHAPES if shape[3] <= 256]
WIDE = [shape for shape in SHAPES if shape[3] > 256]
TARGETS = (
    Target("rnn_tanh over PyTorch, at every shape", 2.2, least("rnn_tanh", SHAPES)),
    Target("rnn_tanh over PyTorch, at 100×16, 64×128", 4, least("rnn_tanh", SHAPES[1:2])),
    Target("rnn_tanh over PyTorch, at B = 1 (first and last shape)", 10, least("rnn_tanh", SHAPES[::6])),
    Target("gru over PyTorch, up to H = 256", 3, least("gru", NARROW)),
    Target("gru over PyTorch, above H = 256", 2, least("gru", WIDE)),
    Target("lstm over PyTorch, geometric mean", 1, mean(report.PYTORCH, "lstm")),
    Target("lstm over PyTorch, at every shape", 0.85, least("lstm", SHAPES)),
    Target("over PyTensor, geometric mean", 1.5, mean("pytensor")),
    Target("over JAX, geometric mean", 1.5, mean("jax")),
    Target("rnn_tanh at 50×64, 512×512, part of the GEMM rate", 0.75, part_of_gemm("rnn_tanh", SHAPES[4])),
    Target("memory of a step over PyTorch's, at every shape", 1, most_memory, is_ceiling=True),
)


def asked(record: dict) -> str:
    """Rate that a target over PyTorch requires at each size, beside those this machine's BLAS reaches."""
    head = ["cell, T×B, I×H", "PyTorch, GFLOP/s", "target", "required", "bare products", "large GEMM"]
    lines = [head, ["---", *["---:"] * 5]]
    for case in record["cases"]:
        cell, *size = (case["workload"][key] for key in ("cell", "T", "B", "I", "H"))
        times, theirs = _times_pytorch(cell, tuple(size)), report.gflops(case, report.PYTORCH)
        if times and theirs:
            rates = [f"{report.gflops(case, name):.0f}" for name in ("gemm_step", "gemm_large")]
            T, B, I, H = size
            where = f"{cell}, {T}×{B}, {I}×{H}"
            lines.append([where, f"{theirs:.0f}", f"{times:g}×", f"{times * theirs:.0f}", *rates])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _times_pytorch(cell: str, shape: tuple[int, ...]) -> float:
    """The strictest factor over PyTorch that is required at one size; 0 where none is."""
    known = {
        "rnn_tanh": {SHAPES[0]: 10, SHAPES[1]: 4, SHAPES[6]: 10}.get(shape, 2.2),
        "gru": 3 if shape in NARROW else 2,
        "lstm": 0.85,
    }
    return known.get(cell, 0)
