"""Checks of unit 15: what a lane holds of a tile, what a thread can keep, how fast a step can be."""

from rnnlab.checks.persistent_cuda.pack_fragment import PACK_FRAGMENT
from rnnlab.checks.persistent_cuda.register_budget import REGISTER_BUDGET
from rnnlab.checks.persistent_cuda.steps_floor import STEPS_FLOOR

EXERCISES = (PACK_FRAGMENT, REGISTER_BUDGET, STEPS_FLOOR)
