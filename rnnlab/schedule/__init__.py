"""A pass through a network as a plan of operations, and what can be done with a plan before it runs.

Read: plan (operations on regions), build (the naive plan), hazards (who must wait for whom), passes and
order (the optimisations), repeat and resize (the same plans, sooner), run_numpy (proves them right), timeline
(predicts their time on a GPU).  nearest, in_order and side_by_side are their loops, compiled.
"""
