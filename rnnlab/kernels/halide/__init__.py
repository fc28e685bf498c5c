"""Recurrent networks in Halide: what is computed stands apart from the order in which it is done.

    equations   the kernels of every cell: what follows the sums of a product, as Halide expressions
    published   the eight schedules of the CMU project (Han and Uboweja 2016), by name
    registers   our own schedule: packed weights, a tile's sums in registers, finished before they leave
    compiled    just in time, or ahead of time into a library that needs no Halide to run
    kernels     equations × schedule × compiler: functions over NumPy arrays

    layers      one layer, both ways, as calls of kernels

Halide is imported when a kernel is built.
"""
