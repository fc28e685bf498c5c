"""A whole class: collect the files, grade them unattended, understand the results, hand marks back.

Files are the truth, in place of a database.  A class folder holds one assignment, or all lessons of a course
where students have the same identifier everywhere (Moodle's number belongs to one assignment):

  class.json              {"format", "key": the class key, 64 hexadecimal digits, "variants": [lesson, ...],
                          "taken": [sha256 of a file that `collect --take` chose, ...]}; each but the key may
                          be missing; secret: seeds and variants are drawn from the key
  submissions.jsonl       the submissions list: one line for each file that `collect` saw
  files/<sha256>.ipynb    each notebook as it was handed in, by its content
  results/<folder of the student>/<lesson>.json    one file for each graded submission, written whole
  regraded/               results of `regrade` that are shown and not yet written
  exported.json    what was written for people, so that nothing is replaced that they changed: exported.py
  lock                    held by the process that collects or grades
  exported.lock           held while exported.json is read and written
  by_hand.csv, prose.csv    the teacher's own, each optional; by_hand.py has their columns

One line of submissions.jsonl (submissions.Submission); every field is there in every line:

  student   identifier, in Unicode form NFC: number in Moodle and Canvas, folder's name elsewhere; or null
  name      full name where the layout has one, else null
  lesson    lesson of the notebook, "bptt"; null where it is of none
  file      "files/<sha256>.ipynb"; null for another kind of file, or an unreadable one
  sha256    digest of the content; null where `file` is null
  source    where it was, "download.zip: Ada Lovelace_123_assignsubmission_file/02_bptt.ipynb"
  layout    "moodle", "canvas", "nbgrader", "blackboard", "brightspace" or "plain"
  section   name of the source where several were collected, else null
  when      time of the hand-in, the file or the download in ISO 8601; null: unknown
  number    Canvas' number of the file, which rises with each file that it receives; null elsewhere
  graded    true for the one file that counts of this student and lesson
  reason    why it does not count, or what was decided about it; null where there is nothing to say

One file in results/ (results.Result) is what `grade --json` writes, and whose it is:

  student, lesson
  submission  sha256 of the notebook
  grader      digest of the course's code
  score, max_score, sandbox, limits_by, seed, variants    as in the JSON of `grade`
  exercises [{"name", "points", "max_points", "status", "message", "misconception", "next_step", "seconds",
            "looks"}]; the status "grader_error" is a fault of the grader's own, listed apart, no points are
            lost to it silently; `looks` are for the teacher only
  problem     sentence where the notebook could not be graded at all (then `exercises` is empty), else null

Only `seconds` differs between two grades of one file by the same code.

Programs read with `results.load(folder)` and `submissions.load(folder)`, never the text.
`keys.class_key(folder)` is the key as bytes; it stops where the key is missing.
`keys.token(key, purpose, lesson, student)` is HMAC-SHA256 of the key and the other arguments, in hexadecimal
digits: a variant is drawn from `token(key, "variant", lesson, student)` alone, so that no key travels to
another machine. Grading calls `variants.draw_variant(exercise, token)` for a lesson that class.json lists
under "variants".
"""
