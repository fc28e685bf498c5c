"""Check of Newton's method for all states at once, on a network whose weights lie with the judge."""

import numpy as np

from nbjudge.comparing.judging import refuse
from nbjudge.exercise import Wrong
from rnncourse.checks.answers import answers
from rnncourse.checks.lesson_18_parallel_in_time.linear_recurrence import (
    linear_states,
    proxy_of,
    require_shape,
)
from rnncourse.checks.results import expect

ANSWERS = answers("18_parallel_in_time")


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
        require_shape("before", before, self.shape)
        self._note("step")
        if self.guess is None:
            self.guess = before
        product = np.einsum("bij,tbj->tbi", self.weights, before)
        after = np.tanh(product + self.inputs)
        self.jacobians = (1 - after**2)[..., None] * self.weights
        return after

    def scan(self, residual: object) -> np.ndarray:
        """e [T,B,n] with e[t] = J[t] e[t−1] + residual[t]."""
        require_shape("residual", residual, self.shape)
        if self.jacobians is None:
            raise Wrong("scan is called before step: there are no Jacobians yet.")
        self._note("scan")
        zeros = np.zeros(self.shape[1:])
        return linear_states(self.jacobians, residual, zeros)

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
    services = (proxy_of("step", network.step), proxy_of("scan", network.scan))
    got = submission(*services, first, T, tolerance)
    case = f"T={T}, B={B}, n={n}, tolerance={tolerance:.1e}"
    has_other_guess = network.first_changed_step() is not None
    in_short = has_other_guess, network.calls.count("step"), network.calls.count("scan")
    refuse(_wrong_calls(network, want[1]), case, result=in_short)

    def advice():
        if got[1] != want[1]:
            return None
        difference = np.abs(got[0] - want[0])
        is_near = difference.max() <= tolerance
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
        if right != rounds or error > tolerance or is_near.any():
            continue
        by_mean, by_residual, *by_sequence = others
        if max(others) < rounds and by_mean != by_residual and by_sequence != [4]:
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
