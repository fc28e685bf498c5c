"""Checks of unit 07: a minibatch in shares, what more threads can gain, an order of work as plain data."""

from rnnlab.checks.parallel_cpu.amdahl_limit import AMDAHL_LIMIT
from rnnlab.checks.parallel_cpu.choose_schedule import CHOOSE_SCHEDULE
from rnnlab.checks.parallel_cpu.split_minibatch import SPLIT_MINIBATCH

EXERCISES = (SPLIT_MINIBATCH, AMDAHL_LIMIT, CHOOSE_SCHEDULE)
