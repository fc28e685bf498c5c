"""Checks of unit 09: a product from tiles, a sum in a block and in a warp, a tile without conflicts."""

from rnnlab.checks.cuda_shared_memory.block_sum_kernel import BLOCK_SUM_KERNEL
from rnnlab.checks.cuda_shared_memory.tiled_matmul_kernel import TILED_MATMUL_KERNEL
from rnnlab.checks.cuda_shared_memory.transpose_without_conflicts import TRANSPOSE_WITHOUT_CONFLICTS
from rnnlab.checks.cuda_shared_memory.warp_sum_kernel import WARP_SUM_KERNEL

EXERCISES = (TILED_MATMUL_KERNEL, BLOCK_SUM_KERNEL, WARP_SUM_KERNEL, TRANSPOSE_WITHOUT_CONFLICTS)
