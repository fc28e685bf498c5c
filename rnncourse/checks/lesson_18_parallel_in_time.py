"""Checks of lesson 18: maps composed, a scan by chunks, a block's scan, a backward pass, Newton's method.

What an answer could do by a loop over time lies with the judge: maps by name, a gradient from outside, the
weights of a network.  Its functions are called, and each call is a level that waits for the one before.
"""

from collections.abc import Callable

import numpy as np

from nbjudge.comparing.judging import refuse
from nbjudge.exercise import Proxy, Wrong
from nbjudge.printable import quantity
from rnncourse.checks.answers import answers
from rnncourse.checks.kernels import Case, compare_launches, normal, unset
from rnncourse.checks.results import compare, expect, is_array

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
        self.proxy = _service("compose", self.compose)

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
        if not isinstance(names, np.ndarray) or names.shape[1:] != (1, 2) or names.dtype != float:
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
    problem = (
        _wrong_maps("prefixes", prefixes, range(T), parts[0])
        or _wrong_maps("ends", ends, last, parts[1])
        or _too_many_calls(named.sizes, min(chunk, T), len(last), T)
    )
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


@ANSWERS.exercise("""
       T  B  n
       3  1  2
       1  2  3
       5  3  2
    6:12  2  4
       n  2  3
""")
def check_backward_by_scan(answer, submission, rng, T, B, n):
    jacobians = rng.normal(size=(T, B, n, n)) / np.sqrt(n)
    dy = rng.normal(size=(T, B, n))
    outside = rng.normal(size=(B, n))
    calls = []
    scanned = []

    def scan(a: object, b: object) -> np.ndarray:
        steps = np.shape(b)[0] if np.ndim(b) else 0
        _require_shape("a", a, (steps, B, n, n))
        _require_shape("b", b, (len(a), B, n))
        calls.append(len(a))
        gradients = _states(a, b, outside)
        scanned.append(gradients)
        return gradients

    want = answer.function(scan, jacobians, dy)
    calls.clear()
    got = submission(_service("scan", scan), jacobians, dy)

    def advice():
        if len(got) != 2:
            return None
        return _missing_terms(got[0], want[0], jacobians, dy, outside)

    again = None
    if len(calls) != 1:
        again = f"scan is called {len(calls)} times for {T} steps; all steps together are one call."
    refuse(again, result=len(calls))
    if expect(got, want, "dh: step, sequence, unit; dh0: sequence, unit", advice=advice):
        refuse(_not_scanned(want[0], scanned[-1]))


def _not_scanned(dh: np.ndarray, scanned: np.ndarray) -> str | None:
    """The last step of dh [T,B,n] whose gradient is none of those that scan returned [K,B,n], if any."""
    is_equal = np.isclose(dh[:, None], scanned, rtol=1e-5)  # [T,K,B,n]
    is_scanned = is_equal.all(axis=(2, 3)).any(axis=1)  # [T]
    if is_scanned.all():
        return None
    step = np.flatnonzero(~is_scanned)[-1]
    return f"The numbers are right, but scan did not return dh[{step}]: choose a and b such that it adds dy."


def _missing_terms(got, want, jacobians, dy, outside) -> str | None:
    """What the gradient consists of at the last step that differs."""
    if not is_array(got, want.shape):
        return None
    is_wrong = ~np.isclose(got, want)
    if not is_wrong.any():
        return "dh is right: dh0 is what step 0 passes back of dh[0]."
    t, b, k = map(int, np.argwhere(is_wrong)[-1])
    if t == len(want) - 1:
        arriving = outside[b]
        source = "from outside"
    else:
        later = t + 1
        arriving = jacobians[later, b].T @ want[later, b]
        source = f"from step {later}"
    return (
        f"look at the last wrong step, {t}: at sequence {b}, unit {k}, {arriving[k]:.4g} arrives {source}, "
        f"and dy is {dy[t, b, k]:.4g}."
    )


class HiddenNetwork:
    """A tanh network whose weights and inputs lie with the judge; each sequence has weights of its own.

    The weights grow from sequence to sequence, so that the first one is solved in fewer rounds.
    """

    def __init__(self, rng: np.random.Generator, T: int, B: int, n: int, gain: float):
        smallest = 0.2 if B > 1 else 1.0
        gains = gain * np.linspace(smallest, 1.0, B)[:, None, None]
        self.weights = gains * rng.normal(size=(B, n, n)) / np.sqrt(n)
        self.inputs = rng.normal(size=(T, B, n))
        self.shape = (T, B, n)
        self.reset()

    def reset(self) -> None:
        """Forget all calls."""
        self.calls: list[str] = []
        self.guess = None
        self.jacobians = None

    def step(self, before: object) -> np.ndarray:
        """States [T,B,n] after all steps; the Jacobians [T,B,n,n] stay here."""
        _require_shape("before", before, self.shape)
        self._note("step")
        if self.guess is None:
            self.guess = before
        product = np.einsum("bij,tbj->tbi", self.weights, before)
        after = np.tanh(product + self.inputs)
        self.jacobians = (1 - after**2)[..., None] * self.weights
        return after

    def scan(self, residual: object) -> np.ndarray:
        """e [T,B,n] with e[t] = J[t] e[t−1] + residual[t]."""
        _require_shape("residual", residual, self.shape)
        if self.jacobians is None:
            raise Wrong("scan is called before step: there are no Jacobians yet.")
        self._note("scan")
        zeros = np.zeros(self.shape[1:])
        return _states(self.jacobians, residual, zeros)

    def first_changed_step(self) -> int | None:
        """The first step after which the first guess is not zeros; None before a call or if all are."""
        if self.guess is None:
            return None
        is_changed = self.guess[1:].any(axis=(1, 2))
        return int(np.argmax(is_changed)) if is_changed.any() else None

    def _note(self, name: str) -> None:
        self.calls.append(name)
        count = self.calls.count(name)
        steps = self.shape[0]
        if count > steps + 60:
            raise Wrong(f"{name} is called {count} times for {steps} steps.")


@ANSWERS.exercise("""
        T  B  n  gain  rounds
       13  1  3   1.5       4
        1  2  3   1.0
        3  2  2   4.0
        2  1  2   1.0
    17:30  3  4   1.5       6
        5  1  2   0.0
       14  2  3   0.8
        n  1  2   0.8
""")
def check_newton_states(answer, submission, rng, T, B, n, gain, rounds=0):
    """rounds: what the rule needs; rules that look at something else then stop earlier."""
    network, first, tolerance = _draw_network(rng, T, B, n, gain, rounds)
    want = answer.function(network.step, network.scan, first, T, tolerance)
    network.reset()
    services = (_service("step", network.step), _service("scan", network.scan))
    got = submission(*services, first, T, tolerance)
    case = f"T={T}, B={B}, n={n}, tolerance={tolerance:.1e}"
    has_other_guess = network.first_changed_step() is not None
    in_short = has_other_guess, network.calls.count("step"), network.calls.count("scan")
    refuse(_wrong_calls(network, want[1]), case, result=in_short)

    def advice():
        is_near = got[1] == want[1] and np.abs(got[0] - want[0]).max() <= tolerance
        return "what the last round changes belongs to the states, too." if is_near else None

    expect(got, want, "states: step, sequence, unit; rounds", case, tolerance=1e-7, advice=advice)


def _draw_network(rng, T: int, B: int, n: int, gain: float, rounds: int) -> tuple:
    """(network, first [B,n], tolerance) for which the rule needs `rounds`, and three others stop earlier;
    without `rounds`, for which it needs any number of them."""
    tolerance = None
    while tolerance is None:
        network = HiddenNetwork(rng, T, B, n, gain)
        first = rng.normal(size=(B, n))
        signed = _changes(network, first)  # [2,rounds,T,B,n]
        if rounds:
            tolerance = _choose_tolerance(signed, rounds)
        elif _tells_rules_apart(signed[1]):
            tolerance = 1e-12 if gain else 0.0  # without weights round 2 changes nothing at all
    network.reset()
    return network, first, tolerance


def _tells_rules_apart(change: np.ndarray) -> bool:
    """Whether changes [rounds,T,B,n] show a rule without absolute values and one of a relative tolerance."""
    T = change.shape[1]
    if T == 2 and change[0].max() > 0:
        return False  # where all states fall at once, a rule without absolute values stops
    if T <= 10:
        return True
    sizes = _largest(change)
    is_small = (1e-10 < sizes) & (sizes < 1e-8)
    return is_small.any()  # where a round changes so little, a rule with a relative tolerance stops


def _choose_tolerance(signed: np.ndarray, rounds: int) -> float | None:
    """A tolerance for which the rule needs `rounds`; None if none does for these changes [2,rounds,T,B,n].

    Three other rules stop earlier: by the mean change, by the residual, each at its own round, and by the
    change of sequence 0 of several.  One more stops later, by the length of all changes as one vector.
    """
    residual, change = np.abs(signed)
    B = change.shape[2]
    remaining = signed[1, rounds:].sum(axis=0)
    error = np.abs(remaining).max()  # of the states after so many rounds
    rules = [_largest(change), change.mean(axis=(1, 2, 3)), _largest(residual)]
    if B > 1:
        rules.append(_largest(change[:, :, :1]))
    rules = np.stack(rules)
    if len(change) < rounds:
        return None
    smallest = rules[0, rounds - 1]
    largest = rules[0, rounds - 2]
    if 1.1 * smallest > largest:
        return None
    length = np.linalg.norm(change[rounds - 1])  # a rule that looks at it stops later
    for tolerance in np.geomspace(smallest, largest, 27)[1:-1]:
        if length < 1.05 * tolerance:
            break
        right, *others = 1 + np.argmax(rules <= tolerance, axis=1)
        is_near = (rules > 0.95 * tolerance) & (rules < 1.05 * tolerance)
        stop_earlier = max(others) < rounds and others[0] != others[1] and others[2:] != [4]
        if right == rounds and stop_earlier and error <= tolerance and not is_near.any():
            return float(tolerance)
    return None


def _largest(array: np.ndarray) -> np.ndarray:
    """The largest number of each round [rounds], from [rounds,T,B,n]."""
    return array.max(axis=(1, 2, 3))


def _changes(network: HiddenNetwork, first: np.ndarray) -> np.ndarray:
    """[2,rounds,T,B,n] Residuals and what the states change by in each round, until they change no more."""
    states = np.zeros(network.shape)
    rounds = []
    for _ in range(len(states)):
        before = np.concatenate([first[None], states[:-1]])
        residual = network.step(before) - states
        change = network.scan(residual)
        rounds.append((residual, change))
        states = states + change
        if np.abs(change).max() <= 1e-10:
            break
    return np.stack(rounds, axis=1)


def _wrong_calls(network: HiddenNetwork, rounds: int) -> Wrong | None:
    """What is wrong with the calls: the first guess, or more of them than rounds are needed."""
    place = network.first_changed_step()
    if place is not None:
        return Wrong(f"The first guess is zeros; at its first call step gets others after step {place}.")
    for name in ("step", "scan"):
        calls = network.calls.count(name)
        if calls > rounds:
            return Wrong(
                f"{name} is called {calls} times for {len(network.inputs)} steps; the rule needs {rounds}. "
                "Each call is a level that waits for the one before, and a loop over time would need T.",
                next_step="Print the largest change of each round: when is it at most the tolerance?",
            )
    return None


def _states(a: np.ndarray, b: np.ndarray, first: np.ndarray) -> np.ndarray:
    """g [K,B,n] with g[k] = a[k] g[k−1] + b[k], from `first` [B,n]."""
    state = first
    states = []
    for matrix, vector in zip(a, b, strict=True):
        state = np.einsum("bij,bj->bi", matrix, state) + vector
        states.append(state)
    return np.stack(states)


def _require_shape(name: str, array: object, shape: tuple) -> None:
    if is_array(array, shape) and shape[0]:
        return
    has = f"is {array!r:.40}"
    if isinstance(array, np.ndarray):
        has = f"has shape {array.shape}"
    raise Wrong(f"{name} {has}, expected {shape}: time is the first axis.")


def _service(name: str, function: Callable) -> Proxy:
    """A function of the judge as an argument."""
    source = f"def {name}(*arrays):\n    return {name}_of_the_judge(*arrays)\n"
    return Proxy(source, name, {f"{name}_of_the_judge": function})
