"""Checks of unit 11: all gates from two products, and an LSTM's pointwise work in one kernel each way."""

from rnnlab.checks.fused_cell.group_gates import GROUP_GATES
from rnnlab.checks.fused_cell.lstm_pointwise_backward_kernel import LSTM_POINTWISE_BACKWARD_KERNEL
from rnnlab.checks.fused_cell.lstm_pointwise_kernel import LSTM_POINTWISE_KERNEL

EXERCISES = (GROUP_GATES, LSTM_POINTWISE_KERNEL, LSTM_POINTWISE_BACKWARD_KERNEL)
