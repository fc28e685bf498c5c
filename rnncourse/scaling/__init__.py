"""Training on many ranks: a model of what it costs beside published runs, and the command that starts it."""
