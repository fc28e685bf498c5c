"""The commands before and after grading: `class variants | report | similar | export`.

What they need is imported when they run: --help must answer at once.
"""

import argparse
import os
from pathlib import Path

from nbjudge.classroom import exported
from nbjudge.classroom.commands import DONE, guarded, locked, made, say
from nbjudge.course import current
from nbjudge.files import ROOT
from nbjudge.finding.notebook_file import Unusable
from nbjudge.printable import quantity

TARGETS = {  # what --to may name, and what is written
    "csv": "a table with a row for each student and lesson",
    "exercises": "a table with a row for each student and exercise",
    "moodle": "the grading worksheet that you downloaded, --template, with marks and comments",
    "canvas": "the gradebook that you exported, --template, with marks",
    "nbgrader": "the exercises of a lesson below an nbgrader course's `source`; marks into its --gradebook",
    "gradescope": "an autograder for one lesson, a zip to upload",
}
COMMENTS = "Feedback comments"  # Moodle's title of that column in English
NEEDS_LESSON = ("nbgrader", "gradescope")
BELONGS_TO = {  # an option of export: the targets that read it
    "template": ("moodle", "canvas"),
    "column": ("moodle", "canvas"),
    "feedback_column": ("moodle",),
    "out_of": ("moodle", "canvas"),
    "gradebook": ("nbgrader",),
    "assignment": ("nbgrader",),
}
OWN_TABLES = "Marks follow by_hand.csv and prose.csv in the class folder: see docs/teachers.md."


def add_commands(subparsers: argparse._SubParsersAction) -> None:
    """Add variants, report, similar and export to `class`."""
    _add_variants(subparsers)
    report = subparsers.add_parser(
        "report", help="pages on the class and for each student", epilog=OWN_TABLES
    )
    report.add_argument("folder", type=Path, help="the class folder")
    report.add_argument("--out", type=Path, help="folder for the pages; else `report` in the class folder")
    _add_names(report)
    report.set_defaults(handler=lambda chosen: guarded(chosen, _report))
    similar = subparsers.add_parser("similar", help="answers that resemble each other, for you to look at")
    similar.add_argument("folder", type=Path, help="the class folder")
    similar.add_argument("--lesson", help="one lesson; else all")
    similar.add_argument("--out", type=Path, help="the page; else `similar.html` in the class folder")
    programs = "also write the answers into this folder, one a file, as Dolos and copydetect read them"
    similar.add_argument("--programs", type=Path, metavar="FOLDER", help=programs)
    _add_names(similar)
    similar.set_defaults(handler=lambda chosen: guarded(chosen, _similar))
    targets = "; ".join(f"{target}: {meaning}" for target, meaning in TARGETS.items())
    export = subparsers.add_parser(
        "export", help="marks or autograders for other platforms", epilog=f"{targets}. {OWN_TABLES}"
    )
    export.add_argument("folder", type=Path, nargs="?", help="the class folder; not needed for autograders")
    export.add_argument("--to", required=True, choices=[*TARGETS])
    export.add_argument("--out", type=Path, help="the file or folder to write")
    export.add_argument("--lesson", help="one lesson; needed where several are graded")
    export.add_argument("--template", type=Path, help="moodle, canvas: your own file, which is not changed")
    export.add_argument("--column", help="title of the marks' column; Moodle's are in the site's language")
    export.add_argument("--feedback-column", help="moodle: the comments' column; else Feedback comments")
    export.add_argument("--out-of", type=_points, metavar="POINTS", help="scale marks to so many points")
    export.add_argument("--gradebook", type=Path, help="nbgrader: write marks into this gradebook.db")
    export.add_argument("--assignment", help="nbgrader: its name in the gradebook; else that of the lesson")
    _add_names(export)
    export.set_defaults(handler=lambda chosen: guarded(chosen, _export))


def _add_variants(subparsers: argparse._SubParsersAction) -> None:
    variants = subparsers.add_parser("variants", help="a notebook with numbers of its own for each student")
    variants.add_argument("folder", type=Path, help="the class folder; made where it is not there")
    variants.add_argument("--lesson", required=True, help="the lesson")
    students = "one identifier a line, or the file that Moodle or Canvas exports"
    variants.add_argument("--students", type=Path, required=True, help=students)
    variants.add_argument("--out", type=Path, help="folder for the notebooks; else `handout` in the class's")
    _add_overwrite(variants)
    variants.set_defaults(handler=lambda chosen: guarded(chosen, _variants))


def _variants(chosen: argparse.Namespace) -> int:
    from nbjudge.classroom import variants

    students = variants.students_in(chosen.students)
    out = chosen.out or chosen.folder / "handout" / chosen.lesson
    with made(chosen.folder), locked(chosen.folder):  # two lessons at once would forget one of them
        variants.hand_out(chosen.folder, chosen.lesson, students, out, chosen.overwrite)
    key = f"{chosen.lesson} from {chosen.folder / 'class.json'}"
    say(
        f"{out}: {quantity(len(students), 'notebook')}, and students.csv with all numbers. From now on",
        f"{current().command} class grade takes the numbers of {key}.",
        variants.describe_counts(chosen.lesson),
    )
    return DONE


def _add_names(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--names", action="store_true", help="show names; else identifiers alone")
    _add_overwrite(parser)


def _add_overwrite(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--overwrite", action="store_true", help="also replace files that were changed since")


def _points(text: str) -> float:
    from nbjudge.classroom.export_tables import number_in

    points = number_in(text) or 0.0
    if 0 < points < 1e6:
        return points
    raise argparse.ArgumentTypeError(f"{text[:20]} is not a number of points above 0, such as 12.5")


def _report(chosen: argparse.Namespace) -> int:
    from nbjudge.classroom import papers, report

    read = papers.all_papers(chosen.folder) or papers.papers_of(chosen.folder)  # which says why there is none
    withheld = papers.withheld_of(chosen.folder)
    out = chosen.out or chosen.folder / "report"
    files = report.report_pages(read, withheld, out, chosen.names, papers.sandboxes(read))
    exported.write_files(chosen.folder, files, chosen.overwrite)
    pages = out / "students"
    say(*papers.open_matters(chosen.folder))
    say(f"{out / 'class.html'}: the class. {pages}: {quantity(len(files) - 1, 'page')} to give back.")
    if old := report.old_pages(out, read):
        say(f"{pages} also holds {quantity(old, 'page')} that this report did not write.")
    return DONE


def _similar(chosen: argparse.Namespace) -> int:
    from nbjudge.classroom.papers import handed_in, papers_of
    from nbjudge.classroom.report import lessons_of, similar_page
    from nbjudge.classroom.similar import find_similar, programs

    papers = papers_of(chosen.folder, chosen.lesson)
    findings = [find_similar(name, papers, handed_in(chosen.folder, name)) for name in lessons_of(papers)]
    out = chosen.out or chosen.folder / "similar.html"
    answers = {out: similar_page(findings, chosen.names).encode()}
    for finding in findings:
        if chosen.programs:
            answers |= programs(finding.lesson, papers, chosen.programs)
    exported.write_files(chosen.folder, answers, chosen.overwrite)
    say(f"{out}: where to look; no verdicts.")
    for finding in findings:
        groups = [quantity(len(kind), "group") for kind in (finding.files, finding.wrong, finding.cells)]
        words = "{}: {} with the same file or text, {} with the same wrong answer, {} with the same cells."
        say(words.format(finding.lesson, *groups))
    if folder := chosen.programs:
        say(f"{folder}: {quantity(len(answers) - 1, 'file')}, in a folder for each exercise.")
    if unread := [student for finding in findings for student in finding.unread]:
        say(f"Not compared, because their notebooks cannot be read: {', '.join(unread)}.")
    return DONE


def _export(chosen: argparse.Namespace) -> int:
    """Write what the target takes, and print the sentences on it."""
    files = [path for path in (chosen.out, chosen.template) if path and path.exists()]
    if len(files) == 2 and os.path.samefile(*files):
        raise Unusable("--out is the template: name another file, so that your download stays as it was.")
    for option, targets in BELONGS_TO.items():
        if getattr(chosen, option) is not None and chosen.to not in targets:
            values = option.replace("_", "-"), " and ".join(targets), chosen.to
            raise Unusable("--{} belongs to --to {}, not to {}: leave it out.".format(*values))
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
        first = _gradebook(chosen) if chosen.gradebook else _table(chosen)
        say(*first, *_without_mark(chosen))
    return DONE


def _autograder(chosen: argparse.Namespace) -> str:
    """Write an assignment or autograder of one lesson."""
    from nbjudge.classroom import export_gradescope, export_nbgrader, keys

    if chosen.lesson is None:
        raise Unusable(f"--to {chosen.to} needs --lesson, one of {', '.join(current().lessons.values())}.")
    if chosen.to == "nbgrader":
        if chosen.folder and chosen.lesson in (keys.settings(chosen.folder).get("variants") or ()):
            raise Unusable(
                f"students of {chosen.folder} have numbers of their own in {chosen.lesson}, this would be "
                f"one notebook for all: hand out those of {current().command} class variants."
            )
        stem = current().lessons[chosen.lesson]
        content = export_nbgrader.source(chosen.lesson, ROOT / "exercises" / f"{stem}.ipynb")
        path = chosen.out / "source" / stem / f"{stem}.ipynb"
        exported.write_files(None, {path: content}, chosen.overwrite)
        return f"{path}: now run nbgrader generate_assignment {stem} in {chosen.out}."
    content = export_gradescope.autograder(chosen.lesson)
    exported.write_files(None, {chosen.out: content}, chosen.overwrite)
    return f"{chosen.out}: the autograder of {chosen.lesson}."


def _gradebook(chosen: argparse.Namespace) -> list[str]:
    """Write marks into an nbgrader gradebook; the sentences on it."""
    from nbjudge.classroom.export_nbgrader import push_marks
    from nbjudge.classroom.papers import papers_of

    papers = papers_of(chosen.folder, chosen.lesson)
    with exported.record_of(chosen.folder) as ours:
        pushed = push_marks(papers, chosen.gradebook, chosen.assignment, ours)
    remarks = {
        "Not in the gradebook": pushed.absent,
        "Withheld, because not all was judged": pushed.withheld,
        "Without a cell in the gradebook": pushed.prose,
        "Written by others and kept": pushed.others,
    }
    marks = f"{chosen.gradebook}: marks of {quantity(pushed.students, 'student')}."
    return [marks, *(f"{why}: {', '.join(named)}." for why, named in remarks.items() if named)]


def _without_mark(chosen: argparse.Namespace) -> list[str]:
    """A line for each student who handed something in and has no mark, with the reason."""
    from nbjudge.classroom import papers

    reasons = papers.unmarked(chosen.folder, chosen.lesson)
    named = [f"  {student}: {why}" for student, why in reasons.items() if why]
    others = [student for student, why in reasons.items() if not why]
    head = [f"Handed in and without a mark: {quantity(len(named), 'student')}."] if named else []
    tail = [f"Handed in for other lessons alone: {', '.join(others)}."] if others else []
    return [*head, *named, *tail, *papers.open_matters(chosen.folder, chosen.lesson)]


def _table(chosen: argparse.Namespace) -> list[str]:
    """Write a table of marks; the sentences on what it holds."""
    from nbjudge.classroom import export_lms, export_tables
    from nbjudge.classroom.papers import papers_of, unmarked

    papers = papers_of(chosen.folder, chosen.lesson)
    if chosen.to in ("csv", "exercises"):
        make = export_tables.marks_table if chosen.to == "csv" else export_tables.exercises_table
        table = make(papers, chosen.names)
        exported.write_files(chosen.folder, {chosen.out: table.to_bytes()}, chosen.overwrite)
        return [f"{chosen.out}: {len(table.rows) - 1} rows."]
    if chosen.template is None:
        raise Unusable(f"--to {chosen.to} needs --template, the file that you downloaded there.")
    template = export_tables.read_table(chosen.template)
    others = [*unmarked(chosen.folder, chosen.lesson)]
    if chosen.to == "moodle":
        usual = COMMENTS if COMMENTS in template.rows[0] else None
        column = chosen.column or "Grade"
        feedback = chosen.feedback_column or usual
        filling = export_lms.fill_moodle(template, papers, column, feedback, chosen.out_of, others)
    else:
        filling = export_lms.fill_canvas(template, papers, chosen.column, chosen.out_of, others)
    exported.write_files(chosen.folder, {chosen.out: filling.table.to_bytes()}, chosen.overwrite)
    rows = quantity(len(filling.missing), "row")
    missing = f"Nothing was handed in by {rows} of {chosen.template.name}: {', '.join(filling.missing)}."
    lines = [f"{chosen.out}: marks of {quantity(filling.filled, 'student')}.", *filling.remarks]
    return [*lines, *([missing] if filling.missing else [])]
