"""Checks of unit 04: rules of a graph, two cells backward, products counted, a faster GRU, memory."""

from rnnlab.checks.differentiable_graphs.count_gemms import COUNT_GEMMS
from rnnlab.checks.differentiable_graphs.graph_rules import GRAPH_RULES
from rnnlab.checks.differentiable_graphs.gru_backward import GRU_BACKWARD
from rnnlab.checks.differentiable_graphs.gru_reset_after import GRU_RESET_AFTER
from rnnlab.checks.differentiable_graphs.lstm_backward import LSTM_BACKWARD
from rnnlab.checks.differentiable_graphs.plan_memory import PLAN_MEMORY

EXERCISES = (GRAPH_RULES, LSTM_BACKWARD, COUNT_GEMMS, GRU_RESET_AFTER, GRU_BACKWARD, PLAN_MEMORY)
