"""A plan on a GPU, without one: the calls of cuBLAS and the driver, in any order that streams allow."""

from dataclasses import replace

import numpy as np
import pytest
from pretended_card import PretendedCard, python_kernel

from pocketgpu import cuda
from pocketgpu.compiling import compilers
from rnnlab import reference
from rnnlab.cells import CELLS
from rnnlab.gpu.card import NUMBERS, cuda_source, launch_of, row_length, transpose_source
from rnnlab.gpu.run_cuda import PreparedPlan
from rnnlab.graphs.cells import EQUATIONS
from rnnlab.ladder import stage_passes
from rnnlab.network import Network
from rnnlab.schedule import network_arrays as arrays_of
from rnnlab.schedule import stages
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.run_numpy import execute

PLANNED = [name for name in EQUATIONS if CELLS[name].reads_state]  # cells whose steps plans order
T, B, I, H, L = 4, 3, 5, 6, 2
WORK = {  # pointwise kernels of every cell and stage, by name -> a plan and the operation that launches it
    launch_of(operation).work.name: (plan, operation)
    for cell in PLANNED
    for passes in stage_passes().values()
    for direction in ("forward", "backward")
    for plan in [stages.plan_for(direction, cell, Sizes(T, B, I, H, L), passes)]
    for operation in plan.operations
    if operation.kind == "pointwise"
}
needs_compilers = pytest.mark.skipif(bool(compilers.missing()), reason=compilers.missing())


def network_of(cell):
    kind, _, reset = cell.partition("_") if cell.startswith("gru") else (cell, "", "after")
    return Network.create(kind, I, H, layers=L, dtype="float64", seed=1, reset=reset)


@pytest.mark.parametrize("stage", stage_passes())
@pytest.mark.parametrize("cell", PLANNED)
def test_every_stage_gives_the_references_numbers_whoever_goes_first(cell, stage):
    network, draw = network_of(cell), np.random.default_rng(0)
    x, dy = draw.normal(size=(T, B, I)), draw.normal(size=(T, B, H))
    state = tuple(draw.normal(size=(L, B, H)) for _ in network.properties.states)
    want_y, want_final, saved = reference.forward(network, x, state)
    want_dx, want_dstate, want = reference.backward(network, saved, dy)
    for seed in range(2):
        card = PretendedCard(seed)
        plan = stages.plan_for(
            "forward", network.properties.name, Sizes(T, B, I, H, L), stage_passes()[stage]
        )
        run = PreparedPlan(plan, "float64", arrays_of.forward_arrays(network, x, state), card)
        run.issue()
        y, final = arrays_of.forward_results(network, run.arrays(), T, B)
        np.testing.assert_allclose(y, want_y, rtol=1e-12, atol=1e-13)
        assert all(np.allclose(a, b, rtol=1e-12) for a, b in zip(final, want_final, strict=True))
        plan = stages.plan_for(
            "backward", network.properties.name, Sizes(T, B, I, H, L), stage_passes()[stage]
        )
        empty = tuple(np.zeros((L, B, H)) for _ in state)
        incoming = arrays_of.backward_arrays(network, dy, empty)
        inputs = run.buffers | incoming
        back = PreparedPlan(plan, "float64", inputs, card, renewed=tuple(incoming.keys() - {"dy"}))
        for _ in range(2):  # what it leaves does not disturb it
            back.issue()
        dx, dfirst, gradients = arrays_of.backward_results(network, back.arrays(), T, B)
        np.testing.assert_allclose(dx, want_dx, rtol=1e-11, atol=1e-12)
        assert all(np.allclose(a, b, rtol=1e-11) for a, b in zip(dfirst, want_dstate, strict=True))
        for name, gradient in gradients.items():
            np.testing.assert_allclose(gradient, want[name], rtol=1e-11, atol=1e-12)


def test_without_its_events_a_plan_on_many_streams_goes_wrong():
    """The check above can fail: streams that nobody orders give other numbers."""
    network, draw = network_of("lstm"), np.random.default_rng(0)
    x = draw.normal(size=(T, B, I))
    state = tuple(np.zeros((L, B, H)) for _ in range(2))
    plan = stages.plan_for("forward", "lstm", Sizes(T, B, I, H, L), stage_passes()["layer_wavefront"])
    card = PretendedCard()
    card.wait = lambda event, stream: lambda: 0
    run = PreparedPlan(plan, "float64", arrays_of.forward_arrays(network, x, state), card)
    run.issue()
    y, _ = arrays_of.forward_results(network, run.arrays(), T, B)
    assert not np.allclose(y, reference.forward(network, x, state)[0], rtol=1e-6)


def test_a_refused_command_stops_the_plan_and_is_named():
    plan = stages.plan_for("forward", "rnn_tanh", Sizes(T, B, I, H, 1), stage_passes()["fused_cell"])
    card = PretendedCard()
    card.launch = lambda operation, buffers, stream: lambda: 13
    with pytest.raises(RuntimeError, match="is refused with code 13"):
        PreparedPlan(plan, "float64", {}, card).issue()


@pytest.mark.parametrize("name", WORK)
def test_a_pointwise_kernel_does_in_the_simulator_what_numpy_does_and_nothing_else(name):
    plan, operation = WORK[name]
    buffers = {r.buffer for r in operation.reads + operation.writes}
    draw = np.random.default_rng(3)
    arrays = {buffer: draw.uniform(0.1, 0.9, plan.buffers[buffer]) for buffer in sorted(buffers)}
    ours = {buffer: array.copy() for buffer, array in arrays.items()}
    execute(replace(plan, operations=(operation,)), arrays)
    work, regions = launch_of(operation)
    rows, columns = operation.writes[0].shape
    arguments = [rows * columns, columns]
    for region in regions:
        flat = ours[region.buffer].reshape(-1)[
            region.rows[0] * plan.buffers[region.buffer][1] + region.columns[0] :
        ]
        arguments += [flat, row_length(region, rows, plan.buffers[region.buffer][1])]
    observed = cuda.observe(python_kernel(work), 2, 8, *arguments)
    assert observed.findings == ()
    elements = rows * columns
    assert observed.counts.global_loads == elements * len(dict.fromkeys(operation.reads))
    assert observed.counts.global_stores == elements * len(operation.writes)
    for buffer, array in arrays.items():
        np.testing.assert_allclose(ours[buffer], array, rtol=1e-14, err_msg=buffer)


@needs_compilers
@pytest.mark.parametrize(
    "arch",
    [pytest.param("sm_75", marks=pytest.mark.slow), pytest.param("sm_80", marks=pytest.mark.slow), "sm_90"],
)
@pytest.mark.slow
def test_every_kernel_of_every_stage_compiles_without_a_spill(arch):
    from pocketgpu.compiling.report import compile_report

    for dtype in NUMBERS:  # all kernels of a dtype as one program: the compiler's own start takes longest
        sources = [cuda_source(launch_of(operation).work, dtype) for _, operation in WORK.values()]
        report = compile_report("\n".join([*sources, transpose_source(dtype)]), arch=arch)
        assert len(report.kernels) == len(WORK) + 1
        for compiled in report.kernels:
            assert (compiled.spill_stores, compiled.spill_loads, compiled.stack) == (0, 0, 0)
            assert compiled.registers <= 64
