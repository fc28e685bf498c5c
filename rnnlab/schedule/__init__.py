"""A pass through a network as a plan of operations, and what can be done with a plan before it runs.

Read: plan (operations on regions), build (the naive plan), hazards (which operations wait for which), passes
and order (the optimisations), run_numpy (proves them right), timeline (predicts
their time on a GPU).
"""
