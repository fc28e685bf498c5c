"""rnnlab: one recurrent network, understood, trained, graded, and run faster and faster.

Read in this order:
  cells      what one step of an RNN, GRU, LSTM computes, and its gradient
  network    a network's sizes and parameters, in PyTorch's layout
  reference  the slow truth: layers and steps, and back-propagation through time two ways
  compare    do two results agree, and where do they first differ
  tasks      real problems; training: how a network learns them
  ladder     every faster way to the reference's numbers
  simulator  a GPU for everyone; compiling: what a kernel becomes on a real one
  machine    what this computer can do
  grading    how an answer is judged; checks: what is asked of each exercise
  widgets    pictures; course: notebooks built from their sources

Letters, here and nowhere else:
  T  time steps            B  sequences in a minibatch    I  inputs             H  hidden units
  L  layers                G  gates of a cell             O  outputs
  x [T,B,I] input          y [T,B,H] output of the top layer
  h, c [T+1,B,H] states of one layer: h[0] is given, h[t+1] follows x[t]; a network's state is [L,B,H]
  d<name>  gradient of the loss with respect to <name>, with its shape
  Loops:   t step, l layer, b sequence, j unit written, k unit read, g gate
"""

from importlib import import_module

__version__ = "0.1.0"

# A learner's first line must answer at once: nothing is imported before it is asked for.
_HOME = {
    "check": "rnnlab.grading",
    "hint": "rnnlab.grading",
    "progress": "rnnlab.grading",
    "use": "rnnlab.grading",
    "compile_report": "rnnlab.compiling.report",
    "banner": "rnnlab.notebook",
    "show_source": "rnnlab.notebook",
}
__all__ = ["banner", "check", "compile_report", "hint", "progress", "show_source", "use"]


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'rnnlab' has no attribute {name!r}; it offers {', '.join(__all__)}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
