"""Stages of Appleyard, Kočiský and Blunsom (2016): the plan of a network, and a list of passes over it.

rnnlab.ladder.plan_rung runs them.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

from rnnlab.schedule.build import backward_plan, forward_plan
from rnnlab.schedule.plan import Plan, Sizes

Pass = Callable[[Plan], Plan]


def apply(plan: Plan, passes: Sequence[Pass]) -> Plan:
    """The plan after all passes, in order."""
    for change in passes:
        plan = change(plan)
    return plan


@lru_cache(maxsize=64)
def plan_for(direction: str, cell: str, sizes: Sizes, passes: tuple[Pass, ...]) -> Plan:
    """The plan of a pass through a network, made once for the same sizes and passes."""
    build = forward_plan if direction == "forward" else backward_plan
    return apply(build(cell, sizes), passes)
