"""Loops derived from a cell's one equation: written by programs, committed, read by people.

body           a step's pointwise work as lines of text: names, order, brackets
numba_rows     a loop over the units of one sequence, for Numba on the CPU
numba_vectors  a loop over the vectors of a packed panel, for Numba on the CPU
numba_device   device functions for one unit, for Numba's CUDA and the simulator
cuda_cells     the same functions in CUDA C++
kernel_properties   what kernels must know of a cell: its number, the arrays that it needs
files          every derived file; `python -m rnncourse.build` writes them

The equation is in rnnlab.graphs.cells; graphs.mirror gives its gradient, schedule the fused operation.
Tests compare what is derived with rnnlab.cells, whose gradient is written by hand.
"""
