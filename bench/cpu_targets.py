"""Targets of the CPU ladder beside what records reached.  One line a target."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bench import cpu_tables
from bench.step_report import STEPS_OF_8_BITS, TORCH_STEPS, gain, step_over_weights, step_speed
from rnncourse.records.cpu_report import NO_STEPS, PYTORCH, best_rung, gflops, median, speed_over
from rnncourse.records.workload import CELLS, SHAPES

Value = Callable[[dict], float | None]
NOT_MEASURED = "not measured"
LEFT_OUT = "left out, why: below"


@dataclass(frozen=True)
class Target:
    """A figure, computed from a record, and its bound."""

    sentence: str
    bound: float
    value: Value
    is_ceiling: bool = False  # to stay below the bound, not above it
    contestant: str = ""  # whose figure it is, where a machine may be unable to run it

    def row(self, records: Iterable[dict]) -> list[str]:
        """The sentence, the target, then what each record reached."""
        target = f"{'≤' if self.is_ceiling else '≥'} {self.bound:g}"
        return [self.sentence, target, *map(self._reached, records)]

    def _reached(self, record: dict) -> str:
        got = self.value(record)
        if got is None:
            is_left_out = any(self.contestant in case["left_out"] for case in record["cases"])
            return LEFT_OUT if is_left_out else NOT_MEASURED
        reached = self.bound / got if self.is_ceiling else got / self.bound
        if reached >= 1:
            return f"{got:.2f}, met"
        more = 2 * (reached > 0.995)  # digits, where a target that is missed by a hair would look met
        return f"{got:.{2 + more}f}, missed: {100 * reached:.{more}f} % of it"


def table(records: dict[str, dict]) -> str:
    """All targets as a table for a page, with a column for each record {heading: record}."""
    head = ["best rung, in one run, equal threads", "target", *records]
    lines = [head, ["---", *["---:"] * (1 + len(records))]]
    lines += [target.row(records.values()) for target in TARGETS]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def least(peer: str, cells: Iterable[str] = CELLS) -> Value:
    """The smallest speed over a peer's at SHAPES; unknown as long as that of one of them is."""

    def value(record: dict) -> float | None:
        ratios = [speed_over(record, case, peer) for case in _cases(record, SHAPES, cells)]
        return min(ratios) if len(ratios) == len(SHAPES) * len([*cells]) and None not in ratios else None

    return value


def mean(peer: str) -> Value:
    """The geometric mean of the speed over a peer's."""
    return lambda record: cpu_tables.mean_speed_over(record, peer)


def part_of_gemm(record: dict) -> float | None:
    """The least part of the large product's rate at WIDE_STEPS; unknown as long as one of them is."""
    parts = [cpu_tables.part_of_gemm(record, case) for case in _cases(record, WIDE_STEPS)]
    return min(parts) if len(parts) == len(WIDE_STEPS) * len(CELLS) and None not in parts else None


def most_memory(record: dict) -> float | None:
    """The highest memory over PyTorch's, where PyTorch's step needs enough to be measured."""
    ratios = [cpu_tables.memory_over_pytorch(record, case) for case in record["cases"]]
    return max((ratio for ratio in ratios if ratio is not None), default=None)


def of_steps(choose: Callable, figure: Callable[[dict], float | None]) -> Value:
    """The least or the largest figure of the record's steps of one sequence."""

    def value(record: dict) -> float | None:
        figures = map(figure, record.get("steps", NO_STEPS)["cases"])
        return choose((number for number in figures if number is not None), default=None)

    return value


def gain_of_16_bits(record: dict) -> float | None:
    """The least speed of packed_bfloat16 over the best rung in float32 at WIDE_STEPS; see `least`."""
    ratios = [narrow_over_float32(record, case) for case in _cases(record, WIDE_STEPS)]
    return min(ratios) if len(ratios) == len(WIDE_STEPS) * len(CELLS) and None not in ratios else None


def narrow_over_pytorch(record: dict) -> float | None:
    """The least speed of packed_bfloat16 over the fastest of PyTorch's at WIDE_STEPS; see `least`."""
    ratios = [narrow_over_torch(case) for case in _cases(record, WIDE_STEPS)]
    return min(ratios) if len(ratios) == len(WIDE_STEPS) * len(CELLS) and None not in ratios else None


def small_lstm_over_pytorch(record: dict) -> float | None:
    """The speed of the best rung over PyTorch's in float32 for an LSTM of 100×16, 64×128."""
    (case,) = _cases(record, [SMALL], ["lstm"]) or [None]
    return speed_over(record, case, PYTORCH) if case else None


def int8_over_peers(case: dict) -> float | None:
    """How many times as fast as the fastest peer of 8 bits a step from 256 units on is."""
    is_wide = case["workload"]["H"] >= 256
    return step_speed(case, *STEPS_OF_8_BITS, ours="inference_int8") if is_wide else None


def bytes_of_16_bits(record: dict) -> float | None:
    """The highest memory of packed_bfloat16 over that of packed_weights at WIDE_STEPS."""
    ratios = map(narrow_bytes, _cases(record, WIDE_STEPS))
    return max((ratio for ratio in ratios if ratio is not None), default=None)


def narrow_bytes(case: dict) -> float | None:
    """The memory of packed_bfloat16 over that of packed_weights."""
    narrow, whole = (case["memory"].get(name) for name in (NARROW, WHOLE))
    return narrow / whole if narrow and whole else None


def gain_of_weights(weights: str, H: int) -> Value:
    """The least gain of a step of H units with narrow weights."""
    return of_steps(min, lambda case: gain(case, weights) if case["workload"]["H"] == H else None)


def narrow_over_torch(case: dict) -> float | None:
    """The speed of packed_bfloat16 over the fastest of PyTorch's."""
    return step_speed(case, *TORCH_TRAINING, ours=NARROW)


def narrow_over_float32(record: dict, case: dict) -> float | None:
    """The speed of packed_bfloat16 over the best rung in float32."""
    best = best_rung(record, case)
    narrow = median(case, NARROW)
    return median(case, best) / narrow if best and narrow else None


def _cases(record: dict, shapes: Iterable, cells: Iterable[str] = CELLS) -> list[dict]:
    wanted = {(cell, *shape) for cell in cells for shape in shapes}

    def size(case):
        return tuple(case["workload"][key] for key in ("cell", "T", "B", "I", "H"))

    return [case for case in record["cases"] if size(case) in wanted]


def step_over_peers(case: dict) -> float | None:
    """How many times as fast as the fastest peer a step of one sequence is."""
    return step_speed(case, *TORCH_STEPS, "jax")


WIDE_STEPS = [shape for shape in SHAPES if shape[1] >= 32 and shape[3] >= 256]
NARROW, WHOLE = "packed_bfloat16", "packed_weights"
TORCH_TRAINING = PYTORCH, "pytorch_bfloat16", "pytorch_autocast"
OVER_PYTORCH = {"rnn_tanh": 1.2, "gru": 1.2, "lstm": 1.15}
SMALL = 100, 16, 64, 128  # T, B, I, H, at which an LSTM has a target of its own
SMALL_OVER_PYTORCH = 1.2
GAIN_OF_16_BITS = 1.6
NARROW_OVER_PYTORCH = 1.4
NARROW_BYTES = 0.6
INT8_OVER_PEERS = 2
GAINS_OF_WEIGHTS = {"bfloat16": 1.8, "int8": 3}  # of a step of GAINS_AT units
GAINS_AT = 1024
STEP_OVER_PEERS = 1.5
STEP_OVER_WEIGHTS = 1.3
TARGETS = (
    *(
        Target(f"{cell} over PyTorch, at every shape", bound, least(PYTORCH, [cell]))
        for cell, bound in OVER_PYTORCH.items()
    ),
    Target("over JAX, at every shape", 1, least("jax")),
    Target("over JAX, geometric mean", 1.5, mean("jax")),
    Target("over PyTensor, geometric mean", 4, mean("pytensor")),
    Target("part of the large GEMM's rate, H ≥ 256, B ≥ 32", 0.85, part_of_gemm),
    Target("memory of a step over PyTorch's, at every shape", 1, most_memory, is_ceiling=True),
    Target("one step at B = 1 over PyTorch and JAX", STEP_OVER_PEERS, of_steps(min, step_over_peers)),
    Target(
        "one step at B = 1, time over reading the weights once",
        STEP_OVER_WEIGHTS,
        of_steps(max, step_over_weights),
        is_ceiling=True,
    ),
    Target(
        "16 bits over the best rung in float32, H ≥ 256, B ≥ 32",
        GAIN_OF_16_BITS,
        gain_of_16_bits,
        contestant=NARROW,
    ),
    Target(
        "16 bits over PyTorch's fastest of float32, bfloat16, autocast",
        NARROW_OVER_PYTORCH,
        narrow_over_pytorch,
        contestant=NARROW,
    ),
    Target(
        "bytes that such a step adds, over float32's",
        NARROW_BYTES,
        bytes_of_16_bits,
        is_ceiling=True,
        contestant=NARROW,
    ),
    *(
        Target(
            f"one step of {GAINS_AT:,} units, {weights} weights over float32",
            bound,
            gain_of_weights(weights, GAINS_AT),
        )
        for weights, bound in GAINS_OF_WEIGHTS.items()
    ),
    Target(
        "one step from 256 units on, int8 over PyTorch and ONNX Runtime",
        INT8_OVER_PEERS,
        of_steps(min, int8_over_peers),
    ),
    Target("lstm 100×16, 64×128 over PyTorch, in float32", SMALL_OVER_PYTORCH, small_lstm_over_pytorch),
)


def required_rates(record: dict) -> str:
    """Rate that a target over PyTorch requires at each size, beside those this machine's BLAS reaches."""
    head = ["cell, T×B, I×H", "PyTorch, GFLOP/s", "target", "required", "bare products", "large GEMM"]
    lines = [head, ["---", *["---:"] * 5]]
    for case in record["cases"]:
        cell, T, B, I, H = (case["workload"][key] for key in ("cell", "T", "B", "I", "H"))
        factor = OVER_PYTORCH.get(cell)
        theirs = gflops(case, PYTORCH)
        if factor and theirs:
            rates = [f"{gflops(case, name):.0f}" for name in ("gemm_step", "gemm_large")]
            where = f"{cell}, {T}×{B}, {I}×{H}"
            lines.append([where, f"{theirs:.0f}", f"{factor:g}×", f"{factor * theirs:.0f}", *rates])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
