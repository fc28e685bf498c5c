"""Capstone: a residual RNN of many layers, and a schedule for it as data, which a model judges.

Read: residual (the network), launches (a schedule as data, and the plan that it becomes), score (legality,
which arrays are live, time beside a lower bound), schedule_picture, board (programs, all of them scored),
page (the numbers of a report), own_numbers (the learner's schedule and numbers as one HTML file).
"""
