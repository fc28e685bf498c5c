"""A whole recurrent network in one function: its loss and the gradient of each of its parameters.

The exercise notebook shows this text, and the check hands it to the learner's training loop, so that the loop
is all there is to write. tests/rnncourse/test_checks_training.py keeps the two texts equal.
"""

import numpy as np


def loss_and_gradients(parameters, x, target):
    """(mean squared error, {name: gradient}) on x [T,B,1], target [T,B,1]."""
    names = "weight_ih", "weight_hh", "bias"
    weight_ih, weight_hh, bias = (parameters[name] for name in names)
    weight_out = parameters["weight_out"]
    bias_out = parameters["bias_out"]
    T, B, _ = x.shape
    h = np.zeros((T + 1, B, len(bias)))
    for t in range(T):
        h[t + 1] = np.tanh(x[t] @ weight_ih.T + h[t] @ weight_hh.T + bias)
    error = h[1:] @ weight_out.T + bias_out - target
    gradients = {name: np.zeros_like(part) for name, part in parameters.items()}
    dprediction = 2 * error / error.size
    dh = np.zeros((B, len(bias)))
    for t in reversed(range(T)):
        gradients["weight_out"] += dprediction[t].T @ h[t + 1]
        gradients["bias_out"] += dprediction[t].sum(axis=0)
        da = (dh + dprediction[t] @ weight_out) * (1 - h[t + 1] ** 2)
        gradients["weight_ih"] += da.T @ x[t]
        gradients["weight_hh"] += da.T @ h[t]
        gradients["bias"] += da.sum(axis=0)
        dh = da @ weight_hh
    return float((error**2).mean()), gradients
