"""Checks of unit 13: an order along diagonals, streams with their events, and how many inputs to batch."""

from rnnlab.checks.network_schedule.assign_streams import ASSIGN_STREAMS
from rnnlab.checks.network_schedule.choose_input_batch import CHOOSE_INPUT_BATCH
from rnnlab.checks.network_schedule.wavefront_order import WAVEFRONT_ORDER

EXERCISES = (WAVEFRONT_ORDER, ASSIGN_STREAMS, CHOOSE_INPUT_BATCH)
