"""One launch of the simulator, to be looked at step by step: cuda.replay(kernel[grid, block], *arguments).

Read: record (the launch's events as plain data), still (a picture of them where no script runs), page (both
with the front end, view.js, in one piece of HTML).
"""
