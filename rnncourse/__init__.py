"""rnncourse: what the lessons of rnnlab show and ask.

figures    colours, shapes, tables and sliders of every picture; drawings: what opens a lesson
views      pictures, with and without sliders
lab        what this computer can do: doctor, roofline, turns; JupyterLab and set-up
records    stored measurements with their provenance; their tables and pictures
scoreboard rates of one problem, from lesson to lesson, measured by the learner
scaling    a model of what training on many ranks costs; the command that trains on them
loop_nests, cache_model, lambert: one subject of one lesson each
capstone   a residual RNN; schedules as data, their scores beside a lower bound
kernel_answers, checks: how the inputs of each exercise are drawn and its results compared
notebook   the banner of a lesson; source code shown in one
cli        the `rnnlab` command
"""
