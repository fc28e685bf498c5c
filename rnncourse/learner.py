"""`check`, `hint`, `use` and `progress` of nbjudge, on the exercises of this course."""

from nbjudge.course import choose
from nbjudge.grading.learner import check, hint, progress, use

__all__ = "check", "hint", "progress", "use"

choose("rnncourse.course:COURSE")
