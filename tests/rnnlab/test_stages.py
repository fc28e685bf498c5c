"""The stages of the GPU ladder launch what their ledgers say; test_ladder.py compares their numbers."""

import pytest

from pocketgpu.devices import find
from rnnlab.ladder import RUNGS, fused_cell, graph_replay, kernel_per_operation
from rnnlab.ladder.properties import LedgerSizes
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.stages import plan_for
from rnnlab.schedule.timeline import predict

STAGES = [rung for rung in RUNGS if rung.properties.passes is not None]


@pytest.mark.parametrize("rung", STAGES, ids=lambda rung: rung.name)
def test_launches_are_as_many_as_the_rungs_ledger_says(rung):
    ledger = rung.properties.ledger
    assert ledger.unit == "launches"
    for T, L in [(2, 1), (6, 3)]:
        for direction, count in (("forward", ledger.forward), ("backward", ledger.backward)):
            plan = plan_for(direction, "lstm", Sizes(T, 3, 4, 5, L), rung.properties.passes)
            assert plan.count() == L * count(LedgerSizes(T, B=3, H=5, G=4))


@pytest.mark.parametrize(
    ("cell", "forward", "backward"), [("rnn_tanh", 5, 7), ("gru_after", 21, 31), ("gru_before", 20, 30)]
)
def test_a_kernel_per_operation_launches_so_many_a_step(cell, forward, backward):
    T = 4
    for direction, entry in (("forward", forward), ("backward", backward)):
        assert (
            plan_for(direction, cell, Sizes(T, 3, 4, 5, 1), kernel_per_operation.PASSES).count() == entry * T
        )


def test_a_captured_plan_is_launched_once():
    plan = plan_for("forward", "lstm", Sizes(4, 3, 4, 5, 2), graph_replay.PASSES)
    assert plan.captured
    starts = predict(plan, find("H200")).start
    assert min(starts) == find("H200").launch
    assert starts[-1] < len(starts) * find("H200").launch


def test_memory_falls_when_pointwise_operations_are_fused():
    sizes = Sizes(50, 64, 256, 256, 2)

    def numbers(passes):
        plan = plan_for("forward", "lstm", sizes, passes)
        return sum(rows * columns for name, (rows, columns) in plan.buffers.items() if name in plan.used)

    assert numbers(fused_cell.PASSES) < numbers(kernel_per_operation.PASSES)
