"""Kernels that fast rungs launch: what is compiled or generated, apart from when it runs.

cells        properties of each cell that kernels need, derived from its equation
compiled     loops in Numba, for the CPU
packed       products in Numba whose sums stay in registers, for the CPU
persistence  a layer whose weights stay on the chip: Numba CUDA, and the CUDA C++ of two rungs
"""
