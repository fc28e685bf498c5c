"""The stages of the GPU ladder launch what their ledgers say; tests/test_ladder.py holds their numbers."""

import pytest

from rnnlab.machine.devices import find
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.stages import (
    FUSED_CELL,
    FUSED_LAYER,
    GRAPH_REPLAY,
    KERNEL_PER_OPERATION,
    LAYER_WAVEFRONT,
    plan_for,
)
from rnnlab.schedule.timeline import predict

LEDGERS = {  # launches of an LSTM with L layers over an even number of steps T: forward, backward
    "kernel_per_operation": (KERNEL_PER_OPERATION, lambda T, L: (25 * T * L, 36 * T * L)),
    "fused_cell": (FUSED_CELL, lambda T, L: (3 * T * L, 6 * T * L)),
    "fused_layer": (FUSED_LAYER, lambda T, L: ((2 * T + 3) * L, (2 * T + 4) * L)),
    "layer_wavefront": (LAYER_WAVEFRONT, lambda T, L: ((5 * T // 2 + 2) * L, (5 * T // 2 + 3) * L)),
    "graph_replay": (GRAPH_REPLAY, lambda T, L: ((5 * T // 2 + 2) * L, (5 * T // 2 + 3) * L)),
}


@pytest.mark.parametrize("rung", LEDGERS)
def test_launches_are_as_many_as_the_rungs_ledger_says(rung):
    passes, launches = LEDGERS[rung]
    for T, L in [(2, 1), (6, 3)]:
        plans = [
            plan_for(direction, "lstm", Sizes(T, 3, 4, 5, L), passes) for direction in ("forward", "backward")
        ]
        assert tuple(plan.count() for plan in plans) == launches(T, L)


@pytest.mark.parametrize(
    ("cell", "forward", "backward"), [("rnn_tanh", 5, 7), ("gru_after", 21, 31), ("gru_before", 20, 30)]
)
def test_a_kernel_per_operation_launches_so_many_a_step(cell, forward, backward):
    T = 4
    for direction, each in (("forward", forward), ("backward", backward)):
        assert plan_for(direction, cell, Sizes(T, 3, 4, 5, 1), KERNEL_PER_OPERATION).count() == each * T


def test_a_captured_plan_is_launched_once():
    plan = plan_for("forward", "lstm", Sizes(4, 3, 4, 5, 2), GRAPH_REPLAY)
    assert plan.captured
    starts = predict(plan, find("H200")).start
    assert min(starts) == find("H200").launch
    assert starts[-1] < len(starts) * find("H200").launch


def test_memory_falls_when_pointwise_operations_are_fused():
    sizes = Sizes(50, 64, 256, 256, 2)

    def numbers(passes):
        plan = plan_for("forward", "lstm", sizes, passes)
        return sum(rows * columns for name, (rows, columns) in plan.buffers.items() if name in plan.used)

    assert numbers(FUSED_CELL) < numbers(KERNEL_PER_OPERATION)
