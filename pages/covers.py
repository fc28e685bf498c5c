"""A drawing for each lesson, chosen among those that it shows, on its card."""

import html
import re
from collections.abc import Callable

from pages.opening import Opening
from rnncourse import drawings

COVERS = {  # of the lesson of that name; none answers what its lesson asks
    "00_start_here": "two_roofs",
    "01_rnn_forward": "unrolled_network",
    "02_bptt": "losses_at_every_step",
    "03_training": "clipped_step",
    "04_differentiable_graphs": "graph_and_mirror",
    "05_gemm_shapes": "padding_with_zeros",
    "06_numba_cpu": "vector_lanes",
    "07_parallel_cpu": "three_cuts",
    "08_packed_products": "register_tile_1",
    "09_cuda_first_kernels": "grid_block_warp",
    "10_cuda_shared_memory": "shared_tile",
    "11_naive_gpu_rnn": "empty_chip",
    "12_fused_cell": "kernels_of_a_step",
    "13_fused_layer": "inputs_of_k_steps",
    "14_network_schedule": "wavefront_2",
    "15_persistent_rnn": "weights_on_chip",
    "16_persistent_cuda": "fragment_of_a_lane",
    "17_scaling_out": "shares_of_ranks",
    "18_parallel_in_time": "scan_levels_5",
    "19_capstone": "residual_layers",
}
SIZE = re.compile(r' width="(\d+)" height="(\d+)"')


def cover(lesson: Opening, keep: Callable[[bytes, str], str]) -> str:
    """The image of a lesson's drawing, kept as a file, with the first sentence of its words."""
    drawing = drawings.load(COVERS[lesson.stem])
    width, height = SIZE.search(drawing.html).groups()
    source = keep(drawing.html.encode(), "svg")
    alt = html.escape(re.split(r"(?<=\.) ", drawing.alt)[0])
    return f'<img class="cover" src="{source}" width="{width}" height="{height}" alt="{alt}" loading="lazy">'
