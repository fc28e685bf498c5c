"""Answers that are kernels: which statements may stand beside one, and how it is launched."""
