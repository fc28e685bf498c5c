"""How an answer is judged: verdicts, progress, and grading in a process of its own.

Read in this order: exercise (the task), judging and differences (what counts as right), judge (one
verdict), inside (what the learner's process may see), then worker and sandbox (that process), source and
slices (finding answers in a notebook). None of these knows an exercise. front brings them together with
checks: learner (check, hint, use, progress in a notebook), grade (a whole notebook), the commands, the
attacks and the self-check; classroom grades many notebooks.
"""
