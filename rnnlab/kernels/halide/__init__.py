"""Recurrent networks in Halide: what is computed stands apart from the order in which it is done.

    equations   the kernels of every cell: what follows the sums of a product, as Halide expressions
    registers   the schedule: packed weights, a tile's sums in registers, finished before they leave
    kernels     equations under the schedule, compiled just in time: functions over NumPy arrays
    target      the processor to compile for: without what the system's flags lack
    layers      one layer, both ways, as calls of kernels

Halide is imported when a kernel is built.
"""
