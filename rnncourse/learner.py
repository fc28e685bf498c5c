"""`check`, `hint`, `use` and their kin of nbjudge, on the exercises of this course."""

from nbjudge.course import choose
from nbjudge.grading.learner import check, hint, progress, replay, solution, use

__all__ = "check", "hint", "progress", "replay", "solution", "use"

choose("rnncourse.course:COURSE")
