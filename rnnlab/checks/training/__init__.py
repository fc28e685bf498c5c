"""Checks of unit 03: a gradient to start from, a limit on its size, a rule that uses it, and the loop."""

from rnnlab.checks.training.adam_update import ADAM_UPDATE
from rnnlab.checks.training.clip_by_global_norm import CLIP_BY_GLOBAL_NORM
from rnnlab.checks.training.cross_entropy_gradient import CROSS_ENTROPY_GRADIENT
from rnnlab.checks.training.train_filter import TRAIN_FILTER

EXERCISES = (CROSS_ENTROPY_GRADIENT, CLIP_BY_GLOBAL_NORM, ADAM_UPDATE, TRAIN_FILTER)
