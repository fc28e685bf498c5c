"""Checks of unit 12: weights turned once, inputs of several steps, weight gradients after the loop."""

from rnnlab.checks.fused_layer.batch_inputs import BATCH_INPUTS
from rnnlab.checks.fused_layer.transpose_once import TRANSPOSE_ONCE
from rnnlab.checks.fused_layer.weight_gradient_after_loop import WEIGHT_GRADIENT_AFTER_LOOP

EXERCISES = (TRANSPOSE_ONCE, BATCH_INPUTS, WEIGHT_GRADIENT_AFTER_LOOP)
