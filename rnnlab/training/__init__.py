"""Training: a model, a loss, an optimiser, and a loop that survives being killed.

Read: model (a network with a readout), losses, optimisers, loop (`fit`), history, checkpoint and resume.
"""

from rnnlab.training.history import History
from rnnlab.training.loop import fit, loss_and_gradients
from rnnlab.training.losses import cross_entropy, mse
from rnnlab.training.model import Model, evaluate
from rnnlab.training.optimisers import SGD, Adam, clip_by_global_norm

__all__ = [
    "SGD",
    "Adam",
    "History",
    "Model",
    "clip_by_global_norm",
    "cross_entropy",
    "evaluate",
    "fit",
    "loss_and_gradients",
    "mse",
]
