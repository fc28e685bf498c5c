"""Kernels compiled where there is no GPU: what types they compute with, what registers they need.

words        a kernel in numba.cuda's own words, whichever `cuda` it was written with
cache_hints  those words that Numba's own CUDA target lacks
without_gpu  what Numba asks a driver for, answered without one
typing       a kernel's lines and the types Numba gives them
report       PTX and machine code by way of NVIDIA's compilers, and what they say of it
"""
