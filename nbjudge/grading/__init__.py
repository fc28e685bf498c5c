"""One answer and one notebook judged.

judge gives one verdict; in_process calls an answer in a notebook; learner has check, hint, use and progress;
grade judges a whole notebook; self_check holds the grader against answers whose verdicts are known.
"""
