"""Checks of unit 01: a step, a sequence, a minibatch, and weights set by hand that filter a row of pixels."""

from rnnlab.checks.rnn_forward.filter_weights import FILTER_WEIGHTS
from rnnlab.checks.rnn_forward.rnn_forward import RNN_FORWARD
from rnnlab.checks.rnn_forward.rnn_forward_batched import RNN_FORWARD_BATCHED
from rnnlab.checks.rnn_forward.rnn_step import RNN_STEP

EXERCISES = (RNN_STEP, RNN_FORWARD, RNN_FORWARD_BATCHED, FILTER_WEIGHTS)
