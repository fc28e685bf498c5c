"""Tables for the schedule view: what a plan is, whatever its minibatch, its hidden size and the device.

A table is made from a plan with few sequences and units; sizes come in where the view tells bytes and times.
"""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rnnlab.schedule import stages
from rnnlab.schedule.plan import Operation, Plan, Sizes
from rnnlab.schedule.resize import resized
from rnnlab.schedule.timeline import Queues, queues_of, shapes_of
from rnnlab.widgets.schedule_drawing import KINDS

NUMBER = {kind: k for k, kind in enumerate(KINDS)}
KEPT = 2  # sequences and units of plans that are kept and resized


class Table(NamedTuple):
    """A plan whose sizes are open."""

    few: Plan  # one operation of each shape
    like: np.ndarray  # for every operation the place of its like among the few
    queues: Queues
    launches: list[tuple]  # see launch

    def resized(self, B: int, H: int) -> tuple[Operation, ...]:
        """The few for a minibatch and a hidden size."""
        return resized(self.few, B, H).operations


def table_of(direction: str, cell: str, sizes: Sizes, passes: tuple[stages.Pass, ...]) -> Table:
    """The table of a pass through a network; of the sizes it takes the steps and the layers."""
    return _table(direction, cell, replace(sizes, B=KEPT, I=KEPT, H=KEPT), passes)


def launch(each: Operation) -> tuple:
    """(kind, name, row, layer, first step, one past the last)."""
    row = each.stream or each.layer  # stream 0 is layer 0's, or everybody's
    return NUMBER[each.kind], _short(each), row, each.layer, *each.steps


@lru_cache(maxsize=64)
def _table(direction: str, cell: str, sizes: Sizes, passes: tuple[stages.Pass, ...]) -> Table:
    plan = _small_plan(direction, cell, sizes, passes)
    places, like = shapes_of(plan)
    few = replace(plan, operations=tuple(plan.operations[k] for k in places))
    return Table(few, like, queues_of(plan), [launch(each) for each in plan.operations])


@lru_cache(maxsize=64)
def _small_plan(direction: str, cell: str, sizes: Sizes, passes: tuple[stages.Pass, ...]) -> Plan:
    """The plan, from the one that lacks the last pass: so a switch costs what comes after it."""
    if not passes or passes[-1] in stages.WITHIN_A_CELL:
        return stages.make_plan(direction, cell, sizes, passes)
    return passes[-1](_small_plan(direction, cell, sizes, passes[:-1]))


def _short(each: Operation) -> str:
    """A name for a bar: W x, U h, dW, sum, tanh, ×17, …"""
    if each.kind == "pointwise":
        return each.body[0].rule if len(each.body) == 1 else f"×{len(each.body)}"
    if each.kind == "gemm" and not each.writes[0].buffer.startswith("dweight"):
        return "W" if each.reads[1].buffer.startswith("weight_ih") else "U"
    written = each.writes[0].buffer
    return {"dweight_ih": "dW", "dweight_hh": "dU"}.get(written.split("_l")[0], each.kind)
