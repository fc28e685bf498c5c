"""Rungs that launch kernels: compiled loops on a CPU, plans and persistent kernels on a GPU.

They stand in a folder of their own because they import tools (rnnlab.kernels, rnnlab.gpu), which the rest of
the ladder does without.
"""
