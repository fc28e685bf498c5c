"""Checks of unit 08: a thread for each element, any number of elements, whole sectors, and a race."""

from rnnlab.checks.cuda_first_kernels.fix_the_race import FIX_THE_RACE
from rnnlab.checks.cuda_first_kernels.saxpy_kernel import SAXPY_KERNEL
from rnnlab.checks.cuda_first_kernels.tanh_kernel import TANH_KERNEL
from rnnlab.checks.cuda_first_kernels.transpose_coalesced import TRANSPOSE_COALESCED

EXERCISES = (SAXPY_KERNEL, TANH_KERNEL, TRANSPOSE_COALESCED, FIX_THE_RACE)
