"""Differentiable graphs: draw a cell, read its gradient off the picture, count what each choice costs.

Read: graph (wires and nodes), rules (what each node does, forward and reverse), mirror (the reverse
graph), cells (RNN, GRU, LSTM in a few lines), transform (other graphs of the same function), plan (save or
recompute). Pictures of graphs: rnncourse.views.graph_drawing.
"""
