"""How many matrix products a forward pass calls, from the products of one step and what may be stacked."""

import numpy as np

from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect


def count_gemms(step, T, stack_gates, stack_time):
    factors = [factor for factor, weight in step]
    if stack_gates:
        factors = set(factors)
    return sum(1 if stack_time and factor == "x" else T for factor in factors)


MUTANTS = (
    Mutant("stacks over time what waits for the step before", 'stack_time and factor == "x"', "stack_time"),
    Mutant("stacks r∘h with h", "set(factors)", '{"x" if factor == "x" else "h" for factor in factors}'),
    Mutant("counts one step only", "else T", "else 1"),
    Mutant("never stacks over time", 'stack_time and factor == "x"', "False"),
    Mutant("never stacks over gates", "set(factors)", "factors"),
    Mutant("stacks over gates without being asked", "if stack_gates", "if True"),
    Mutant("stacks over time without being asked", "stack_time and factor", "factor"),
    Mutant(
        "forgets the products with the state",
        "for factor in factors)",
        'for factor in factors if factor == "x")',
    ),
)

CELLS = {
    "a vanilla RNN": (("x", "W_h"), ("h", "U_h")),
    "a GRU that resets after": tuple((f, w + g) for f, w in (("x", "W_"), ("h", "U_")) for g in "rzn"),
    "a GRU that resets before": (
        *(("x", "W_" + g) for g in "rzn"),
        ("h", "U_r"),
        ("h", "U_z"),
        ("r∘h", "U_n"),
    ),
    "an LSTM": tuple((f, w + g) for f, w in (("x", "W_"), ("h", "U_")) for g in "ifgo"),
}


def check(submission, rng):
    for cell, step in (CELLS | {"a cell nobody has built yet": _invented(rng)}).items():
        T = int(rng.integers(3, 20))
        for stack_gates in (False, True):
            for stack_time in (False, True):
                arguments = (step, T, stack_gates, stack_time)
                expect(
                    submission(*arguments),
                    count_gemms(*arguments),
                    what="the number of GEMM calls",
                    case=f"{cell}, T={T}, {stack_gates=}, {stack_time=}",
                    wrong=wrong_values(count_gemms, MUTANTS, *arguments),
                )


def _invented(rng: np.random.Generator) -> tuple[tuple[str, str], ...]:
    """Products in mixed order, of factors that no table of known cells holds."""
    factors = {"x": 2, "h": 3, "r∘h": 2, "c": 4, "s∘c": 2}
    step = [(f, f"A_{f}{k}") for f, most in factors.items() for k in range(int(rng.integers(1, most + 1)))]
    return tuple(step[k] for k in rng.permutation(len(step)))


COUNT_GEMMS = Exercise(
    name="count_gemms",
    points=2,
    difficulty=2,
    minutes=15,
    lines=4,
    hints=(
        "Without stacking, every product of a step is one call, and there are T steps. Now take the two "
        "switches one by one, on paper, for a GRU: which of its six products can share a call?",
        "Over gates: products that read the same left factor share a call, whatever their weights, so count "
        "different factors. Over time: a factor can be stacked if it is known for all steps before the loop "
        "starts. Of all factors only x is; everything else is made by the step before, or by this one.",
        "Collect `factors = [factor for factor, weight in step]`; with stack_gates, make it a set. Then add "
        '1 for "x" if stack_time is on, and T for anything else.',
    ),
    check=check,
    truth=count_gemms,
    mutants=MUTANTS,
    also_right=(
        """def count_gemms(step, T, stack_gates, stack_time):
    inputs = sum(factor == "x" for factor, _ in step)
    others = [factor for factor, _ in step if factor != "x"]
    if stack_gates:
        inputs, others = min(inputs, 1), list(dict.fromkeys(others))
    return inputs * (1 if stack_time else T) + len(others) * T
""",
        """def count_gemms(step, T, stack_gates, stack_time):
    calls = set()
    for t in range(T):
        for factor, weight in step:
            when = "all steps" if stack_time and factor == "x" else t
            calls.add((factor, when) if stack_gates else (factor, weight, when))
    return len(calls)
""",
    ),
)
