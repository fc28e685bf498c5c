"""Checks of unit 07: shares of a minibatch, one sum of gradients, what threads gain, an order of work."""

from rnnlab.checks.parallel_cpu.amdahl_limit import AMDAHL_LIMIT
from rnnlab.checks.parallel_cpu.choose_schedule import CHOOSE_SCHEDULE
from rnnlab.checks.parallel_cpu.split_minibatch import SPLIT_MINIBATCH
from rnnlab.checks.parallel_cpu.sum_gradients import SUM_GRADIENTS

EXERCISES = (SPLIT_MINIBATCH, SUM_GRADIENTS, AMDAHL_LIMIT, CHOOSE_SCHEDULE)
