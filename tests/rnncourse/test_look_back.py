"""A scan by a grid in one pass is right in any order of blocks with tickets, and hangs without them."""

import numpy as np
import pytest

from pocketgpu import cuda
from rnncourse import look_back
from rnnlab.scan import Maps, sequential, states


def problem(blocks):
    rng = np.random.default_rng(blocks)
    a = rng.uniform(-1, 1, 32 * blocks).astype("float32")
    return a, rng.normal(size=len(a)).astype("float32")


def exact(a, b):
    """States [T] in float64."""
    wide = Maps(a.astype("float64")[:, None], b.astype("float64")[:, None])
    return states(wide, np.zeros(1), sequential)[:, 0]


@pytest.mark.parametrize(("blocks", "seed"), [(1, None), (2, None), (7, None), *((9, n) for n in range(5))])
def test_a_scan_with_tickets_is_right_and_without_a_finding_in_any_order_of_blocks(blocks, seed):
    a, b = problem(blocks)
    arguments = look_back.arguments(a, b)
    with cuda.settings(shuffle=seed is not None, seed=seed or 0):
        observation = cuda.observe(look_back.scan_with_tickets, blocks, 32, *arguments)
    assert not observation.findings
    assert np.allclose(arguments[2], exact(a, b), rtol=1e-5, atol=1e-5)


def test_each_step_is_read_once_and_written_once():
    blocks = 8
    observation = cuda.observe(
        look_back.scan_with_tickets, blocks, 32, *look_back.arguments(*problem(blocks))
    )
    of_steps, of_blocks = 32 * blocks, blocks
    assert 2 * of_steps <= observation.counts.global_loads <= 2 * of_steps + 3 * of_blocks
    assert observation.counts.global_stores == of_steps + 3 * of_blocks


@pytest.mark.parametrize("seed", range(3))
def test_without_tickets_a_full_device_waits_for_blocks_that_cannot_start(seed):
    a, b = problem(60)
    with cuda.settings(device="T4", shuffle=True, seed=seed, checks=False):
        with_tickets = look_back.arguments(a, b)
        look_back.scan_with_tickets[60, 32, 0, 48 * 1024](*with_tickets)  # a T4 holds 40 such blocks
        assert np.allclose(with_tickets[2], exact(a, b), rtol=1e-5, atol=1e-5)
        with pytest.raises(cuda.Findings) as caught:
            look_back.scan_without_tickets[60, 32, 0, 48 * 1024](*look_back.arguments(a, b))
    assert [finding.kind for finding in caught.value.findings] == ["deadlock"]


@pytest.mark.slow
def test_both_scans_compile_for_three_gpus_without_spills():
    pytest.importorskip("cuda.core")
    from numba import float32, int32

    from pocketgpu.compiling.report import ARCHITECTURES, compile_report

    vector, flags = float32[::1], int32[::1]
    types = vector, vector, vector, flags, flags, float32[:, ::1], vector
    for kernel in (look_back.scan_with_tickets, look_back.scan_without_tickets):
        for arch in ARCHITECTURES:
            (compiled,) = compile_report(kernel, types, arch=arch)
            assert (compiled.spill_stores, compiled.spill_loads) == (0, 0)
            assert compiled.registers <= 32
