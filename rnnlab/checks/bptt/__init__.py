"""Checks of unit 02: a step backward, a gradient tested, a sequence backward, a sequence cut short."""

from rnnlab.checks.bptt.bptt_linear import BPTT_LINEAR
from rnnlab.checks.bptt.bptt_truncated import BPTT_TRUNCATED
from rnnlab.checks.bptt.gradient_check import GRADIENT_CHECK
from rnnlab.checks.bptt.relu_step_backward import RELU_STEP_BACKWARD

EXERCISES = (RELU_STEP_BACKWARD, GRADIENT_CHECK, BPTT_LINEAR, BPTT_TRUNCATED)
