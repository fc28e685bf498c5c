"""Recurrent networks in Halide: what is computed stands apart from the order in which it is done.

    equations   the kernels of every cell: what follows the sums of a product, as Halide expressions
    published   the eight schedules of the CMU project (Han and Uboweja 2016), by name
    registers   our own schedule: packed weights, a tile's sums in registers, finished before they leave
    kernels     equations × schedule, compiled just in time: functions over NumPy arrays
    layers      one layer, both ways, as calls of kernels
    network     all layers, both ways, under any schedule

Halide is imported when a kernel is built.
"""
