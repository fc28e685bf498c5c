"""Checks of lesson 15: which thread has a weight, flags, a persistent kernel, a minibatch to choose."""

from itertools import pairwise

import numpy as np

from nbjudge.comparing.differences import WRONG_TYPE, whole_numbers
from nbjudge.comparing.judging import add_to_case, refuse
from nbjudge.exercise import Wrong
from rnncourse.checks.answers import answers
from rnncourse.checks.kernels import Case, Share, compare_launches, normal, unset
from rnncourse.checks.results import compare
from rnncourse.checks.tables import rows_of

ANSWERS = answers("15_persistent_rnn")


# lanes and warps that are not full, before and behind the thread
@ANSWERS.exercise("""
    block  thread        H  gates  units  warps
        1      37       40      1      2      2
        0       1       40      1      2      1
        0       0        4      1      1      1
        2       3       35      3      4      2
        0      70       48      2      5      4
        4       5       35      3      4      2
        3      40       35      3      4      2
        4      40       35      3      4      2
      0:3   33:64       70      4      3      2
     3:20   0:128  300:700      4      5      4
""")
def check_tile_for_thread(answer, submission, rng, *case):
    """Any order is right; a mistake is named by the weights that it gives."""
    want = set(answer.call(*case))
    got = submission(*case)
    pairs = whole_numbers(got, 2)
    if pairs:
        pairs.sort()
    refuse(_wrong_weights(got, pairs, want), result=pairs)


def _wrong_weights(got: object, pairs: list | None, want: set) -> str | Wrong | None:
    """The first weight that should not be in the list, or that is missing."""
    if pairs is None:
        sentence = f"The result must be a list of pairs (row, column); it returns {got!r:.60}."
        return Wrong(sentence, WRONG_TYPE)
    for pair in pairs:
        if pair not in want:
            return f"The thread does not store weight {pair}; {len(want)} others are its own."
    distinct = set(pairs)
    missing = want - distinct
    if missing:
        return f"Weight {min(missing)} is missing: the list has {len(distinct)} of {len(want)} weights."
    for pair, after in pairwise(pairs):
        if pair == after:
            return f"Weight {pair} is in the list more than once."
    return None


@ANSWERS.exercise("""
    blocks  threads  steps
         2        2      2
         1        2      1
         3        4      3
         4        5    2:5
         1        4      3
         2       48      2
         2        2      n
""")
def check_flag_barrier(answer, submission, rng, blocks, threads, steps):
    history = unset(steps + 1, blocks * threads)
    history[0] = rng.normal(size=blocks * threads)
    flags = np.zeros(blocks, "int32")
    case = Case((blocks,), (threads,), (history, flags, steps))
    mean = float(history[0].mean())

    def explain(_, place, surplus):
        row_before = place[0] - 1
        return f"The mean of row {row_before} is {mean + row_before:.6g}."

    results = "history: step, element"
    compare_launches(answer, submission, case, results, limit_exchange, explain, FLAGS, "barriers")


def limit_exchange(counts, case):
    """From step 1 on, each block loads what the other blocks have stored in the step before."""
    poller = counts["ignored_poll"]
    if poller:
        return f"{poller} continues whatever it polls: a loop that waits ends by what it reads"
    rows, width = case.arguments[0].shape
    (blocks,) = case.grid
    own = width // blocks
    needed = (rows - 2) * (width - own)
    exchanged = [counts["exchanged"][block] for block in range(blocks)]
    fewest = min(exchanged)
    if fewest < needed:
        block = exchanged.index(fewest)
        return (
            f"block {block} loads {fewest} of the {needed} elements that it needs from the other blocks: "
            "each thread computes its own element in each step, from what all others have written"
        )
    return None


FLAGS = {
    "race between blocks": (
        "The reader's block continued too early. Three things must come before it reads row t: the writer's "
        "block sets its flag only after a barrier of its own, when all its threads have written; the "
        "reader's block sees t or more in the flag of each block, the last one, too; all its threads wait "
        "for that at a barrier. A flag that is set back may be missed."
    ),
    "missing_fence": (
        "cuda.threadfence() between the two makes what was written visible to other blocks; "
        "cuda.threadfence_block() does so for its own block only."
    ),
}


WIDE = 16


@ANSWERS.exercise("""
    blocks  steps
         2      3
         1      1
         4      3
         4      8
         2  20:24
""")
def check_persistent_rnn_kernel(answer, submission, rng, blocks, steps):
    h = unset(steps + 1, WIDE)
    h[0] = rng.normal(size=WIDE)
    weights = normal(rng, WIDE, WIDE) / 4
    inputs = normal(rng, steps, WIDE)
    state = h[0]
    states = [state]
    for row in inputs:
        state = np.tanh(row + weights @ state)
        states.append(state)
    threads = WIDE // blocks
    flags = np.zeros(blocks, "int32")
    add_to_case(f"{threads} threads a block")
    case = Case((blocks,), (threads,), (h, weights, inputs, flags))

    def explain(name, place, surplus):
        step, unit = place
        before = step - 1
        carried = weights[unit] @ states[before]
        own = inputs[before, unit]
        return f"There weights times h[{before}] give {carried:.4g}, inputs[{before}] is {own:.4g}."

    compare_launches(answer, submission, case, "h: step, unit", limit_persistent, explain, FLAGS, "barriers")


def limit_persistent(counts, case):
    """Each weight once, and h from the blocks that compute it; inputs and h may be read in every step."""
    loads_of_h, loads_of_weights, loads_of_inputs, *_ = counts["loads_of_parameter"]
    weights = WIDE * WIDE
    if loads_of_weights > weights:
        return (
            f"{loads_of_weights} loads of {weights} weights: keep the weights in a local array, and load "
            "each one once"
        )
    excess = limit_exchange(counts, case)
    if excess is not None:
        return excess
    steps = len(case.arguments[2])
    loads = loads_of_h + loads_of_inputs
    most = steps * WIDE * (WIDE + 2)
    if loads > most:
        return Share(f"{loads} loads from h and inputs where {most} do: what lies there is not on the chip")
    return None


def _parts_of_step(T: int, H: int, layers: int, device: dict) -> str:
    """Both ways of a step with the right minibatch, in words."""
    B = ANSWERS["choose_minibatch"].call(T, H, layers, device)[0]
    work = 2e-6 * B * H * H / device["peak"]
    read = 4e-3 * H * H / device["bandwidth"]
    weights = 4 * H * H
    needed = 6 * weights
    saved = 8 * T * B * H
    return (
        f"U has {weights} bytes; with the right B = {B} a layer needs {needed} bytes beside the "
        f"{saved} that it saves, reading U takes {read:.4g} µs, the operations {work:.4g}"
    )


# device: with `more` bytes beside what a minibatch of B sequences needs
NETWORKS = """
    T    H  layers   B  more  registers  bandwidth  peak  barrier
    5   64       3   7     0      16384        400     2        2
    5   64       3   7    -1      16380        400     2        2
    4  200       2   3   100     100000        400     2        2  # U is too large by half
    4  200       2   3     0     100000          1  2000        2  # reads
    6  100       1  40     0     100000        400     2      4.5  # fits, and is slower
    6  100       1  40     0     100000          5     2      4.5  # is faster
"""


def draw_networks(rng) -> list[tuple]:
    """T, H, layers, device: each decision in both ways, what fits to the byte, and what just does not."""
    copies = ANSWERS["choose_minibatch"].number("running_means", 1) + 2

    def network(T, H, layers, B, more, registers, bandwidth, peak, barrier):
        weights = 2 * H * H
        saved = 2 * T * H * B
        device = {
            "memory": 4 * layers * (copies * weights + saved) + more,
            "registers": registers,
            "bandwidth": bandwidth,
            "peak": peak,
            "launch": 3,
            "barrier": barrier,
        }
        return T, H, layers, device

    networks = [network(*row) for row in rows_of(NETWORKS)]
    large = network(700, 1152, 110, 0, 0, 216 * 256 * 4 * 24, 400, 2, 2)
    large[-1]["memory"] = 6 * 10**9 * copies
    B = int(rng.integers(20, 90))
    more = int(rng.integers(1, 9_999))
    peak = float(rng.uniform(2, 9))
    bandwidth = int(rng.integers(200, 900))
    networks.append(large)
    for registers in (4 * 10**6, 5 * 10**5):
        networks.append(network(300, 900, 5, B, more, registers, bandwidth, peak, 2))
    return networks


@ANSWERS.exercise(draw_networks)
def check_choose_minibatch(answer, submission, rng, *case):
    add_to_case(_parts_of_step(*case))
    results = "the minibatch; whether the weights stay; the time of a step"
    compare(answer, submission, case, results)
