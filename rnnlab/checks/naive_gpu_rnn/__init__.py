"""Checks of unit 10: what a naive forward pass launches, and a GRU step as four small kernels."""

from rnnlab.checks.naive_gpu_rnn.launch_count import LAUNCH_COUNT
from rnnlab.checks.naive_gpu_rnn.step_kernels import STEP_KERNELS

EXERCISES = (STEP_KERNELS, LAUNCH_COUNT)
