"""Checks of unit 05: work for each byte, sizes that suit the machine, products over several steps."""

from rnnlab.checks.gemm_shapes.arithmetic_intensity import ARITHMETIC_INTENSITY
from rnnlab.checks.gemm_shapes.batch_input_gemm import BATCH_INPUT_GEMM
from rnnlab.checks.gemm_shapes.pad_dimension import PAD_DIMENSION

EXERCISES = (ARITHMETIC_INTENSITY, PAD_DIMENSION, BATCH_INPUT_GEMM)
