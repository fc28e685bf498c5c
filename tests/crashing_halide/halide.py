"""A Halide whose code this processor lacks the instructions for."""

import signal

signal.raise_signal(signal.SIGILL)
