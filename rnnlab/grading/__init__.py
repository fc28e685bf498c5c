"""How an answer is judged: checks, verdicts, hints, progress, and grading in a process of its own.

Read in this order: exercise (the task), judging and differences (what counts as right), judge (one
verdict), learner (check, hint, use, progress in a notebook), inside (what the learner's process may see),
then worker and sandbox (that process), source and slices (finding answers in a notebook), grade (a whole
notebook).
"""

from rnnlab.grading.learner import check, hint, progress, use

__all__ = ["check", "hint", "progress", "use"]
