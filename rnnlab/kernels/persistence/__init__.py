"""A layer's whole sequence in one kernel, its weights on the chip: after Diamos et al. (2016).

In Python, read: tiles (what fits where on a chip, and who keeps which weights), pointwise (a cell's
work for one unit), kernels (the loop over time), numba_layer (products over all steps around it), and
rnnlab.ladder.persistent.

In CUDA C++, read: instructions.cuh, cells.cuh, items.cuh, exchange.cuh, persistent_grid.cu and
persistent_cluster.cu (the kernels), fragments (weights as tensor cores want them), shapes (who
keeps what), layers (products over all steps around the kernels), cuda_chip (the GPU
behind them); floor (what a step cannot be faster than) and chooser (which way for which shape, and why not
the others).
"""
