"""A tile that is compiled by itself multiplies, and its innermost loop is counted as it stands there."""

import numpy as np
import pytest

from rnncourse.lab.tile_rates import LANES, CompiledTile, InnerLoop, count_inner_loop, measure_tiles
from rnncourse.lab.turns import Timing
from rnnlab.kernels.packed.tiles import Tile

X86 = """
f:
\tpushq\t%rbp
\tvfmadd231ps\t(%rax), %zmm0, %zmm1
.LBB0_2:
\tvmovups\t64(%rsp), %zmm9
\tvfmadd231ps\t(%rbp,%rcx){1to16}, %zmm2, %zmm3
\tvfmadd213ps\t128(%rsp), %zmm2, %zmm9
\tvmovups\t%zmm9, 64(%rsp)
\tjne\t.LBB0_2
.LBB0_3:
\tpopq\t%rbp
"""
ARM = """
f:
\tstr\tx29, [sp, #-16]!
.LBB0_1:
\tldr\tq20, [sp, #32]
\tfmla\tv0.4s, v20.4s, v1.4s
\tfmla\tv2.4s, v20.4s, v3.4s
\tb.ne\t.LBB0_1
"""


@pytest.mark.parametrize(
    ("code", "counted"), [(X86, InnerLoop(2, 3)), (ARM, InnerLoop(2, 1)), ("", InnerLoop(0, 0))]
)
def test_the_block_with_most_multiply_adds_is_the_innermost_loop(code, counted):
    assert count_inner_loop(code) == counted


@pytest.mark.parametrize("tile", [(1, 1), (5, 2), (3, 3)])
def test_a_compiled_tile_multiplies_and_its_loop_has_whole_terms(tile):
    compiled, rng = CompiledTile(Tile(*tile)), np.random.default_rng(0)
    a, panel = rng.normal(size=(tile[0], 37)), rng.normal(size=(37, tile[1] * LANES))
    got = compiled.product(a.astype("float32"), panel.astype("float32"))
    assert np.abs(got - a @ panel).max() < 1e-4
    loop = compiled.inner_loop()
    assert loop.multiplies > 0
    assert loop.multiplies % (tile[0] * tile[1]) == 0


@pytest.mark.parametrize("tile", [(0, 2), (3, 0), (-1, -1), (65, 4)])
def test_a_tile_that_cannot_be_compiled_is_refused_with_its_sizes(tile):
    with pytest.raises(ValueError, match=f"{tile[0]}.*{tile[1]}"):
        CompiledTile(Tile(*tile))


def test_a_rate_is_operations_by_the_median():
    compiled = CompiledTile(Tile(2, 1))
    assert (
        compiled.flop == 2 * 2 * LANES * 384
    )  # two operations for each number of 2 rows by 1 vector, 384 terms
    timing = Timing((0.5, 1.0, 2.0))
    assert compiled.rate(timing) == pytest.approx(1e-9 * compiled.turns * compiled.flop)


def test_tiles_are_measured_by_their_rows_and_vectors():
    rates, timings = measure_tiles([(1, 1), (2, 2)], rounds=2)
    assert rates.keys() == {(1, 1), (2, 2)}
    assert min(rate.gflops for rate in rates.values()) > 0
    assert min(rate.loop.multiplies for rate in rates.values()) > 0
    assert timings.keys() == {"1 × 1", "2 × 2"}
