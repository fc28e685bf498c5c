"""The commands board and page.  What they need is imported when they run: --help must answer at once."""

import argparse
import os
import sys
from pathlib import Path

from nbjudge.printable import printable

ALL_DERIVED = 0
LEFT_OUT = 1
UNUSABLE = 2  # exit statuses
FOLDER = Path("work/board")
PAGE = Path("work/19_page.md")


def add_commands(subparsers: argparse._SubParsersAction) -> None:
    """Add board and page to the command line."""
    statuses = "exit status: 0 every line was derived again, 1 some are left out, 2 unusable input"
    board = subparsers.add_parser(
        "board", help="derive every score of the capstone again", description=statuses
    )
    board.add_argument("folder", type=Path, nargs="?", default=FOLDER, help=f"of board.jsonl ({FOLDER})")
    board.add_argument("--add", type=Path, metavar="NOTEBOOK", help="score its my_schedule and append a line")
    board.add_argument("--as", dest="name", metavar="NAME", help="pseudonym of that line")
    board.add_argument("--plain", action="store_true", help="without bubblewrap, even where it is installed")
    board.set_defaults(handler=_board)
    page = subparsers.add_parser("page", help="check the numbers of your page, and make one HTML file of it")
    page.add_argument("file", type=Path, nargs="?", default=PAGE, help=f"the page ({PAGE})")
    page.add_argument("--new", action="store_true", help="write the template there; never over a page")
    page.add_argument("--board", type=Path, default=FOLDER, help=f"folder of your board.jsonl ({FOLDER})")
    page.add_argument("--plain", action="store_true", help="without bubblewrap, even where it is installed")
    page.set_defaults(handler=_page)


def _board(chosen: argparse.Namespace) -> int:
    from nbjudge.finding.notebook_file import Unusable as NoNotebook
    from nbjudge.grading.clean_start import clean_start
    from rnncourse.capstone.board import Unusable

    folder = chosen.folder.absolute()
    notebook = chosen.add and chosen.add.absolute()
    if os.name != "posix":
        return _refuse(
            "board", "it runs answers, which needs Linux, macOS or the Windows Subsystem for Linux"
        )
    if bool(notebook) != bool(chosen.name):
        return _refuse("board", "--add NOTEBOOK and --as NAME go together")
    try:
        with clean_start():
            if notebook:
                _add(notebook, chosen.name, folder, chosen.plain)
            return _show(folder, chosen.plain)
    except (Unusable, NoNotebook) as error:
        return _refuse("board", error)


def _add(notebook: Path, name: str, folder: Path, plain: bool) -> None:
    from nbjudge.finding.reading import read
    from nbjudge.finding.slices import answer_in
    from nbjudge.running import sandbox
    from nbjudge.verdict import Stopped
    from rnncourse.capstone import board

    try:
        program = board.program_of(answer_in(read(notebook), board.FUNCTION))
    except Stopped as stopped:
        raise board.Unusable(f"{notebook}: {stopped}") from None
    board.add(folder, board.make_entry(name, program, sandbox.choose(plain)), program)


def _show(folder: Path, plain: bool) -> int:
    """Print the course's lines and the folder's, best first, and then those that are left out."""
    from nbjudge.running import sandbox
    from rnncourse.capstone import board

    box = sandbox.choose(plain)
    derived = []
    left_out = []
    paths = [board.OWN]
    own = folder / board.FILE
    if own.exists():
        paths.append(own)
    else:
        print(
            f"{own} does not exist: these are the course's own lines. --add NOTEBOOK --as NAME begins yours."
        )
    lines = [(path.parent, *line) for path in paths for line in board.read(path)]
    for place, where, entry in lines:
        try:
            board.check(entry, place, box)
            derived.append(entry)
        except board.Unusable as why:
            left_out.append(f"left out: {where}{_whose(entry)}: {why}.")
    print(_table(derived))
    for line in left_out:
        print(printable(line))
    print(f"{len(derived)} derived again, {len(left_out)} left out · sandbox: {box.name}")
    return LEFT_OUT if left_out else ALL_DERIVED


def _table(entries: list) -> str:
    from rnncourse.capstone.score import FULL_MARKS

    rows = ["place  times the bound     MB saved  name"]
    for place, entry in enumerate(sorted(entries, key=lambda entry: entry.place), 1):
        full = " " if entry.worst > FULL_MARKS else "✔"
        rows.append(
            f"{place:5}  {entry.worst:15.2f} {full} {entry.saved_bytes / 1e6:10.1f}  {printable(entry.name)}"
        )
    return "\n".join(
        [*rows, f"✔ full marks: {FULL_MARKS:g} times the lower bound in the worst problem, or less"]
    )


def _whose(entry: object) -> str:
    return f", {entry.name}" if hasattr(entry, "name") else ""


def _page(chosen: argparse.Namespace) -> int:
    from rnncourse.capstone.page import TEMPLATE, check_page

    if chosen.new:
        try:
            chosen.file.parent.mkdir(parents=True, exist_ok=True)
            with open(chosen.file, "x", encoding="utf-8") as page:
                page.write(TEMPLATE)
        except FileExistsError:
            return _refuse("page", f"{chosen.file} is there already; it stays as it is")
        except OSError as error:
            return _refuse("page", f"{chosen.file} cannot be written: {error.strerror}")
        print(f"{chosen.file} is the template. Fill in the numbers, then: rnnlab page {chosen.file}")
        return ALL_DERIVED
    try:
        text = chosen.file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return _refuse("page", f"{chosen.file} is not UTF-8 text")
    except FileNotFoundError:
        return _refuse(
            "page", f"there is no {chosen.file}; rnnlab page --new {chosen.file} writes the template"
        )
    except OSError as error:
        return _refuse("page", f"{chosen.file} cannot be read: {error.strerror}")
    if problems := check_page(text):
        print("\n".join(map(printable, problems)))
        return LEFT_OUT
    print("The numbers of the page agree with its measurements.")
    return _make_html(chosen, text)


def _make_html(chosen: argparse.Namespace, text: str) -> int:
    """Write the HTML beside the page."""
    from nbjudge.running import sandbox
    from rnncourse.capstone.board import Unusable
    from rnncourse.capstone.own_numbers import best_row, web_page
    from rnncourse.capstone.page import read_page

    target = chosen.file.with_suffix(".html")
    try:
        row = best_row(chosen.board, sandbox.choose(chosen.plain))
        target.write_text(web_page(row, *read_page(text)), encoding="utf-8")
    except Unusable as error:
        return _refuse("page", error)
    except OSError as error:
        return _refuse("page", f"{target} cannot be written: {error.strerror}")
    print(f"{target} is your page in one file, to be opened in a browser, printed or sent.")
    return ALL_DERIVED


def _refuse(command: str, why: object) -> int:
    print(f"rnnlab {command}: {printable(why)}", file=sys.stderr)
    return UNUSABLE
