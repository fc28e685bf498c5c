"""Checks of maps composed, of a scan by chunks and of a block's scan.

What an answer of chunks could do by a loop over time lies with the judge: it gets maps by name.  The course's
function composes them, and each call is a level that waits for the one before.
"""

import numpy as np

from nbjudge.comparing.judging import refuse
from nbjudge.exercise import Wrong
from nbjudge.printable import quantity
from rnncourse.checks.answers import answers
from rnncourse.checks.kernels import Case, compare_launches, normal, unset
from rnncourse.checks.lesson_18_parallel_in_time.linear_recurrence import proxy_of
from rnncourse.checks.results import compare

ANSWERS = answers("18_parallel_in_time")
MOST_EXCHANGES = 36  # of a lane, shuffles, votes and syncwarps: six for each of six levels
MOST_BARRIERS = 14  # a block: two for each of six levels of 64 threads, one before and one after


@ANSWERS.exercise("""
    K  B    n
    2  1    3
    1  3    2
    5  2    1
    4  3  5:8
    n  2    3
""")
def check_compose_affine(answer, submission, rng, K, B, n):
    """Pairs of maps with an axis of sequences behind that of the pairs; K, B and n differ."""
    later, earlier = rng.normal(size=(2, K, B, n, n + 1))
    columns = f"Columns 0 to {n - 1} are a, column {n} is b: which of them are wrong?"
    advice = lambda got, want: columns
    axes = "the maps: pair, sequence, row, column"
    compare(answer, submission, (later, earlier), axes, advice)


class NamedMaps:
    """Maps of T steps by name: what a name stands for are the numbers of its steps, in order."""

    def __init__(self, rng: np.random.Generator, T: int):
        self.rng = rng
        self.steps = {}
        self.sizes = []
        self.maps = np.stack([self._name((t,)) for t in range(T)])  # [T,1,2]
        self.proxy = proxy_of("compose", self.compose)

    def compose(self, later: object, earlier: object) -> np.ndarray:
        """Names of the maps that do `earlier` first and then `later`."""
        last = self.read(later)
        first = self.read(earlier)
        if not last or not first or len(last) != len(first):
            shapes = f"{np.shape(later)} and {np.shape(earlier)}"
            raise Wrong(
                f"compose gets arrays of shapes {shapes}; expected maps of this sequence, as many in both.",
                next_step="Print the shapes of what goes into compose; take slices to keep the first axis.",
            )
        self.sizes.append(len(last))
        names = []
        for before, after in zip(first, last, strict=True):
            names.append(self._name(before + after))
        return np.stack(names)

    def read(self, names: object) -> list[tuple] | None:
        """The steps of each map; None if the array holds anything but names of maps."""
        if not isinstance(names, np.ndarray):
            return None
        if names.shape[1:] != (1, 2) or names.dtype != float:
            return None
        steps = []
        for name in names:
            key = tuple(name.flat)
            if key not in self.steps:
                return None
            steps.append(self.steps[key])
        return steps

    def _name(self, steps: tuple) -> np.ndarray:
        name = self.rng.uniform(-1, 1, (1, 2))
        self.steps[tuple(name.flat)] = steps
        return name


def draw_lengths(rng) -> list[tuple]:
    """T: whole chunks, and chunks that are not full."""
    chunk = ANSWERS["scan_by_chunks"].number("chunk", 8)
    missing = int(rng.integers(1, 3))
    return [(3 * chunk,), (chunk - 1,), (1,), (chunk + 1,), (9 * chunk - missing,)]


@ANSWERS.exercise(draw_lengths)
def check_scan_by_chunks(answer, submission, rng, T):
    chunk = answer.number("chunk", 8)
    named = NamedMaps(rng, T)
    case = f"T={T}, chunks of {chunk} steps"
    got = submission(named.proxy, named.maps)
    parts = (None, None)
    if isinstance(got, tuple | list) and len(got) == 2:
        parts = got
    prefixes, ends = map(named.read, parts)
    last = [min(step, T) - 1 for step in range(chunk, T + chunk, chunk)]
    problem = _wrong_maps("prefixes", prefixes, range(T), parts[0])
    problem = problem or _wrong_maps("ends", ends, last, parts[1])
    problem = problem or _too_many_calls(named.sizes, min(chunk, T), len(last), T)
    refuse(problem, case, result=(prefixes, ends), detail=tuple(named.sizes))


def _wrong_maps(name: str, maps: list[tuple] | None, last: list | range, got: object) -> str | None:
    """The first map that does other steps than 0 to `last`."""
    if maps is None:
        shape = f", it has shape {got.shape}" if isinstance(got, np.ndarray) else ""
        return f"The result is a pair (prefixes, ends) of arrays of maps; {name} is something else{shape}."
    for place, (steps, end) in enumerate(zip(maps, last, strict=False)):
        expected_steps = tuple(range(end + 1))
        if steps == expected_steps:
            continue
        listed = ", ".join(map(str, steps[:6]))
        if len(steps) > 6:
            listed += ", …"
        right = f"steps 0 to {end}" if end else "step 0"
        return f"{name}[{place}] does the steps {listed} in this order; expected {right}."
    if len(maps) != len(last):
        return f"{name} holds {len(maps)} maps, expected {len(last)}."
    return None


def _too_many_calls(sizes: list[int], chunk: int, chunks: int, T: int) -> Wrong | None:
    """A limit on levels, which a loop over time breaks, and one on the work."""
    calls = len(sizes)
    pairs = sum(sizes)
    most = chunk + chunks - 1
    work = 2 * chunk * chunks
    if calls > most:
        return Wrong(
            f"compose is called {calls} times for {T} steps, and each call waits for the one before; "
            f"{most} are enough for {chunks} chunks of {chunk}.",
            next_step="Which maps do not wait for each other? Put them into one call.",
        )
    if pairs > work:
        return Wrong(f"The calls of compose take {pairs} pairs together; {work} are enough.")
    return None


@ANSWERS.exercise("""
         T  blocks  threads
         8       1        8
         2       1        2
     40:60       2       32
    90:120       2       64
""")
def check_block_scan_kernel(answer, submission, rng, T, blocks, threads):
    sizes = rng.uniform(0.5, 1.1, T)
    signs = rng.choice([-1, 1], T)
    a = (sizes * signs).astype("float32")
    b = normal(rng, T)
    case = Case((blocks,), (threads,), (a, b, unset(T), unset(T)))
    names = "a: step; b: step; prefix_a: step; prefix_b: step"
    scale = answer.number("scale", 1)

    def explain(name, place, surplus):
        t = place[0]
        start = t // threads * threads
        scaled = scale * b[t]
        return f"Its block begins at step {start}; step {t} is the map ({a[t]:.4g}, {scaled:.4g})."

    compare_launches(answer, submission, case, names, limit_block_scan, explain)


def limit_block_scan(counts, case):
    """Barriers, requests and operations of log2(threads) levels; Blelloch's two sweeps are within them."""
    T = len(case.arguments[0])
    blocks = case.grid[0]
    threads = case.block[0]
    levels = threads.bit_length() - 1
    warps = -(-threads // 32)
    atomics = counts["atomics"]
    if atomics:
        return f"It uses {quantity(atomics, 'atomic')}; barriers are enough"
    loads = counts["global_loads"]
    if loads > 2 * T:
        return f"{loads} loads from global memory where {2 * T} are enough: each number once"
    all_threads = blocks * threads
    not_in_turn = f"{levels} levels, not one step after another"
    most_load_requests = 4 * blocks * warps
    most_shared_requests = blocks * (12 * levels * warps + 8 * warps + 8)
    limits = {
        "barriers": (blocks * MOST_BARRIERS, "two for each of six levels, and two more"),
        "exchanges": (all_threads * MOST_EXCHANGES, "six for each of six levels"),
        "global_load_requests": (most_load_requests, "the threads of a warp load together"),
        "shared_requests": (most_shared_requests, not_in_turn),
    }
    for name, (most, reason) in limits.items():
        count = counts[name]
        if count > most:
            noun = name.replace("_", " ")
            return f"{count} {noun} where {most} are enough: {reason}"
    operations = sum(counts["flops"].values())
    most_operations = all_threads * (4 * levels + 8)
    if operations > most_operations:
        return f"{operations} operations where {most_operations} are enough: {not_in_turn}"
    return None
