"""Which wires to save under a byte limit, so that the way back makes as little again as can be."""

from collections.abc import Iterator

import numpy as np

from rnnlab.checks.edits import call, loaded, wrong_values
from rnnlab.grading.exercise import Code, Exercise, Mutant, Wrong
from rnnlab.grading.judging import expect


def plan_memory(sizes, extra_flops, limit):
    from itertools import combinations

    stored = lambda saved: sum(sizes[wire] for wire in saved)
    cost = lambda saved: (extra_flops(saved), stored(saved))
    plans = [saved for count in range(len(sizes) + 1) for saved in combinations(sizes, count)]
    return min((saved for saved in plans if stored(saved) <= limit), key=cost)


GREEDY = """best, chosen = None, ()
    while best != chosen:
        longer = [(*chosen, wire) for wire in sizes if wire not in chosen]
        fitting = [saved for saved in longer if stored(saved) <= limit]
        best, chosen = chosen, min([chosen, *fitting], key=cost)
    return chosen
"""
RETURN = "return min((saved for saved in plans if stored(saved) <= limit), key=cost)\n"
MUTANTS = (
    Mutant("ignores the limit", " if stored(saved) <= limit", ""),
    Mutant("leaves no plan that needs the whole limit", "<= limit", "< limit"),
    Mutant("takes the plan that stores most", "key=cost", "key=lambda saved: -stored(saved)"),
    Mutant("takes the plan that stores least", "key=cost", "key=stored"),
    Mutant("takes one wire after the other and never gives one back", RETURN, GREEDY),
    Mutant(
        "adds up what each wire spares on its own",
        "extra_flops(saved), stored(saved)",
        "sum(extra_flops((wire,)) - extra_flops(()) for wire in saved), stored(saved)",
    ),
    Mutant("tries plans of one wire only", "range(len(sizes) + 1)", "range(2)"),
)

RECOMPUTING = """
def extra_flops(saved, again={again!r}):
    made, todo = set(), [wire for wire in again if again[wire][2]]
    while todo:
        wire = todo.pop()
        if wire not in saved and wire not in made:
            made.add(wire)
            todo += again[wire][1]
    return sum(again[wire][0] for wire in made)
"""


def check(submission, rng):
    for arguments in (_draw(rng, 1), _draw(rng, 2), *_telling(rng)):
        sizes, _, limit = arguments
        measured = lambda saved, arguments=arguments: _measured(saved, *arguments)
        known = wrong_values(plan_memory, MUTANTS, *arguments).items()
        got = submission(*arguments)
        _refuse_other_things(got, sizes)
        expect(
            measured(got),
            measured(call(plan_memory, arguments)),
            what="the plan",
            axes=(),
            case=f"sizes={sizes}, limit={limit}; you save {', '.join(got) or 'nothing'}",
            wrong={name: lambda saved=saved, measured=measured: measured(saved()) for name, saved in known},
        )


def _measured(saved: tuple[str, ...], sizes: dict, extra_flops: Code, limit: int) -> dict:
    stored = sum(sizes[wire] for wire in saved)
    flops = loaded(extra_flops)(tuple(saved))
    return {"fits the limit": stored <= limit, "extra FLOPs": flops, "bytes stored": stored}


def _refuse_other_things(got: object, sizes: dict) -> None:
    if not isinstance(got, tuple | list) or any(not isinstance(w, str) or w not in sizes for w in got):
        raise Wrong(
            f"It returns {got!r:.80}; asked for is a tuple of the names of the wires to save.",
            "returns the wrong type",
            f"The names are the keys of sizes, here {', '.join(sizes)}.",
        )
    if len(set(got)) < len(got):
        raise Wrong(f"It returns {got!r:.80}: one wire is saved twice.")


def _draw(rng: np.random.Generator, wires: int) -> tuple[dict, Code, int]:
    """Sizes, costs and a limit that some plan reaches; each wire is made of wires before it."""
    names = [f"w{k}" for k in range(1, wires + 1)]
    sizes = {wire: int(rng.integers(1, 7)) * 32 for wire in names}
    again = {
        wire: (
            int(10 ** rng.uniform(1, 3)),
            [s for s in names[:k] if rng.random() < 0.5],
            bool(rng.random() < 0.6),
        )
        for k, wire in enumerate(names)
    }
    again[names[-1]] = (*again[names[-1]][:2], True)  # something is needed
    reached = rng.permutation(names)[: rng.integers(1, wires + 1)]
    limit = sum(sizes[wire] for wire in reached)
    return sizes, Code(RECOMPUTING.format(again=again), "extra_flops"), limit


def _telling(rng: np.random.Generator, wires: int = 4) -> Iterator[tuple]:
    """Drawn cases, until in one of them each known mistake gives a plan that is wrong and no other's."""
    untold = {mutant.name for mutant in MUTANTS}
    while untold:
        arguments = _draw(rng, wires)
        right = frozenset(call(plan_memory, arguments))
        plans = {
            name: frozenset(saved()) for name, saved in wrong_values(plan_memory, MUTANTS, *arguments).items()
        }
        alone = {name for name in untold if [right, *plans.values()].count(plans[name]) == 1}
        untold -= alone
        if alone:
            yield arguments


PLAN_MEMORY = Exercise(
    name="plan_memory",
    points=3,
    difficulty=3,
    minutes=20,
    lines=5,
    hints=(
        "With n wires there are 2ⁿ plans: each wire is saved or not. One step of a cell has few wires, so "
        "look at every plan. No cleverness is asked for, and a clever choice that takes one wire after the "
        "other misses plans where two wires are worth something only together.",
        "Three parts: list all subsets of the wires; keep those whose bytes add up to no more than the "
        "limit, equality included; of these take the one with the least extra_flops(saved), and among "
        "equals the one that stores fewer bytes.",
        "`combinations(sizes, count)` from itertools gives all subsets of `count` names; run count from 0 to "
        "len(sizes). `min(fitting, key=lambda saved: (extra_flops(saved), stored(saved)))` compares the "
        "pairs from left to right.",
    ),
    check=check,
    truth=plan_memory,
    mutants=MUTANTS,
    also_right=(
        """def plan_memory(sizes, extra_flops, limit):
    names, best = list(sizes), None
    for bits in range(2 ** len(names)):
        saved = tuple(name for k, name in enumerate(names) if bits >> k & 1)
        stored = sum(sizes[name] for name in saved)
        if stored <= limit:
            candidate = (extra_flops(saved), stored, saved)
            best = candidate if best is None else min(best, candidate)
    return best[2]
""",
        """def plan_memory(sizes, extra_flops, limit):
    def fitting(names, room):
        if not names:
            return [()]
        first, rest = names[0], names[1:]
        plans = fitting(rest, room)
        if sizes[first] <= room:
            plans = plans + [(first, *plan) for plan in fitting(rest, room - sizes[first])]
        return plans

    plans = fitting(tuple(sizes), limit)
    return sorted(plans, key=lambda plan: (extra_flops(plan), sum(map(sizes.get, plan))))[0]
""",
    ),
)
