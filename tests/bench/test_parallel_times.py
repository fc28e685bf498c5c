"""Loop, scan and Newton's method on GPUs: what the data sheets predict."""

import pytest

from bench import parallel_times, performance_page
from bench.parallel_times import LENGTHS, WIDTHS, predicted
from pocketgpu.devices import DEVICES, find
from rnnlab.kernels.persistence.floor import floor
from rnnlab.kernels.persistence.shapes import cluster_shape, grid_shape

H200 = find("H200")


@pytest.mark.parametrize(("H", "shape"), [(64, "cluster"), (512, "grid")])
def test_a_loop_on_an_h200_is_held_by_the_lower_of_lesson_16_s_floors(H, shape):
    shapes = {
        "cluster": cluster_shape("gru", H, "bfloat16", H200),
        "grid": grid_shape("gru", H, "bfloat16", 1, H200),
    }
    steps = {name: floor(one, 1, H200).step for name, one in shapes.items()}
    assert min(steps, key=steps.get) == shape
    times = predicted(H200, H, 1000)
    assert times.way == f"persistent_{shape}"
    assert times.loop == pytest.approx(steps[shape])


def test_newton_with_matrices_pays_for_few_units_and_with_diagonals_for_more():
    ways = {H: predicted(H200, H, 100_000) for H in WIDTHS}
    assert ways[64].newton < ways[64].loop
    assert ways[256].newton > 10 * ways[256].loop
    assert ways[256].diagonal < ways[256].loop < ways[256].newton
    assert ways[512].diagonal > ways[512].loop
    assert ways[512].newton / ways[256].newton == pytest.approx(8, rel=0.05)  # H³


def test_bytes_bound_a_long_scan_and_levels_a_short_one():
    long, short = predicted(H200, 512, 10_000_000), predicted(H200, 64, 64)
    assert long.scan == pytest.approx(3 * 2 * 512 * 1e7 / (H200.bandwidth * 1e6), rel=0.01)
    assert short.scan == pytest.approx(2 * 6 * 0.302e-3, rel=0.01)


def test_every_data_sheet_is_predicted_and_the_page_holds_what_the_program_prints():
    sizes = [(device.name, H, T) for device, H, T, _ in parallel_times.rows()]
    assert sizes == [(name, H, T) for name in DEVICES for H in WIDTHS for T in LENGTHS]
    assert parallel_times.table() in performance_page.PAGE.read_text(encoding="utf-8")
