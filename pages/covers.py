"""A drawing for each lesson, chosen among those that it shows, on its card."""

import html
import re
from collections.abc import Callable

from pages.opening import Opening
from rnncourse import drawings

COVERS = {  # of the lesson of that name; none answers what its lesson asks
    "start_here": "two_roofs",
    "rnn_forward": "unrolled_network",
    "bptt": "losses_at_every_step",
    "training": "clipped_step",
    "differentiable_graphs": "graph_and_mirror",
    "gemm_shapes": "padding_with_zeros",
    "numba_cpu": "vector_lanes",
    "parallel_cpu": "three_cuts",
    "packed_products": "register_tile_1",
    "cuda_first_kernels": "grid_block_warp",
    "cuda_shared_memory": "shared_tile",
    "naive_gpu_rnn": "empty_chip",
    "fused_cell": "fused_cell",
    "fused_layer": "inputs_of_k_steps",
    "network_schedule": "wavefront_2",
    "persistent_rnn": "weights_on_chip",
    "persistent_cuda": "fragment_of_a_lane",
    "scaling_out": "shares_of_ranks",
    "parallel_in_time": "scan_levels_5",
    "capstone": "residual_layers",
}
SIZE = re.compile(r' width="(\d+)" height="(\d+)"')


def cover(lesson: Opening, keep: Callable[[bytes, str], str]) -> str:
    """The image of a lesson's drawing, kept as a file, with the first sentence of its words."""
    drawing = drawings.load(COVERS[lesson.name])
    width, height = SIZE.search(drawing.html).groups()
    source = keep(drawing.html.encode(), "svg")
    words = html.escape(re.split(r"(?<=\.) ", drawing.alt)[0])
    return (
        f'<img class="cover" src="{source}" width="{width}" height="{height}" alt="{words}" loading="lazy">'
    )
