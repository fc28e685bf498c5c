"""The tolerance of TF32 holds for tensor cores that round operands and for those that cut them off.

Tensor cores read float32 and use 10 bits of its mantissa.  A library may round its operands before.  If it
does not, the hardware drops the lower bits.  It cannot be seen from outside which kernel a library took, so
both must pass.  A product here has operands of 10 bits and sums in float32; the rest of the plan is float32.
"""

import numpy as np
import pytest

from bench.workload import problem
from rnncourse.records.workload import Workload
from rnnlab.ladder import fused_layer, plan_rung
from rnnlab.schedule import run_numpy

SIZES = {"one layer": (50, 16, 96, 1), "four layers": (30, 16, 64, 4)}
CUT, HALF_A_PLACE = np.uint32(0xFFFFE000), np.uint32(0x1000)


def cut_off(array):
    return (np.ascontiguousarray(array, "float32").view("uint32") & CUT).view("float32")


def rounded(array):
    return (np.ascontiguousarray(array, "float32").view("uint32") + HALF_A_PLACE & CUT).view("float32")


def results(wanted, monkeypatch, operand):
    """A training step's results where products see operand(array)."""

    def gemm(operation, arrays):
        a, b = (
            run_numpy.view(arrays, region).T if flipped else run_numpy.view(arrays, region)
            for region, flipped in zip(operation.reads, operation.transposed, strict=True)
        )
        run_numpy._store(operation, arrays, operand(a) @ operand(b))

    monkeypatch.setitem(run_numpy.RUN, "gemm", gemm)
    monkeypatch.setattr(plan_rung.card, "why_not", lambda: "this test runs on the CPU")
    passes = fused_layer.PASSES
    forward, backward = plan_rung.stage(passes)
    y, _, saved = forward(wanted.network, wanted.x)
    dx, _, gradients = backward(wanted.network, saved, wanted.dy)
    return {"y": y, "dx": dx, **gradients}


@pytest.mark.parametrize("operand", [cut_off, rounded])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("cell", ["rnn_tanh", "gru", "lstm"])
def test_right_products_pass_in_tf32_however_operands_lose_their_bits(cell, sizes, operand, monkeypatch):
    T, B, H, L = SIZES[sizes]
    wanted = problem(Workload(cell, T, B, H, H, L), "tf32")
    assert 0.01 < wanted.error(results(wanted, monkeypatch, operand)) <= 1


def test_products_of_bfloat16_operands_are_wrong_in_tf32(monkeypatch):
    wanted = problem(Workload("lstm", 50, 16, 96, 96, 1), "tf32")
    seven_bits = lambda array: (array.astype("float32").view("uint32") & np.uint32(0xFFFF0000)).view(
        "float32"
    )
    cut = lambda array: seven_bits(np.ascontiguousarray(array))
    assert wanted.error(results(wanted, monkeypatch, cut)) > 1
