"""nbjudge: find a function in a notebook, run it in a sandbox, compare it with a reference, name the mistake.

From the ground up; a folder imports those before it:
  clock, verdict, exercise, files, printable, progress_file: values and files that all of them use
  comparing  a result beside its reference: the first difference, the known mistake that explains it
  running    an answer in a process of its own, within limits; running/inside is what that process may see
  finding    an answer in a notebook, with every statement that it depends on
  grading    one answer, one notebook; check, hint, use and progress in a notebook; the commands
  authoring  lessons, exercises and solutions built from the texts that an author writes
  classroom  many notebooks: collected, graded, reported, handed back
"""
