"""Compiled loops of the CPU rungs: everything a step does beside its product, in one pass over its numbers.

Read: nonlinear (tanh as a vector instruction or twelve), gates (a step's pointwise work, forward and
backward), rows and of_cell (one text of a loop for all cells), recurrence (the loop over
time), propagation (a layer, a network), threads (who does which share).
"""
