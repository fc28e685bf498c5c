"""Kernels compiled where there is no GPU: what types they compute with, what registers they need.

cache_hints  functions that Numba's own CUDA target lacks
target       the parts of Numba, or of numba-cuda where that is installed, that the rest is built on
without_gpu  stand-ins for the driver and for NVVM, where there is no GPU
typing       a kernel with the names of numba.cuda; its lines and the types Numba gives them
report       PTX and machine code by way of NVIDIA's compilers, and what they say of it
"""
