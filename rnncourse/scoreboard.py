"""Scoreboard of lessons 00 to 08: one problem, every way to compute it, timed by the learner's own runs.

The problem stays the same, so the rows can be compared: T steps of B sequences through H units with H inputs.
A rate counts the FLOP that the result needs; a way that computes something twice gets nothing for it.  Rows
lie in one file beside the progress of this machine, so that the table grows from lesson to lesson:

    scoreboard.measure_product()
    network, x, state, dy = scoreboard.problem()
    scoreboard.measure("01", {"a minibatch": lambda: forward(network, x, state)}, network)
"""

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from nbjudge.files import write_whole
from nbjudge.progress_file import home
from rnncourse.lab.roofline import gemm_rate
from rnncourse.lab.turns import Timing, disturbance, load_of_a_core, take_turns
from rnnlab.network import Network, State, forward_flops

T = 16
B = 64
H = 256
FORWARD = 1
TRAINING = 3  # passes: the backward pass computes each product of the forward pass twice
FILE = "scoreboard.json"
NOTE = "* other programs used the cores: run the lesson of that row again"
HIGH = "a row without threads is above 110 %: lesson 00's row may have been disturbed; run that lesson again"
PRODUCT = "one large product on one core"  # lesson 00's row: the rate that the others are compared with


@dataclass(frozen=True)
class ScoreRow:
    """One way to compute something: its rate in GFLOP/s, and its seconds if it computed the problem."""

    lesson: str
    way: str
    rate: float
    seconds: float | None = None
    disturbed: bool = False


def problem(cell: str = "rnn_tanh", **options) -> tuple[Network, np.ndarray, State, np.ndarray]:
    """(network, x [T,B,H], zero state, dy [T,B,H]) in float32; options are those of Network.create."""
    network = Network.create(cell, H, H, seed=1, **options)
    rng = np.random.default_rng(1)
    x, dy = rng.standard_normal((2, T, B, H), dtype=np.float32)
    return network, x, network.zero_state(B), dy


def flop(network: Network, passes: int = FORWARD) -> int:
    """FLOP of the products that the problem needs; passes is FORWARD or TRAINING."""
    return passes * forward_flops(network, T, B)


def measure(
    lesson: str,
    ways: Mapping[str, Callable[[], object]],
    network: Network,
    passes: int = FORWARD,
    rounds: int = 5,
    threads: int = 1,
    show: bool = True,
) -> dict[str, Timing]:
    """Time ways to compute the problem in turns, on so many threads of the BLAS; keep and show the rows."""
    with threadpool_limits(threads):
        timings = take_turns(ways, rounds)
    for way, timing in timings.items():
        seconds = timing.median
        rate = flop(network, passes) / seconds / 1e9
        sentence = disturbance({way: timing})
        keep(ScoreRow(lesson, way, rate, seconds, bool(sentence)))
    if show:
        print(table())
    return timings


def measure_product(seconds: float = 0.5) -> float:
    """GFLOP/s of one large product on one core, kept as the row that all others are compared with.

    Prints a sentence if other programs used the cores meanwhile: the row is then marked, and replaces none
    that was not disturbed.
    """
    load = load_of_a_core()
    with threadpool_limits(1):
        rate = gemm_rate(1024, 1024, 1024, seconds)
    sentence = disturbance({PRODUCT: Timing((1.0, 1.0), max(load, load_of_a_core()))})
    keep(ScoreRow("00", PRODUCT, rate, disturbed=bool(sentence)))
    if sentence:
        print(sentence)
    return rate


def keep(row: ScoreRow) -> None:
    """Put a row in the place of its older one, unless the older one alone was left undisturbed."""
    known = {(old.lesson, old.way): old for old in rows()}
    older = known.get((row.lesson, row.way))
    if older and row.disturbed and not older.disturbed:
        return
    known[row.lesson, row.way] = row
    in_order = sorted(known.values(), key=lambda row: row.lesson)
    content = json.dumps([asdict(row) for row in in_order], indent=1)
    try:
        home().mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(home() / FILE, content.encode())  # two lessons may write at once
    except OSError as error:
        remedy = "Set RNNLAB_HOME to a folder you may write."
        warnings.warn(f"The scoreboard was not stored: {error}. {remedy}", stacklevel=2)


def rows() -> list[ScoreRow]:
    """Rows that were kept, by lesson; empty if the file is missing or damaged."""
    try:
        text = (home() / FILE).read_text(encoding="utf-8")
        return [ScoreRow(**row) for row in json.loads(text)]
    except (OSError, ValueError, TypeError):
        return []


def table() -> str:
    """The scoreboard as text."""
    in_order = rows()
    product = next((row.rate for row in in_order if row.way == PRODUCT), None)
    lines = [f"{'lesson':8}{'way':38}{'ms':>8}{'GFLOP/s':>9}{'of product':>12}"]
    for row in in_order:
        way = f"{row.lesson:8}{row.way:38}"
        milliseconds = f"{1e3 * row.seconds:.1f}" if row.seconds else "-"
        part = f"{row.rate / product:.1%}" if product else "-"
        mark = "  *" if row.disturbed else ""
        lines.append(f"{way}{milliseconds:>8}{row.rate:9.3g}{part:>12}{mark}")
    if any(row.disturbed for row in in_order):
        lines.append(NOTE)
    on_one_thread = [row.rate for row in in_order if "threads" not in row.way]
    if product and any(rate > 1.1 * product for rate in on_one_thread):
        lines.append(HIGH)
    return "\n".join(lines)
