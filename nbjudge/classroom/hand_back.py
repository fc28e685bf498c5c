"""The commands before and after grading: `class variants | report | similar | export`."""

import os
from argparse import Namespace

from nbjudge.classroom import (
    export_gradescope,
    export_lms,
    export_nbgrader,
    export_tables,
    exported,
    keys,
    papers,
    variants,
)
from nbjudge.classroom.commands import DONE, WORDS, locked, made, say
from nbjudge.course import current
from nbjudge.files import ROOT
from nbjudge.finding.notebook_file import Unusable
from nbjudge.printable import quantity

COMMENTS = "Feedback comments"  # Moodle's title of that column in English
NEEDS_LESSON = ("nbgrader", "gradescope")


def _variants(chosen: Namespace) -> int:
    students = variants.students_in(chosen.students)
    folder = chosen.folder
    lesson = chosen.lesson
    out = chosen.out or folder / "handout" / lesson
    with made(folder), locked(folder):  # two lessons at once would forget one of them
        variants.hand_out(folder, lesson, students, out, chosen.overwrite)
    notebooks = quantity(len(students), "notebook")
    say(
        f"{out}: {notebooks}, and students.csv with all numbers. From now on",
        f"{current().command} class grade takes the numbers of {lesson} from {folder / 'class.json'}.",
        variants.describe_counts(lesson),
    )
    return DONE


def _report(chosen: Namespace) -> int:
    from nbjudge.classroom import report

    read = papers.all_papers(chosen.folder) or papers.papers_of(chosen.folder)  # which says why there is none
    withheld = papers.withheld_of(chosen.folder)
    out = chosen.out or chosen.folder / "report"
    files = report.report_pages(read, withheld, out, chosen.names, papers.sandboxes(read))
    exported.write_files(chosen.folder, files, chosen.overwrite)
    pages = out / "students"
    count = quantity(len(files) - 1, "page")
    say(*papers.open_matters(chosen.folder))
    say(f"{out / 'class.html'}: the class. {pages}: {count} to give back.")
    if old := report.old_pages(out, read):
        old_pages = quantity(old, "page")
        say(f"{pages} also holds {old_pages} that this report did not write.")
    return DONE


def _similar(chosen: Namespace) -> int:
    from nbjudge.classroom import report, similar

    read = papers.papers_of(chosen.folder, chosen.lesson)
    lessons = report.lessons_of(read)
    findings = [similar.find_similar(name, read, papers.handed_in(chosen.folder, name)) for name in lessons]
    out = chosen.out or chosen.folder / "similar.html"
    files = {out: report.similar_page(findings, chosen.names).encode()}
    if chosen.programs:
        for finding in findings:
            files |= similar.programs(finding, chosen.programs)
    exported.write_files(chosen.folder, files, chosen.overwrite)
    say(f"{out}: where to look; no verdicts.")
    for finding in findings:
        alike = quantity(len(finding.files), "group")
        wrong = quantity(len(finding.wrong), "group")
        pairs = quantity(len(finding.cells), "pair")
        same = f"{alike} with the same file or text, {wrong} with the same wrong answer"
        say(f"{finding.lesson}: {same}, {pairs} with the same cells.")
    if chosen.programs:
        count = quantity(len(files) - 1, "file")
        say(f"{chosen.programs}: {count}, in a folder for each exercise.")
    if unread := [student for finding in findings for student in finding.unread]:
        say(f"Not compared, because their notebooks cannot be read: {', '.join(unread)}.")
    return DONE


def _export(chosen: Namespace) -> int:
    """Write what the target takes, and print the sentences on it."""
    files = [path for path in (chosen.out, chosen.template) if path and path.exists()]
    if len(files) == 2 and os.path.samefile(*files):
        raise Unusable("--out is the template: name another file, so that your download stays as it was.")
    for option, words in WORDS["export"]["options"].items():
        targets = words.get("targets", [chosen.to])
        name = option.lstrip("-").replace("-", "_")
        if getattr(chosen, name) is not None and chosen.to not in targets:
            platforms = " and ".join(targets)
            raise Unusable(f"{option} belongs to --to {platforms}, not to {chosen.to}: leave it out.")
    if chosen.gradebook and chosen.out:
        raise Unusable("--gradebook receives marks and --out a new assignment: name one of them.")
    if chosen.assignment and not chosen.gradebook:
        raise Unusable("--assignment is a name in a gradebook: name that with --gradebook.")
    autograder = chosen.to in NEEDS_LESSON and not chosen.gradebook
    if chosen.folder is None and not autograder:
        raise Unusable(f"--to {chosen.to} needs the class folder whose marks are exported.")
    if chosen.out is None and not chosen.gradebook:
        raise Unusable(f"--to {chosen.to} needs --out, the file or folder to write.")
    if autograder:
        say(_autograder(chosen))
    else:
        sentences = _gradebook(chosen) if chosen.gradebook else _table(chosen)
        say(*sentences, *_without_mark(chosen))
    return DONE


def _autograder(chosen: Namespace) -> str:
    """Write an assignment or autograder of one lesson."""
    if chosen.lesson is None:
        stems = ", ".join(current().lessons.values())
        raise Unusable(f"--to {chosen.to} needs --lesson, one of {stems}.")
    if chosen.to == "gradescope":
        content = export_gradescope.autograder(chosen.lesson)
        exported.write_files(None, {chosen.out: content}, chosen.overwrite)
        return f"{chosen.out}: the autograder of {chosen.lesson}."
    if chosen.folder and chosen.lesson in keys.varied(chosen.folder):
        raise Unusable(
            f"students of {chosen.folder} have numbers of their own in {chosen.lesson}, this would be "
            f"one notebook for all: hand out those of {current().command} class variants."
        )
    stem = current().lessons[chosen.lesson]
    content = export_nbgrader.source(chosen.lesson, ROOT / "exercises" / f"{stem}.ipynb")
    path = chosen.out / "source" / stem / f"{stem}.ipynb"
    exported.write_files(None, {path: content}, chosen.overwrite)
    return f"{path}: now run nbgrader generate_assignment {stem} in {chosen.out}."


def _gradebook(chosen: Namespace) -> list[str]:
    """Write marks into an nbgrader gradebook; the sentences on it."""
    read = papers.papers_of(chosen.folder, chosen.lesson)
    with exported.record_of(chosen.folder) as record:
        pushed = export_nbgrader.push_marks(read, chosen.gradebook, chosen.assignment, record)
    remarks = {
        "Not in the gradebook": pushed.absent,
        "Withheld, because not all was judged": pushed.withheld,
        "Without a cell in the gradebook": pushed.prose,
        "Written by others and kept": pushed.others,
    }
    students = quantity(pushed.students, "student")
    sentences = [f"{chosen.gradebook}: marks of {students}."]
    for why, named in remarks.items():
        if named:
            sentences.append(f"{why}: {', '.join(named)}.")
    return sentences


def _without_mark(chosen: Namespace) -> list[str]:
    """A line for each student who handed something in and has no mark, with the reason."""
    reasons = papers.unmarked(chosen.folder, chosen.lesson)
    named = [f"  {student}: {why}" for student, why in reasons.items() if why]
    others = [student for student, why in reasons.items() if not why]
    lines = []
    if named:
        students = quantity(len(named), "student")
        lines += [f"Handed in and without a mark: {students}.", *named]
    if others:
        lines.append(f"Handed in for other lessons alone: {', '.join(others)}.")
    return [*lines, *papers.open_matters(chosen.folder, chosen.lesson)]


def _table(chosen: Namespace) -> list[str]:
    """Write a table of marks; the sentences on what it holds."""
    read = papers.papers_of(chosen.folder, chosen.lesson)
    if chosen.to in ("csv", "exercises"):
        make = export_tables.marks_table if chosen.to == "csv" else export_tables.exercises_table
        table = make(read, chosen.names)
        exported.write_files(chosen.folder, {chosen.out: table}, chosen.overwrite)
        return [f"{chosen.out}: {len(table.rows) - 1} rows."]
    if chosen.template is None:
        raise Unusable(f"--to {chosen.to} needs --template, the file that you downloaded there.")
    template = export_tables.read_table(chosen.template)
    others = [*papers.unmarked(chosen.folder, chosen.lesson)]
    if chosen.to == "moodle":
        usual = COMMENTS if COMMENTS in template.rows[0] else None
        column = chosen.column or "Grade"
        feedback = chosen.feedback_column or usual
        filling = export_lms.fill_moodle(template, read, column, feedback, chosen.out_of, others)
    else:
        filling = export_lms.fill_canvas(template, read, chosen.column, chosen.out_of, others)
    exported.write_files(chosen.folder, {chosen.out: filling.table}, chosen.overwrite)
    students = quantity(filling.filled, "student")
    lines = [f"{chosen.out}: marks of {students}.", *filling.remarks]
    if filling.missing:
        rows = quantity(len(filling.missing), "row")
        missing = ", ".join(filling.missing)
        lines.append(f"Nothing was handed in by {rows} of {chosen.template.name}: {missing}.")
    return lines


ACTIONS = {"variants": _variants, "report": _report, "similar": _similar, "export": _export}
