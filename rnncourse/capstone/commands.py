"""The commands board and page.  What they need is imported when they run: --help must answer at once."""

import argparse
import os
import sys
from pathlib import Path

from nbjudge.printable import printable

DONE = 0
LEFT_OUT = 1
UNUSABLE = 2  # exit statuses
FOLDER = Path("work/board")
PAGE = Path("work/19_page.md")


def add_commands(subparsers: argparse._SubParsersAction) -> None:
    """Add board and page to the command line."""
    statuses = "exit status: 0 every program was scored, 1 some are left out, 2 unusable input"
    board = subparsers.add_parser("board", help="score all schedules of the capstone", description=statuses)
    board.add_argument("folder", type=Path, nargs="?", default=FOLDER, help=f"of the programs ({FOLDER})")
    board.add_argument("--add", type=Path, metavar="NOTEBOOK", help="put its my_schedule on the board")
    board.add_argument("--as", dest="name", metavar="NAME", help="pseudonym of that program")
    board.add_argument("--plain", action="store_true", help="without bubblewrap, even where it is installed")
    board.set_defaults(handler=_board)
    page = subparsers.add_parser(
        "page", help="check the numbers of your page, and make one HTML file of it; a missing page is begun"
    )
    page.add_argument("file", type=Path, nargs="?", default=PAGE, help=f"the page ({PAGE})")
    page.set_defaults(handler=_page)


def _board(chosen: argparse.Namespace) -> int:
    from nbjudge.finding.notebook_file import Unusable as NoNotebook
    from nbjudge.grading.clean_start import clean_start
    from nbjudge.running import sandbox
    from rnncourse.capstone import board

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
            box = sandbox.choose(chosen.plain)
            if notebook:
                if board.add(folder, chosen.name, _program_in(notebook), box):
                    print(f"The earlier program of {chosen.name} was replaced.")
            return _show(folder, box)
    except (board.Unusable, NoNotebook) as error:
        return _refuse("board", error)
    except OSError as error:
        return _refuse("board", f"{error.filename or folder} cannot be written: {error.strerror}")


def _program_in(notebook: Path) -> str:
    from nbjudge.verdict import Stopped
    from rnncourse.capstone import board

    try:
        return board.program_in(notebook)
    except Stopped as stopped:
        raise board.Unusable(f"{notebook}: {stopped}") from None


def _show(folder: Path, box: object) -> int:
    """Print the table of the course's programs and the folder's, where it is written, too."""
    from nbjudge.files import write_whole
    from rnncourse.capstone import board

    entries = board.entries_of_course(box)
    left_out = []
    for path in sorted(folder.glob("*.py")):
        try:
            entries.append(board.make_entry(path.stem, board.read(path), box))
        except board.Unusable as why:
            left_out.append(f"left out: {path.name}: {why}.")
    table = board.table(entries)
    print(table, *map(printable, left_out), sep="\n")
    print(f"{len(entries)} scored, {len(left_out)} left out · sandbox: {box.name}")
    if folder.is_dir():
        write_whole(folder / board.FILE, table.encode())
    else:
        print(f"{folder} does not exist: these are the course's own. --add NOTEBOOK --as NAME begins yours.")
    return LEFT_OUT if left_out else DONE


def _page(chosen: argparse.Namespace) -> int:
    from rnncourse.capstone.page import TEMPLATE, check_page

    try:
        if not chosen.file.exists():
            chosen.file.parent.mkdir(parents=True, exist_ok=True)
            chosen.file.write_text(TEMPLATE, encoding="utf-8")
            print(f"{chosen.file} is the template. Fill in the numbers, then give the same command again.")
            return DONE
        text = chosen.file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return _refuse("page", f"{chosen.file} is not UTF-8 text")
    except OSError as error:
        return _refuse("page", f"{chosen.file} cannot be used: {error.strerror}")
    if problems := check_page(text):
        print("\n".join(map(printable, problems)))
        return LEFT_OUT
    print("The numbers of the page agree with its measurements.")
    return _make_html(chosen.file, text)


def _make_html(page: Path, text: str) -> int:
    """Write the HTML beside the page."""
    from rnncourse.capstone.own_numbers import own_row, web_page
    from rnncourse.capstone.page import read_page

    target = page.with_suffix(".html")
    try:
        target.write_text(web_page(own_row(), *read_page(text)), encoding="utf-8")
    except OSError as error:
        return _refuse("page", f"{target} cannot be written: {error.strerror}")
    print(f"{target} is your page in one file, to be opened in a browser, printed or sent.")
    return DONE


def _refuse(command: str, why: object) -> int:
    print(f"rnnlab {command}: {printable(why)}", file=sys.stderr)
    return UNUSABLE
