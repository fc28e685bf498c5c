"""Pictures one can move: thin ipywidgets views over functions that work without them.

A view's module has a function that computes its numbers, one that draws them, and `explore_…()`, which
returns sliders over the picture in a kernel and a still picture anywhere else.
"""
