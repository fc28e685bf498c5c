"""A layer's whole sequence in one kernel, its weights in registers: Diamos et al. (2016), in Python.

Read: capacity (what fits where on a chip), tiles (who keeps which weights), pointwise (a cell's work for one
unit), kernels (the loop over time), and rnnlab.ladder.persistent, which puts the products over all steps
around it.
"""
